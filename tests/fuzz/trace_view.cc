// SPDX-License-Identifier: Apache-2.0
// trace_view.json: the whole timeline of an NPU text capture, with all that is joined from it.
#include "fuzz/analysed_rank.h"
#include "fuzz/fuzzing.h"
#include "support/reading.h"

namespace mpa::test {
namespace {

// An event of each kind: small inputs are broken in more ways in the same time.
constexpr const char* kOfEachKind = R"json([
{"ph":"M","name":"process_name","pid":7392,"tid":0,"args":{"name":"CANN"}},
{"ph":"M","name":"process_name","pid":7587,"tid":0,"args":{"name":"Ascend Hardware"}},
{"ph":"M","name":"process_name","pid":7700,"tid":0,"args":{"name":"Step Trace"}},
{"ph":"M","name":"process_name","pid":8,"tid":0,"args":{"name":"Communication"}},
{"ph":"M","name":"thread_name","pid":8,"tid":1,"args":{"name":"Group 0 Communication"}},
{"ph":"M","name":"thread_sort_index","pid":8,"tid":1,"args":{"sort_index":1}},
{"ph":"M","name":"thread_name","pid":8,"tid":2,"args":{"name":"Plane 0"}},
{"ph":"M","name":"thread_sort_index","pid":8,"tid":2,"args":{"sort_index":2}},
{"ph":"M","name":"process_name","pid":9,"tid":0,"args":{"name":"Overlap Analysis"}},
{"ph":"X","cat":"cpu_op","name":"ProfilerStep#1","pid":7,"tid":70,"ts":"1000","dur":90},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":7,"tid":70,"ts":"1001.123","dur":9,
 "args":{"Input Dims":"8,4;\r\n4","Input type":"float","Call stack":"a.py(1): f;\r\nb.py"}},
{"ph":"X","cat":"python_function","name":"nn.Module: Linear_0","pid":7,"tid":70,
 "ts":"1000.5","dur":20},
{"ph":"X","cat":"enqueue","name":"Enqueue","pid":7,"tid":70,"ts":"1002","dur":1,
 "args":{"correlation_id":3}},
{"ph":"X","cat":"dequeue","name":"Dequeue@aclnnAdd","pid":7,"tid":71,"ts":"1004","dur":2,
 "args":{"correlation_id":3}},
{"ph":"s","cat":"fwdbwd","id":"5","name":"fwdbwd","pid":7,"tid":70,"ts":"1001.123"},
{"ph":"f","cat":"fwdbwd","id":"5","name":"fwdbwd","pid":7,"tid":70,"ts":"1000.5"},
{"ph":"s","cat":"async_npu","id":"6","name":"async_npu","pid":7,"tid":70,"ts":"1001.123"},
{"ph":"f","cat":"async_npu","id":"6","name":"async_npu","pid":7587,"tid":2,"ts":"1020"},
{"ph":"s","cat":"HostToDevice","id":"7","name":"HostToDevice7","pid":7392,"tid":70,"ts":"1003"},
{"ph":"f","cat":"HostToDevice","id":"7","name":"HostToDevice7","pid":7587,"tid":2,"ts":"1020"},
{"ph":"X","name":"AscendCL@launch","pid":7392,"tid":70,"ts":"1003","dur":2.5,
 "args":{"connection_id":12}},
{"ph":"X","name":"Add","pid":7587,"tid":2,"ts":"1020","dur":5.0625,
 "args":{"Task Type":"AI_CORE","Stream Id":2,"Task Id":4}},
{"ph":"X","name":"MEMCPY_ASYNC","pid":7587,"tid":2,"ts":"1030","dur":1,
 "args":{"Task Type":"SDMA_SQE"}},
{"ph":"X","name":"hcom_allReduce__1_0","pid":8,"tid":1,"ts":"1032","dur":9},
{"ph":"X","name":"Notify_Wait","pid":8,"tid":2,"ts":"1033","dur":3},
{"ph":"X","name":"Computing","pid":9,"tid":0,"ts":"1020","dur":5},
{"ph":"X","name":"Communication(Not Overlapped)","pid":9,"tid":2,"ts":"1032","dur":9},
{"ph":"X","name":"flops","pid":10,"tid":70,"ts":"1001","dur":8,
 "args":{"event_type":"start/end","domain":"mfu_flops"}},
{"ph":"X","name":"Iteration 9","pid":7700,"tid":70005,"ts":"1020","dur":4,"args":{}},
{"ph":"X","cat":"GC","name":"GC","pid":3,"tid":70,"ts":"1050","dur":2},
{"ph":"B","cat":"cpu_op","name":"aten::mul","pid":7,"tid":70,"ts":"1060"},
{"ph":"E","name":"aten::mul","pid":7,"tid":70,"ts":"1065"},
{"ph":"C","name":"AI Core Freq","pid":3,"ts":"1019","args":{"MHz":1800}},
{"ph":"M","name":"process_name","pid":7619,"args":{"name":"HBM"}},
{"ph":"C","name":"HBM 0/Read","pid":7619,"ts":"1019","args":{"Read(MB/s)":25.5}},
{"ph":"C","name":"HBM 0/Read","pid":7619,"ts":"1039","args":{"Read(MB/s)":1e3}},
{"ph":"M","name":"process_name","pid":7651,"args":{"name":"RoCE"}},
{"ph":"C","name":"Port 1/Rx","pid":7651,"ts":"1019","args":{"Rx Packets":5,"Rx Error Rate":0}},
{"ph":"M","name":"process_name","pid":7683,"args":{"name":"Acc PMU"}},
{"ph":"C","name":"read_ost","pid":7683,"ts":"1019","args":{"value":3,"acc_id":4}}])json";

}  // namespace

std::vector<Target> Targets() {
  static const Scratch scratch;
  Target target{"trace_view", {kOfEachKind}, [](std::string_view text) {
                  const auto path = scratch.Write("trace_view.json", text);
                  RankTrace trace;
                  const bool usable =
                      Try("trace_view.json", [&] { ReadInto(trace, FileKind::kTraceView, path); });
                  if (usable) AnalyseRank(trace, static_cast<unsigned>(text.size()));
                }};
  for (const char* capture : {"text_base_ascend_pt", "head_hard_ascend_pt"}) {
    target.seeds.push_back(
        Captured(std::string(capture) + "/ASCEND_PROFILER_OUTPUT/trace_view.json"));
  }
  return {target};
}

}  // namespace mpa::test

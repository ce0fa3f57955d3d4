// SPDX-License-Identifier: Apache-2.0
// Traces of torch.profiler: of GPUs, and of NPUs.
#include "fuzz/analysed_rank.h"
#include "fuzz/fuzzing.h"
#include "support/reading.h"

namespace mpa::test {
namespace {

// Spans of two events, a captured graph, correlations without arrows, two devices and processes,
// text between and behind the events.
constexpr const char* kOddEvents = R"json([
{"ph":"B","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":10},
{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":2,"ts":11,"dur":2,
 "args":{"correlation":5}},,
{"ph":"s","cat":"ac2g","id":5,"pid":1,"tid":2,"ts":11},
{"ph":"E","pid":1,"tid":2,"ts":20},
{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":30,"dur":5,"args":{"correlation":5}},
{"ph":"f","cat":"ac2g","id":5,"pid":0,"tid":7,"ts":30},
{"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":36,"dur":5,"args":{"correlation":5}}],
{"ph":"f","cat":"ac2g","id":5,"pid":0,"tid":7,"ts":36},
{"ph":"X","cat":"user_annotation","name":"nccl:all_reduce","pid":3,"tid":4,"ts":10,"dur":9},
{"ph":"X","cat":"runtime","name":"hipLaunchKernel","pid":3,"tid":4,"ts":12,"dur":2,
 "args":{"correlation":6}},
{"ph":"X","cat":"kernel","name":"c","pid":1,"tid":8,"ts":40,"dur":null,"args":{"correlation":6}},
{"ph":"X","cat":"kernel","name":"d","pid":1,"tid":8,"ts":50,"dur":4,
 "args":{"correlation":6,"device":1}},
{"ph":"X","cat":"mtia_insight","name":"e, "pid":1,"tid":8,"ts":50,"dur":4}][
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH","pid":0,"tid":7,"ts":60,"dur":3}]])json";

// Groups of collectives on kernels and on operators, lists of ranks that are cut; arrows by number.
constexpr const char* kCollectives = R"json({"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":2,"ts":10,"dur":9,
 "args":{"Record function id":4,"Collective name":"_reduce_scatter_base","In msg nelems":8,
 "Out msg nelems":4,"Group size":2,"dtype":"BFloat16","Process Group Name":"1",
 "Process Group Description":"tp","Process Group Ranks":"[0, 2]"}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunch","pid":1,"tid":2,"ts":11,"dur":2,
 "args":{"correlation":5}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic","pid":0,"tid":7,"ts":30,"dur":5,
 "args":{"correlation":5}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic","pid":0,"tid":7,"ts":36,"dur":5,
 "args":{"Process Group Name":"0","Process Group Ranks":"[0, 1, 2, 3, 4, 5, 6, ..., 99]",
 "Group size":-1,"In msg nelems":1e30}},
{"ph":"X","cat":"privateuse1_runtime","name":"Add","pid":1,"tid":2,"ts":41,"dur":0},
{"ph":"X","cat":"kernel","name":"Add_0123456789abcdef_1","pid":0,"tid":7,"ts":41,"dur":5,
 "args":{"type":"KERNEL_AIVEC","streamId":7}},
{"ph":"f","cat":"ac2g","id":4,"pid":0,"tid":7,"ts":41},
{"ph":"X","cat":"collective_comm","name":"hcom_allReduce__1_0_1","pid":0,"tid":7,"ts":50,"dur":4,
 "args":{"commName":"g"}}]})json";

template <FileKind kKind>
void Read(std::string_view text) {
  static const Scratch scratch;
  const auto path = scratch.Write("trace.json", text);
  RankTrace trace;
  const bool usable = Try("trace.json", [&] { ReadInto(trace, kKind, path); });
  if (usable) AnalyseRank(trace, static_cast<unsigned>(text.size()));
}

}  // namespace

std::vector<Target> Targets() {
  const std::vector<std::string> seeds = {Captured("gpu_base.json"), Captured("gpu_new.json"),
                                          kOddEvents, kCollectives};
  return {{"gpu_trace", seeds, Read<FileKind::kKinetoTrace>},
          {"npu_torch_trace", seeds, Read<FileKind::kNpuKinetoTrace>}};
}

}  // namespace mpa::test

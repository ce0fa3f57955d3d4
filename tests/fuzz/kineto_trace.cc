// SPDX-License-Identifier: Apache-2.0
// Traces of GPUs.
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

}  // namespace

std::vector<Target> Targets() {
  static const Scratch scratch;
  const auto read = [](std::string_view text) {
    const auto path = scratch.Write("gpu.json", text);
    RankTrace trace;
    const bool usable = Try("gpu.json", [&] { ReadInto(trace, FileKind::kKinetoTrace, path); });
    if (usable) AnalyseRank(trace, static_cast<unsigned>(text.size()));
  };
  return {{"gpu_trace", {Captured("gpu_base.json"), Captured("gpu_new.json"), kOddEvents}, read}};
}

}  // namespace mpa::test

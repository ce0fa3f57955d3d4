// SPDX-License-Identifier: Apache-2.0
// Traces of GPUs.
#include "fuzz/analysed_rank.h"
#include "fuzz/fuzzing.h"
#include "support/reading.h"

namespace mpa::test {

std::vector<Target> Targets() {
  static const Scratch scratch;
  const auto read = [](std::string_view text) {
    const auto path = scratch.Write("gpu.json", text);
    RankTrace trace;
    const bool usable = Try("gpu.json", [&] { ReadInto(trace, FileKind::kKinetoTrace, path); });
    if (usable) AnalyseRank(trace, static_cast<unsigned>(text.size()));
  };
  return {{"gpu_trace", {Captured("gpu_base.json"), Captured("gpu_new.json")}, read}};
}

}  // namespace mpa::test

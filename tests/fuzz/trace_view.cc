// SPDX-License-Identifier: Apache-2.0
// trace_view.json: the whole timeline of an NPU text capture, with all that is joined from it.
#include "fuzz/analysed_rank.h"
#include "fuzz/fuzzing.h"
#include "support/reading.h"

namespace mpa::test {

std::vector<Target> Targets() {
  static const Scratch scratch;
  Target target{"trace_view", {}, [](std::string_view text) {
                  const auto path = scratch.Write("trace_view.json", text);
                  RankTrace trace;
                  const bool usable =
                      Try("trace_view.json", [&] { ReadInto(trace, FileKind::kTraceView, path); });
                  if (usable) AnalyseRank(trace, static_cast<unsigned>(text.size()));
                }};
  for (const char* capture : {"text_base_ascend_pt", "text_level0_ascend_pt",
                              "twin_text_base_ascend_pt", "head_hard_ascend_pt"}) {
    target.seeds.push_back(
        Captured(std::string(capture) + "/ASCEND_PROFILER_OUTPUT/trace_view.json"));
  }
  return {target};
}

}  // namespace mpa::test

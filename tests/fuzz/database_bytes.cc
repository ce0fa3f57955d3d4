// SPDX-License-Identifier: Apache-2.0
// Profiler databases whose file is broken anywhere: header, pages, schema, cells.
#include "fuzz/analysed_rank.h"
#include "fuzz/fuzzing.h"
#include "support/files.h"
#include "support/reading.h"

namespace mpa::test {

std::vector<Target> Targets() {
  static const Scratch scratch;
  Target target{"database", {}, [](std::string_view content) {
                  const auto path = scratch.Write("ascend_pytorch_profiler.db", content);
                  RankTrace trace;
                  const bool usable = Try("ascend_pytorch_profiler.db",
                                          [&] { ReadInto(trace, FileKind::kProfilerDb, path); });
                  if (usable) AnalyseRank(trace, static_cast<unsigned>(content.size()));
                }};
  const TempDir directory;
  // Small pages: a change of a byte has to find what is used.
  const std::string small_pages = "PRAGMA page_size = 512;";
  for (const char* capture : {"head_hard_ascend_pt.sql", "toy_model_ascend_pt.sql"}) {
    target.seeds.push_back(
        ReadAll(BuildDatabase(directory / capture, small_pages + Captured(capture))));
  }
  target.seeds.push_back(ReadAll(BuildDatabase(
      directory / "view",
      small_pages + "CREATE VIEW PYTORCH_API AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT"
                    " i + 1 FROM n) SELECT i AS startNs FROM n;")));
  return {target};
}

}  // namespace mpa::test

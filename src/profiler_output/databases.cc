// SPDX-License-Identifier: Apache-2.0
// The databases of a parsed capture.
#include <fmt/format.h>

#include <string>

#include "analysis_database.h"
#include "mpa/base/log.h"
#include "mpa/base/parallel.h"
#include "mpa/profiler_output/profiler_output.h"
#include "profiler_database.h"

namespace mpa::profiler_output {

void WriteDatabases(const raw::Session& session, const std::filesystem::path& directory) {
  const bool mindspore = session.info.mindspore;
  const std::string rank = session.info.rank < 0 ? "" : fmt::format("_{}", session.info.rank);
  const std::string profiler =
      fmt::format("ascend_{}_profiler{}.db", mindspore ? "mindspore" : "pytorch", rank);
  // MindSpore's holds collectives alone; without a device side there is nothing to analyse.
  const char* analysis = mindspore ? "communication_analyzer.db" : "analysis.db";
  const bool analysed = !session.info.prof.empty() && !(mindspore && session.collectives.Empty());
  ParallelFor(analysed ? 2 : 1, [&](std::size_t i) {
    if (i == 0) {
      WriteProfilerDatabase(session, directory / profiler);
    } else {
      WriteAnalysisDatabase(session, directory / analysis);
    }
  });
  LogInfo("{}: made from all records", profiler);
  if (analysed) LogInfo("{}: made from steps (FRAMEWORK), tasks and collectives", analysis);
}

}  // namespace mpa::profiler_output

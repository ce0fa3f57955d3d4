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
  const std::string rank = session.info.rank < 0 ? "" : fmt::format("_{}", session.info.rank);
  // Without a device side there is nothing to analyse.
  const std::size_t databases = session.info.prof.empty() ? 1 : 2;
  const std::string profiler = fmt::format("ascend_pytorch_profiler{}.db", rank);
  ParallelFor(databases, [&](std::size_t i) {
    if (i == 0) {
      WriteProfilerDatabase(session, directory / profiler);
    } else {
      WriteAnalysisDatabase(session, directory / "analysis.db");
    }
  });
  LogInfo("{}: made from all records", profiler);
  if (databases > 1) LogInfo("analysis.db: made from steps (FRAMEWORK), tasks and collectives");
}

}  // namespace mpa::profiler_output

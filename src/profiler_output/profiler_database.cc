// SPDX-License-Identifier: Apache-2.0
// The databases of a parsed capture: fast bulk writing, texts, and which tables each has.
#include "profiler_database.h"

#include <fmt/format.h>

#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/parallel.h"
#include "mpa/base/utf8.h"
#include "mpa/io/scratch_directory.h"
#include "mpa/profiler_output/profiler_output.h"

namespace mpa::profiler_output {

// The texts of a profiler database.

void DatabaseStrings::Write(DatabaseWriter& database) const {
  database.WriteTable("STRING_IDS", "id INTEGER PRIMARY KEY, value TEXT", [&](TableWriter& table) {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i] != 0)
        table.Add(i, ValidUtf8(session_.View(StringId{static_cast<std::uint32_t>(i)})));
    }
    // The empty text, first of every pool, is always the session's.
    for (std::size_t i = 1; i < made_.Size(); ++i) {
      table.Add(session_.Size() + i,
                ValidUtf8(made_.View(StringId{static_cast<std::uint32_t>(i)})));
    }
  });
}

// The profiler database of one rank.

void WriteProfilerDatabase(const raw::Session& session, const std::filesystem::path& path) {
  InContext(io::FinalName(path), [&] {
    DatabaseWriter database(path);
    DatabaseStrings strings(session.strings);
    WriteEnvironment(session, database);
    WriteCann(session, strings, database);
    WriteCollectives(session, strings, database);
    WriteFramework(session, strings, database);
    WriteMemory(session, strings, database);
    WriteTraffic(session.traffic, strings, database);
    strings.Write(database);
    database.Finish();
  });
}

// The databases of a parsed capture.

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

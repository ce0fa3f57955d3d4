// SPDX-License-Identifier: Apache-2.0
// The profiler database of one rank.
#include "profiler_database.h"

#include "mpa/base/error.h"
#include "mpa/io/scratch_directory.h"

namespace mpa::profiler_output {

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

}  // namespace mpa::profiler_output

// SPDX-License-Identifier: Apache-2.0
// Marks and ranges of the program itself in a profiler database.
#include <fmt/format.h>

#include <map>
#include <string>

#include "mpa/base/text.h"
#include "profiler_db_tables.h"
#include "trace_builder.h"

namespace mpa::readers {
namespace {

// What the numbers of MSTX_EVENTS.eventType mean; usually this.
std::map<std::int64_t, MstxKind> ReadKinds(const io::Database& database) {
  std::map<std::int64_t, MstxKind> kinds = {{0, MstxKind::kMark},
                                            {1, MstxKind::kPushPop},
                                            {2, MstxKind::kStartEnd},
                                            {3, MstxKind::kMark}};
  if (!database.HasTable("ENUM_MSTX_EVENT_TYPE")) return kinds;
  io::Statement rows = database.Query("SELECT id, name FROM ENUM_MSTX_EVENT_TYPE");
  while (rows.Step()) {
    const auto id = rows.Int(0);
    const auto kind = MstxKindOf(rows.Text(1));
    if (id && kind) kinds[*id] = *kind;
  }
  return kinds;
}

}  // namespace

void ReadMstxEvents(DbInput& input) {
  if (!input.database.HasTable("MSTX_EVENTS")) return;
  const std::map<std::int64_t, MstxKind> kinds = ReadKinds(input.database);
  const auto optional = [&](const char* column) {
    return ColumnOrNull(input.database, "MSTX_EVENTS", column);
  };
  const std::string columns =
      fmt::format("startNs, coalesce(endNs, startNs), {}, {}, {}, {}", optional("eventType"),
                  optional("message"), optional("domainId"), optional("globalTid"));
  TrackNumbers tracks(input.trace.tracks);
  input.database.Scan(columns, "MSTX_EVENTS NOT INDEXED", [&](const io::Row& row) {
    const auto span = ReadSpan(input, row, 0, 1, "MSTX_EVENTS");
    if (!span) return;
    const auto kind = kinds.find(row.IntOr(2, -1));
    const auto thread = row.Int(5);
    input.trace.mstx.Append(
        {.start = span->start,
         .dur = span->dur,
         .kind = kind != kinds.end() ? kind->second
                                     : (span->dur > 0 ? MstxKind::kStartEnd : MstxKind::kMark),
         .message = input.strings.Text(row, 3),
         .domain = input.strings.Text(row, 4),
         .track = thread ? tracks.Of(*thread >> 32, *thread & 0xffffffff) : -1});
  });
}

}  // namespace mpa::readers

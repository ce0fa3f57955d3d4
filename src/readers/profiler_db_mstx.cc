// SPDX-License-Identifier: Apache-2.0
// Marks and ranges of the program itself in a profiler database.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

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
  for (const auto& [number, name] : NamesOfNumbers(database, "ENUM_MSTX_EVENT_TYPE")) {
    if (const auto kind = MstxKindOf(name)) kinds[number] = *kind;
  }
  return kinds;
}

// The profiler's number for events that nothing refers to.
constexpr std::int64_t kNotConnectedMark = 0xffff'ffff;

// The task of each event on a stream. Of several tasks with one connection it is all their time.
void ReadMstxTasks(DbInput& input) {
  MstxEvents& events = input.trace.mstx;
  std::unordered_map<std::int64_t, DbSpan> tasks;
  for (const std::int64_t link : events.link) {
    if (link >= 0) tasks.try_emplace(link, DbSpan{-1, -1});
  }
  if (tasks.empty() || !input.database.HasTable("TASK")) return;
  const auto [least, most] = std::minmax_element(
      tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const std::string table = fmt::format("TASK NOT INDEXED WHERE connectionId BETWEEN {} AND {}",
                                        least->first, most->first);
  input.database.Scan("connectionId, startNs, endNs", table, [&](const io::Row& row) {
    const auto found = tasks.find(Link(row, 0));
    if (found == tasks.end()) return;
    const auto span = ReadSpan(input, row, 1, 2, "TASK");
    if (!span) return;
    DbSpan& task = found->second;
    const TimeNs start = task.start < 0 ? span->start : std::min(task.start, span->start);
    const TimeNs end = std::max(task.start + task.dur, span->start + span->dur);
    task = {start, end - start};
  });
  for (std::size_t i = 0; i < events.Size(); ++i) {
    const auto found = tasks.find(events.link[i]);
    if (found == tasks.end()) continue;
    events.device_start[i] = found->second.start;
    events.device_dur[i] = found->second.dur;
  }
}

}  // namespace

void ReadMstxEvents(DbInput& input) {
  const std::map<std::int64_t, MstxKind> kinds = ReadKinds(input.database);
  TrackNumbers tracks(input.trace.tracks);
  const auto read = [&](const DbSpan& span, const io::Row& row) {
    const auto kind = kinds.find(row.IntOr(2, -1));
    const auto thread = row.Int(5);
    const std::int64_t link = Link(row, 6);
    input.trace.mstx.Append({.start = span.start,
                             .dur = span.dur,
                             .kind = kind != kinds.end()
                                         ? kind->second
                                         : (span.dur > 0 ? MstxKind::kStartEnd : MstxKind::kMark),
                             .message = input.strings.Text(row, 3),
                             .domain = input.strings.Text(row, 4),
                             .track = thread ? tracks.Of(*thread >> 32, *thread & 0xffffffff) : -1,
                             .link = link == kNotConnectedMark ? -1 : link});
  };
  ScanSpans(input, "MSTX_EVENTS",
            "startNs, coalesce(endNs, startNs), eventType?, message?, domainId?, globalTid?,"
            " connectionId?",
            read);
  ReadMstxTasks(input);
}

}  // namespace mpa::readers

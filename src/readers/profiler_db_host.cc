// SPDX-License-Identifier: Apache-2.0
// Host side of a profiler database: operators and what they launched.
#include <fmt/format.h>

#include <unordered_map>
#include <vector>

#include "profiler_db_tables.h"
#include "trace_builder.h"

namespace mpa::readers {
namespace {

// PYTORCH_API.connectionId names a set of connections; an operator that launches several kernels
// has several.
using ConnectionSets = std::unordered_map<std::int64_t, std::vector<std::int64_t>>;

ConnectionSets ReadConnectionSets(const io::Database& database) {
  ConnectionSets sets;
  if (!database.HasTable("CONNECTION_IDS")) return sets;
  io::Statement rows = database.Query("SELECT id, connectionId FROM CONNECTION_IDS ORDER BY rowid");
  while (rows.Step()) {
    const auto id = rows.Int(0);
    const auto connection = rows.Int(1);
    if (id && connection) sets[*id].push_back(*connection);
  }
  return sets;
}

// The id that ENUM_API_TYPE gives to framework operators; it is 50001 in every known version.
std::int64_t OperatorType(const io::Database& database) {
  constexpr std::int64_t kUsual = 50001;
  if (!database.HasTable("ENUM_API_TYPE")) return kUsual;
  io::Statement rows = database.Query("SELECT id FROM ENUM_API_TYPE WHERE name = 'op'");
  return rows.Step() ? rows.IntOr(0, kUsual) : kUsual;
}

// Finds the backward thread: a forward operator and the backward operator it causes share a
// connection, and no other operator has it. The later of the two is the backward one.
class BackwardThread {
 public:
  void Add(std::int64_t connection, TimeNs start, std::int64_t tid) {
    Pair& pair = pairs_[connection];
    ++pair.count;
    if (start >= pair.latest) {
      pair.latest = start;
      pair.tid = tid;
    }
  }

  // The thread of the last backward operator, -1 when there is none.
  std::int64_t Tid() const {
    std::int64_t tid = -1;
    TimeNs latest = -1;
    for (const auto& [connection, pair] : pairs_) {
      if (pair.count != 2 || pair.latest < latest) continue;
      if (pair.latest == latest && pair.tid <= tid)
        continue;  // any order of the map gives the same
      latest = pair.latest;
      tid = pair.tid;
    }
    return tid;
  }

 private:
  struct Pair {
    int count = 0;
    TimeNs latest = -1;
    std::int64_t tid = -1;
  };
  std::unordered_map<std::int64_t, Pair> pairs_;
};

}  // namespace

void ReadHostTables(DbInput& input) {
  if (!input.database.HasTable("PYTORCH_API")) return;
  const ConnectionSets sets = ReadConnectionSets(input.database);
  TrackNumbers tracks(input.trace.tracks);
  BackwardThread backward;
  io::Statement rows = input.database.Query(
      fmt::format("SELECT startNs, endNs, name, globalTid, connectionId FROM PYTORCH_API "
                  "WHERE type = {} ORDER BY rowid",
                  OperatorType(input.database)));
  while (rows.Step()) {
    const auto span = ReadSpan(input, rows, 0, 1, "PYTORCH_API");
    if (!span) continue;
    const std::int64_t global_tid = rows.IntOr(3, 0);
    const std::int64_t tid = global_tid & 0xffffffff;
    const std::int32_t track = tracks.Of(global_tid >> 32, tid);
    input.trace.host_ops.Append({.start = span->start,
                                 .dur = span->dur,
                                 .name = input.strings.Text(rows, 2),
                                 .track = track});
    const auto set = rows.IsNull(4) ? sets.end() : sets.find(rows.IntOr(4, -1));
    if (set == sets.end()) continue;
    for (const std::int64_t connection : set->second) {
      input.trace.launches.Append(
          {.link = connection, .host_time = span->start, .host_track = track});
      backward.Add(connection, span->start, tid);
    }
  }
  input.trace.backward_tid = backward.Tid();
}

}  // namespace mpa::readers

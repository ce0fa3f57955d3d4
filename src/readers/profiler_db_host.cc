// SPDX-License-Identifier: Apache-2.0
// Host side of a profiler database: operators and what they launched, Python functions, the task
// queue.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "mpa/model/launches.h"
#include "mpa/model/queue_index.h"
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

// The ids that ENUM_API_TYPE gives to the kinds of host activity; usually these.
struct ApiTypes {
  std::int64_t op = 50001, queue = 50002, python = 50003;

  explicit ApiTypes(const io::Database& database) {
    if (!database.HasTable("ENUM_API_TYPE")) return;
    io::Statement rows = database.Query("SELECT id, name FROM ENUM_API_TYPE");
    while (rows.Step()) {
      const std::string_view name = rows.Text(1);
      if (name == "op") op = rows.IntOr(0, op);
      if (name == "queue") queue = rows.IntOr(0, queue);
      if (name == "trace") python = rows.IntOr(0, python);
    }
  }
};

// Ties forward operators to the backward operators they cause: two operators that alone share a
// connection. The later of the two is the backward one.
class BackwardPairs {
 public:
  struct Point {
    TimeNs start = 0;
    std::int32_t track = -1;
    std::int64_t tid = -1;
  };

  void Add(std::int64_t connection, const Point& point) {
    Pair& pair = pairs_[connection];
    if (pair.count < 2) pair.points[pair.count] = point;
    ++pair.count;
  }

  // Appends the pairs to the rank in order of the backward operators, and names its backward
  // thread: that of the last one.
  void Finish(bool wanted, RankTrace& trace) {
    std::map<std::pair<TimeNs, std::int64_t>, Pair> in_order;  // by start and connection
    for (auto& [connection, pair] : pairs_) {
      if (pair.count != 2) continue;
      if (pair.points[1].start < pair.points[0].start) std::swap(pair.points[0], pair.points[1]);
      in_order[{pair.points[1].start, connection}] = pair;
    }
    for (const auto& [key, pair] : in_order) {
      trace.backward_tid = pair.points[1].tid;
      if (!wanted) continue;
      trace.backward_links.Append({.forward_time = pair.points[0].start,
                                   .forward_track = pair.points[0].track,
                                   .backward_time = pair.points[1].start,
                                   .backward_track = pair.points[1].track});
    }
  }

 private:
  struct Pair {
    std::size_t count = 0;
    Point points[2];
  };
  std::unordered_map<std::int64_t, Pair> pairs_;
};

// Some exporters write the shapes of the inputs into the column of their types and the types into
// that of the shapes. Shapes are made of digits.
bool IsShapes(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789,;\r\n []-") == std::string_view::npos;
}

// Call stacks by their id.
std::unordered_map<std::int64_t, StringId> ReadCallStacks(DbInput& input) {
  std::unordered_map<std::int64_t, StringId> stacks;
  if (!input.database.HasTable("PYTORCH_CALLCHAINS")) return stacks;
  io::Statement rows =
      input.database.Query("SELECT id, stack FROM PYTORCH_CALLCHAINS ORDER BY id, stackDepth");
  std::optional<std::int64_t> current;
  std::string text;
  const auto finish = [&] {
    if (current) stacks[*current] = input.trace.strings.Intern(text);
    text.clear();
  };
  while (rows.Step()) {
    const auto id = rows.Int(0);
    if (!id) continue;
    if (id != current) finish();
    current = id;
    if (!text.empty()) text += ";\r\n";
    text += input.trace.strings.View(input.strings.Text(rows, 1));
  }
  finish();
  return stacks;
}

class HostReader {
 public:
  HostReader(DbInput& input, Tables wanted)
      : input_(input),
        wanted_(wanted),
        types_(input.database),
        sets_(ReadConnectionSets(input.database)),
        tracks_(input.trace.tracks) {
    if (Wanted(Tables::kOpDetails)) stacks_ = ReadCallStacks(input_);
  }

  void Read() {
    const auto optional = [&](const char* column) {
      return ColumnOrNull(input_.database, "PYTORCH_API", column);
    };
    std::string kinds = std::to_string(types_.op);
    if (Wanted(Tables::kPythonCalls)) kinds += fmt::format(", {}", types_.python);
    if (Wanted(Tables::kQueuedWork)) kinds += fmt::format(", {}", types_.queue);
    io::Statement rows = input_.database.Query(fmt::format(
        "SELECT startNs, endNs, name, globalTid, connectionId, type, {}, {}, {} "
        "FROM PYTORCH_API WHERE type IN ({}) ORDER BY rowid",
        optional("inputShapes"), optional("inputDtypes"), optional("callchainId"), kinds));
    while (rows.Step()) ReadRow(rows);
    backward_.Finish(Wanted(Tables::kBackwardLinks), input_.trace);
    AppendQueuedWork(queue_, tracks_, input_.trace);
  }

 private:
  bool Wanted(Tables tables) const { return Overlap(wanted_, tables); }

  void ReadRow(const io::Statement& row) {
    const auto span = ReadSpan(input_, row, 0, 1, "PYTORCH_API");
    if (!span) return;
    const std::int64_t global_tid = row.IntOr(3, 0);
    const std::int64_t pid = global_tid >> 32;
    const std::int64_t tid = global_tid & 0xffffffff;
    const std::int64_t type = row.IntOr(5, -1);
    const auto set = row.IsNull(4) ? sets_.end() : sets_.find(row.IntOr(4, -1));
    if (type == types_.queue) {
      if (set == sets_.end() || set->second.empty()) return;
      const StringId work = input_.strings.Text(row, 2);
      const bool is_work = input_.trace.strings.View(work).starts_with("Dequeue");
      queue_.push_back({set->second.front(), is_work, span->start, span->dur, pid, tid, work});
      return;
    }
    const std::int32_t track = tracks_.Of(pid, tid);
    const StringId name = input_.strings.Text(row, 2);
    if (type == types_.python) {
      input_.trace.python_calls.Append(
          {.start = span->start, .dur = span->dur, .name = name, .track = track});
      return;
    }
    HostOps::Row op{.start = span->start, .dur = span->dur, .name = name, .track = track};
    if (Wanted(Tables::kOpDetails)) ReadDetails(row, op);
    input_.trace.host_ops.Append(op);
    if (set == sets_.end()) return;
    for (const std::int64_t connection : set->second) {
      input_.trace.launches.Append(
          {.link = connection, .host_time = span->start, .host_track = track});
      backward_.Add(connection, {span->start, track, tid});
    }
  }

  void ReadDetails(const io::Statement& row, HostOps::Row& op) {
    const StringPool& strings = input_.trace.strings;
    const StringId none = input_.trace.strings.Intern(kNotRecorded);
    const auto text = [&](int column) {
      return row.IsNull(column) ? none : input_.strings.Text(row, column);
    };
    op.shapes = text(6);
    op.types = text(7);
    if (IsShapes(strings.View(op.types)) && !IsShapes(strings.View(op.shapes))) {
      std::swap(op.shapes, op.types);
    }
    op.stack = none;
    const auto stack = row.IsNull(8) ? stacks_.end() : stacks_.find(row.IntOr(8, -1));
    if (stack != stacks_.end()) op.stack = stack->second;
  }

  DbInput& input_;
  Tables wanted_;
  ApiTypes types_;
  ConnectionSets sets_;
  TrackNumbers tracks_;
  std::unordered_map<std::int64_t, StringId> stacks_;
  std::vector<QueueEvent> queue_;
  BackwardPairs backward_;
};

}  // namespace

void ReadHostTables(DbInput& input, Tables wanted) {
  if (!input.database.HasTable("PYTORCH_API")) return;
  HostReader(input, wanted).Read();
}

void ReadCopyLaunches(DbInput& input) {
  RankTrace& trace = input.trace;
  if (!input.database.HasTable("CANN_API")) return;
  std::set<std::int64_t> wanted;
  const LaunchIndex known(trace);
  for (std::size_t i = 0; i < trace.device_tasks.Size(); ++i) {
    const std::int64_t link = trace.device_tasks.link[i];
    const bool is_copy = trace.device_tasks.name[i] != StringId::kEmpty;
    if (is_copy && link >= 0 && !known.Find(link)) wanted.insert(link);
  }
  const QueueIndex queue(trace.queued_work);
  TrackNumbers tracks(trace.tracks);
  const auto append = [&](std::int64_t link, TimeNs time, std::int64_t global_tid) {
    std::int32_t track = tracks.Of(global_tid >> 32, global_tid & 0xffffffff);
    if (const auto work = queue.Find(track, time)) {
      time = trace.queued_work.queued[*work];
      track = trace.queued_work.queued_track[*work];
    }
    trace.launches.Append({.link = link, .host_time = time, .host_track = track});
  };
  if (input.database.IsPrimaryKey("CANN_API", "connectionId")) {
    io::Statement call =
        input.database.Query("SELECT startNs, globalTid FROM CANN_API WHERE connectionId = ?");
    for (const std::int64_t link : wanted) {
      call.Restart(link);
      if (call.Step()) append(link, call.IntOr(0, -1), call.IntOr(1, 0));
    }
  } else if (!wanted.empty()) {  // a lookup would scan the table each time
    io::Statement calls =
        input.database.Query("SELECT connectionId, startNs, globalTid FROM CANN_API");
    while (calls.Step()) {
      const std::int64_t link = calls.IntOr(0, -1);
      if (wanted.erase(link) > 0) append(link, calls.IntOr(1, -1), calls.IntOr(2, 0));
    }
  }
}

}  // namespace mpa::readers

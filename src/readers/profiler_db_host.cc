// SPDX-License-Identifier: Apache-2.0
// Host side of a profiler database: operators and what they launched, Python functions, the task
// queue.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/model/launches.h"
#include "mpa/model/queue_index.h"
#include "mpa/model/repeated_rows.h"
#include "profiler_db_stacks.h"
#include "profiler_db_tables.h"
#include "trace_builder.h"

namespace mpa::readers {
namespace {

// PYTORCH_API.connectionId names a set of connections; an operator that launches several kernels
// has several.
class ConnectionSets {
 public:
  struct Member {
    std::int64_t set = 0, connection = 0;
  };

  explicit ConnectionSets(DbInput& input) {
    members_.reserve(input.database.ApproximateRows("CONNECTION_IDS"));
    ScanTable(input.database, "CONNECTION_IDS", "id, connectionId", [&](const io::Row& row) {
      const auto set = row.Int(0);
      const auto connection = row.Int(1);
      if (set && connection)
        members_.push_back({*set, *connection});
      else
        CountRow(input, "launches of an operator are lost, a number is NULL; parse again",
                 "CONNECTION_IDS");
    });
    std::ranges::stable_sort(members_, {}, &Member::set);
    DropRepeated(input);
  }

  std::size_t Size() const { return members_.size(); }

  // Mostly that of the next operator: sets are numbered in the order of the operators.
  std::span<const Member> Of(std::int64_t set) {
    auto begin = members_.begin() + next_;
    if (begin == members_.end() || begin->set != set) {
      begin = std::ranges::lower_bound(members_, set, {}, &Member::set);
    }
    auto end = begin;
    if (end != members_.end() && end->set == set) ++end;
    if (end != members_.end() && end->set == set) {
      // Not equal_range(): clang 14 cannot compile it here.
      end = std::ranges::upper_bound(end, members_.end(), set, {}, &Member::set);
    }
    next_ = end - members_.begin();
    return {begin, end};
  }

 private:
  void DropRepeated(DbInput& input) {
    Member first;
    std::set<std::int64_t> connections;  // of a set with several
    bool is_first = true;
    std::erase_if(members_, [&](const Member& member) {
      if (std::exchange(is_first, false) || member.set != first.set) {
        first = member;
        connections.clear();
        return false;
      }
      connections.insert(first.connection);
      if (connections.insert(member.connection).second) return false;
      CountRow(input, kWrittenTwice, "CONNECTION_IDS");
      return true;
    });
  }

  std::vector<Member> members_;
  std::ptrdiff_t next_ = 0;  // behind the set of the operator before
};

// The ids that ENUM_API_TYPE gives to the kinds of host activity; usually these.
struct ApiTypes {
  std::int64_t op = 50001, queue = 50002, python = 50003;

  explicit ApiTypes(const io::Database& database) {
    for (const auto& [number, name] : NamesOfNumbers(database, "ENUM_API_TYPE")) {
      if (name == "op") op = number;
      if (name == "queue") queue = number;
      if (name == "trace") python = number;
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

  void Add(std::int64_t connection, const Point& point) { ends_.push_back({connection, point}); }

  // Appends the pairs to the rank in order of the backward operators, and names its backward
  // thread: that of the last one.
  void Finish(bool wanted, RankTrace& trace) {
    for (const Pair& pair : FindPairs()) {
      trace.backward_tid = pair.backward.tid;
      if (!wanted) continue;
      trace.backward_links.Append({.forward_time = pair.forward.start,
                                   .forward_track = pair.forward.track,
                                   .backward_time = pair.backward.start,
                                   .backward_track = pair.backward.track});
    }
  }

 private:
  struct End {
    std::int64_t connection = 0;
    Point point;
  };
  struct Pair {
    std::int64_t connection = 0;
    Point forward, backward;
  };

  std::vector<Pair> FindPairs() {
    std::ranges::stable_sort(ends_, {}, &End::connection);
    std::vector<Pair> pairs;
    for (auto begin = ends_.begin(), end = begin; begin != ends_.end(); begin = end) {
      end = std::find_if(begin, ends_.end(),
                         [&](const End& other) { return other.connection != begin->connection; });
      if (end - begin != 2) continue;
      Pair pair{begin->connection, begin->point, std::next(begin)->point};
      if (pair.backward.start < pair.forward.start) std::swap(pair.forward, pair.backward);
      pairs.push_back(pair);
    }
    std::ranges::sort(pairs, {}, [](const Pair& pair) {
      return std::pair(pair.backward.start, pair.connection);
    });
    return pairs;
  }

  std::vector<End> ends_;
};

// Some exporters write the shapes of the inputs into the column of their types and the types into
// that of the shapes. Shapes are made of digits.
bool IsShapes(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789,;\r\n []-") == std::string_view::npos;
}

class HostReader {
 public:
  explicit HostReader(DbInput& input)
      : input_(input),
        types_(input.database),
        sets_(input),
        has_sets_(input.database.HasTable("CONNECTION_IDS")),
        tracks_(input.trace.tracks) {
    if (Wants(Tables::kOpStacks)) stacks_ = ReadCallStacks(input_);
  }

  void Read() {
    Reserve();
    std::string columns = "startNs, endNs, name, globalTid, connectionId, type";
    columns += Wants(Tables::kOpStacks) ? ", callchainId?" : ", NULL";
    if (Wants(Tables::kOpDetails)) columns += ", inputShapes?, inputDtypes?";
    // Not IN, which looks into a table; most rows are of Python.
    std::string kinds = fmt::format("type = {}", types_.op);
    if (Wants(Tables::kPythonCalls)) kinds = fmt::format("type = {} OR ", types_.python) + kinds;
    if (Wants(Tables::kQueuedWork)) kinds += fmt::format(" OR type = {}", types_.queue);
    ScanSpans(
        input_, "PYTORCH_API", columns,
        [&](const DbSpan& span, const io::Row& row) { ReadRow(span, row); },
        " WHERE type IS NULL OR " + kinds);
    backward_.Finish(Wants(Tables::kBackwardLinks), input_.trace);
    AppendQueuedWork(queue_, tracks_, input_.trace);
    if (has_repeated_) DropOthersRepeated();
  }

 private:
  bool Wants(Tables tables) const { return Intersects(input_.wanted, tables); }

  // All rows may be of one kind; what is not filled takes no memory.
  void Reserve() {
    const std::size_t rows = input_.database.ApproximateRows("PYTORCH_API");
    input_.trace.host_ops.Reserve(rows);
    input_.trace.launches.Reserve(sets_.Size());
    if (Wants(Tables::kPythonCalls)) input_.trace.python_calls.Reserve(rows);
    if (Wants(Tables::kQueuedWork)) queue_.reserve(rows);
  }

  // Exporters write the operators of a thread in order of start: only rows that are not later than
  // the one before can repeat another. So intact captures are not searched.
  bool IsRepeated(const HostOps::Row& op) {
    const auto track = static_cast<std::size_t>(op.track);
    if (latest_.size() <= track) latest_.resize(track + 1, -1);
    const bool is_later = op.start > latest_[track];
    latest_[track] = std::max(latest_[track], op.start);
    if (is_later && known_.empty()) return false;
    const HostOps& ops = input_.trace.host_ops;
    if (known_.empty()) {
      for (std::size_t i = 0; i < ops.Size(); ++i)
        known_.emplace(ops.start[i], ops.dur[i], ops.track[i], ops.name[i]);
    }
    if (known_.emplace(op.start, op.dur, op.track, op.name).second) return false;
    has_repeated_ = true;
    CountRow(input_, kWrittenTwice, "PYTORCH_API");
    return true;
  }

  void DropOthersRepeated() {
    PythonCalls& calls = input_.trace.python_calls;
    DropRepeated(calls, [&](std::size_t i) {
      return std::tuple(calls.start[i], calls.dur[i], calls.track[i], calls.name[i]);
    });
    QueuedWork& work = input_.trace.queued_work;
    DropRepeated(work, [&](std::size_t i) {
      return std::tuple(work.start[i], work.dur[i], work.track[i], work.queued[i]);
    });
  }

  void ReadRow(const DbSpan& span, const io::Row& row) {
    CountIfNull(input_, row, 5, "type", "PYTORCH_API", "what a row is of");
    if (row.IsNull(5)) return;
    CountIfNull(input_, row, 3, "globalTid", "PYTORCH_API", "the thread of an operator");
    const std::int64_t global_tid = row.IntOr(3, 0);
    const std::int64_t pid = global_tid >> 32;
    const std::int64_t tid = global_tid & 0xffffffff;
    const std::int64_t type = row.IntOr(5, -1);
    const auto set =
        row.IsNull(4) ? std::span<const ConnectionSets::Member>() : sets_.Of(row.IntOr(4, -1));
    if (type == types_.queue) {
      if (set.empty()) return;
      const StringId work = input_.strings.Text(row, 2);
      const bool is_work = input_.trace.strings.View(work).starts_with("Dequeue");
      queue_.push_back({set.front().connection, is_work, span.start, span.dur, pid, tid, work});
      return;
    }
    const std::int32_t track = tracks_.Of(pid, tid);
    const StringId name = FilledText(input_, row, 2, "name", "PYTORCH_API");
    if (type == types_.python) {
      input_.trace.python_calls.Append(
          {.start = span.start, .dur = span.dur, .name = name, .track = track});
      return;
    }
    if (!row.IsNull(4) && set.empty() && Wants(Tables::kLaunches)) {
      input_.trace.issues.Count(
          Say("operator has no device times, {}: what it launched is unknown; parse again",
              Translated(has_sets_ ? "CONNECTION_IDS does not have its connectionId"
                                   : "table CONNECTION_IDS is missing")),
          input_.database.name());
    }
    HostOps::Row op{.start = span.start, .dur = span.dur, .name = name, .track = track};
    if (IsRepeated(op)) return;
    if (Wants(Tables::kOpDetails)) ReadDetails(row, op);
    if (!stacks_.Empty() && !row.IsNull(6)) {
      if (const auto stack = stacks_.Find(row.IntOr(6, -1))) op.stack = *stack;
    }
    input_.trace.host_ops.Append(op);
    if (!set.empty() &&
        input_.trace.launches.Size() > MostPairs(sets_.Size() + input_.trace.host_ops.Size())) {
      input_.trace.issues.Count("launches left out, their connectionId occurs too often",
                                "PYTORCH_API");
      return;
    }
    for (const auto& [id, connection] : set) {
      input_.trace.launches.Append(
          {.link = connection, .host_time = span.start, .host_track = track});
      backward_.Add(connection, {span.start, track, tid});
    }
  }

  void ReadDetails(const io::Row& row, HostOps::Row& op) {
    const StringPool& strings = input_.trace.strings;
    const StringId none = input_.trace.strings.Intern(kNotRecorded);
    const auto text = [&](int column) {
      return row.IsNull(column) ? none : input_.strings.Text(row, column);
    };
    op.shapes = text(7);
    op.types = text(8);
    if (IsShapes(strings.View(op.types)) && !IsShapes(strings.View(op.shapes))) {
      std::swap(op.shapes, op.types);
    }
    op.stack = none;
  }

  DbInput& input_;
  ApiTypes types_;
  ConnectionSets sets_;
  bool has_sets_;
  TrackNumbers tracks_;
  CallStacks stacks_;
  std::vector<QueueEvent> queue_;
  BackwardPairs backward_;
  std::vector<TimeNs> latest_;  // start of an operator, by track
  std::set<std::tuple<TimeNs, TimeNs, std::int32_t, StringId>>
      known_;  // once they are out of order
  bool has_repeated_ = false;
};

}  // namespace

void ReadHostTables(DbInput& input) {
  if (!input.database.HasTable("PYTORCH_API")) return;
  HostReader(input).Read();
}

void ReadCopyLaunches(DbInput& input) {
  RankTrace& trace = input.trace;
  // Copies alone would look as if operators launched nothing else.
  if (!input.database.HasTable("CANN_API") || !input.database.HasTable("CONNECTION_IDS")) return;
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
    if (time < 0) {
      CountRow(input, "row left out, invalid start or end", "CANN_API");
      return;
    }
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
      if (call.Step()) append(link, TimeOrNone(call.row(), 0), call.IntOr(1, 0));
    }
  } else if (!wanted.empty()) {  // a lookup would scan the table each time
    io::Statement calls =
        input.database.Query("SELECT connectionId, startNs, globalTid FROM CANN_API");
    while (calls.Step()) {
      const std::int64_t link = calls.IntOr(0, -1);
      if (wanted.erase(link) > 0) append(link, TimeOrNone(calls.row(), 1), calls.IntOr(2, 0));
    }
  }
}

}  // namespace mpa::readers

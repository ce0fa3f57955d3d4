// SPDX-License-Identifier: Apache-2.0
// Which rows of a profiler database belong together.
#include <algorithm>
#include <tuple>

#include "profiler_database.h"

namespace mpa::profiler_output {
namespace {

constexpr std::uint64_t kFirstMark = 4'000'000'001;
constexpr std::uint64_t kFirstOfFramework = 5u << 28;

// Sums of recorded numbers, which can be anything.
std::int64_t Offset(std::uint64_t first, std::int64_t number) {
  return static_cast<std::int64_t>(first + static_cast<std::uint64_t>(number));
}

// An operator is connected with the launch of a kernel or a collective, but not with a copy or an
// event.
bool IsLaunch(const raw::Session& session, std::int32_t call) {
  return call >= 0 && session.calls.level[call] == raw::Level::kNode &&
         session.strings.View(session.calls.name[call]) == "launch";
}

void AddLaunches(const raw::Session& session, std::vector<OpConnection>& connections) {
  const raw::DeviceLinks& links = session.links;
  for (std::size_t i = 0; i < links.Size(); ++i) {
    if (links.op[i] < 0) continue;
    std::int32_t call = -1;
    if (links.task[i] >= 0) {
      call = session.tasks.call[links.task[i]];
    } else if (links.collective[i] >= 0) {
      call = session.collectives.call[links.collective[i]];
    }
    if (IsLaunch(session, call)) {
      connections.push_back({links.op[i], CallConnection(static_cast<std::size_t>(call))});
    }
  }
}

void AddBackwardPairs(const raw::Session& session, std::vector<OpConnection>& connections) {
  const raw::QueueRanges& queue = session.queue;
  std::int64_t number = 0;
  for (std::size_t i = 0; i < queue.Size(); ++i) {
    if (queue.dequeue[i] == 0) number = std::max(number, queue.correlation[i]);
  }
  const raw::BackwardPairs& pairs = session.backward;
  for (std::size_t i = 0; i < pairs.Size(); ++i) {
    const std::int64_t connection = Offset(
        kFirstOfFramework + 1 + static_cast<std::uint64_t>(number), static_cast<std::int64_t>(i));
    connections.push_back({pairs.forward[i], connection});
    connections.push_back({pairs.backward[i], connection});
  }
}

// The dequeued work in order of thread and start; pieces of one thread do not overlap.
std::vector<std::size_t> DequeuedWork(const raw::QueueRanges& queue) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < queue.Size(); ++i) {
    if (queue.dequeue[i] != 0 && queue.partner[i] >= 0) rows.push_back(i);
  }
  std::ranges::sort(rows, [&](std::size_t a, std::size_t b) {
    return std::tie(queue.thread[a], queue.start[a], a) <
           std::tie(queue.thread[b], queue.start[b], b);
  });
  return rows;
}

// A mark that lies in dequeued work was set by the operator that enqueued it.
void AddMarks(const raw::Session& session, std::vector<OpConnection>& connections) {
  const raw::Marks& marks = session.marks;
  const raw::QueueRanges& queue = session.queue;
  if (marks.Empty()) return;
  const std::vector<std::size_t> work = DequeuedWork(queue);
  for (std::size_t i = 0; i < marks.Size(); ++i) {
    const auto later = std::partition_point(work.begin(), work.end(), [&](std::size_t row) {
      return std::tie(queue.thread[row], queue.start[row]) <
             std::tie(marks.thread[i], marks.start[i]);
    });
    if (later == work.begin()) continue;
    const std::size_t row = *(later - 1);
    if (queue.thread[row] != marks.thread[i] || marks.End(i) >= queue.End(row)) continue;
    const std::int32_t op = queue.op[queue.partner[row]];
    if (op < 0 || !session.strings.View(session.ops.name[op]).starts_with("mstx_")) continue;
    connections.push_back({op, MarkConnection(marks.mark_id[i])});
  }
}

}  // namespace

std::int64_t CallConnection(std::size_t call) { return static_cast<std::int64_t>(call) + 1; }

std::int64_t TaskConnection(const raw::Session& session, std::size_t task) {
  const raw::Tasks& tasks = session.tasks;
  if (tasks.call[task] >= 0) return CallConnection(static_cast<std::size_t>(tasks.call[task]));
  const bool issued_by_host = tasks.host_type[task] != StringId::kEmpty;
  return issued_by_host ? CallConnection(session.calls.Size()) : -1;
}

std::int64_t MarkConnection(std::int64_t mark_id) { return Offset(kFirstMark, mark_id); }

std::int64_t QueueConnection(std::int64_t correlation) {
  return Offset(kFirstOfFramework, correlation);
}

std::vector<OpConnection> ConnectOps(const raw::Session& session) {
  std::vector<OpConnection> connections;
  AddLaunches(session, connections);
  AddBackwardPairs(session, connections);
  AddMarks(session, connections);
  const auto key = [](const OpConnection& c) { return std::tie(c.op, c.connection); };
  std::ranges::sort(connections, [&](const auto& a, const auto& b) { return key(a) < key(b); });
  connections.erase(std::unique(connections.begin(), connections.end(),
                                [&](const auto& a, const auto& b) { return key(a) == key(b); }),
                    connections.end());
  return connections;
}

}  // namespace mpa::profiler_output

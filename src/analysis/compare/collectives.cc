// SPDX-License-Identifier: Apache-2.0
// Collectives by kind: which names mean the same, and which tasks belong to which operation.
#include "collectives.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <vector>

#include "mpa/base/text.h"

namespace mpa {
namespace {

// `lower` without "nccl". Empty when no collective is named there.
std::string_view NcclCollective(std::string_view lower) {
  if (lower.starts_with("kernel") || lower.starts_with("devkernel")) {
    const std::size_t begin = lower.find('_');
    if (begin == std::string_view::npos) return {};
    const std::string_view word = lower.substr(begin + 1);
    return word.substr(0, word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789"));
  }
  // NCCL before 2.8: ncclAllReduceRingLLKernel_sum_f32. The longer of two words with one begin
  // comes first.
  constexpr std::array<std::string_view, 7> kCollectives = {
      "allgather", "allreduce", "alltoall", "broadcast", "reducescatter", "reduce", "sendrecv"};
  for (const std::string_view collective : kCollectives) {
    if (lower.starts_with(collective)) return collective;
  }
  return {};
}

// Databases name the type beside the operation, but not at Level0.
std::string KindOf(const RankTrace& trace, std::size_t row) {
  for (const StringId text : {trace.communications.op_type[row], trace.communications.name[row]}) {
    const std::string_view name = trace.strings.View(text);
    if (!name.empty() && name != "N/A") return CollectiveKind(name);
  }
  return "N/A";
}

template <typename Table>
std::vector<std::size_t> RowsByStart(const Table& table) {
  std::vector<std::size_t> rows(table.Size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::size_t a, std::size_t b) { return table.start[a] < table.start[b]; });
  return rows;
}

// Operations in order of start, asked for times that never go back.
class Timeline {
 public:
  explicit Timeline(const Communications& comms) : comms_(&comms) {}

  void Append(std::size_t row) { rows_.push_back(row); }

  // The first operation that holds `time`; both of its ends belong to it.
  std::optional<std::size_t> At(TimeNs time) {
    while (next_ < rows_.size() && End(rows_[next_]) < time) ++next_;
    if (next_ == rows_.size() || comms_->start[rows_[next_]] > time) return std::nullopt;
    return rows_[next_];
  }

 private:
  TimeNs End(std::size_t row) const { return comms_->start[row] + comms_->dur[row]; }

  const Communications* comms_;
  std::vector<std::size_t> rows_;
  std::size_t next_ = 0;
};

// Finds the operation of a task: by the operation's id where the task has one, else by the time
// within the task's group. Only where the group is unknown the time alone decides.
class OperationFinder {
 public:
  OperationFinder(const RankTrace& trace, const std::vector<std::size_t>& by_start)
      : trace_(trace), of_group_(trace.comm_groups.Size(), Timeline(trace.communications)) {
    const Communications& comms = trace.communications;
    for (const std::size_t row : by_start) {
      if (comms.op_id[row] >= 0) by_id_.try_emplace(comms.op_id[row], row);
      if (comms.group[row] >= 0) of_group_[static_cast<std::size_t>(comms.group[row])].Append(row);
      of_all_.Append(row);
    }
  }

  // To be asked for tasks in order of start.
  std::optional<std::size_t> Find(std::size_t task) {
    const CommTasks& tasks = trace_.comm_tasks;
    if (tasks.op_id[task] >= 0) {
      const auto found = by_id_.find(tasks.op_id[task]);
      return found != by_id_.end() ? std::optional(found->second) : std::nullopt;
    }
    return TimelineOf(tasks.group[task]).At(tasks.start[task]);
  }

 private:
  Timeline& TimelineOf(std::int32_t group) {
    if (group < 0) return of_all_;
    const auto number = static_cast<std::size_t>(group);
    // The name that the reader gives the group of planes that belong to none.
    const bool unknown = trace_.strings.View(trace_.comm_groups.name[number]) == "Unknown Group";
    return unknown ? of_all_ : of_group_[number];
  }

  const RankTrace& trace_;
  std::unordered_map<std::int64_t, std::size_t> by_id_;
  std::vector<Timeline> of_group_;
  Timeline of_all_{trace_.communications};
};

}  // namespace

std::string CollectiveKind(std::string_view name) {
  const std::string lower = ToLower(name);
  const std::string_view text = lower;
  if (text.starts_with("nccl")) {
    const std::string_view collective = NcclCollective(text.substr(4));
    if (!collective.empty()) return std::string(collective);
  }
  const std::string_view first = text.substr(0, text.find('_'));
  if (first != "hcom" || first == text) return std::string(first.empty() ? text : first);
  const std::string_view rest = text.substr(first.size() + 1);
  const std::string_view second = rest.substr(0, rest.find('_'));
  return std::string(second.empty() ? text : second);
}

FirstSeen<std::string, Collective> SumCollectives(const RankTrace& trace) {
  const CommTasks& tasks = trace.comm_tasks;
  const std::vector<std::size_t> operations = RowsByStart(trace.communications);
  OperationFinder finder(trace, operations);
  std::vector<std::vector<std::size_t>> tasks_of(trace.communications.Size());
  for (const std::size_t task : RowsByStart(tasks)) {
    if (tasks.name[task] == StringId::kEmpty) continue;  // Level0 databases know no more of them
    if (const auto operation = finder.Find(task)) tasks_of[*operation].push_back(task);
  }
  FirstSeen<std::string, Collective> collectives;
  for (const std::size_t operation : operations) {
    Collective& collective = collectives[KindOf(trace, operation)];
    collective.calls.Add(trace.communications.dur[operation]);
    for (const std::size_t task : tasks_of[operation]) {
      collective.tasks[trace.strings.View(tasks.name[task])].Add(tasks.dur[task]);
    }
  }
  return collectives;
}

}  // namespace mpa

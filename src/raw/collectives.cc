// SPDX-License-Identifier: Apache-2.0
// Collectives and their parts: which tasks belong to which operation, and the host's records of
// them.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collective_traffic.h"
#include "stages.h"

namespace mpa::raw {
namespace {

constexpr std::int64_t kNotRecorded = 65534;  // "N/A" in the tables of names

/// The contexts that belong to each communication range.
class ContextRanges {
 public:
  ContextRanges(const HostCalls& calls, const HostSide& host) {
    for (std::size_t i = 0; i < calls.Size(); ++i) {
      if (calls.level[i] != Level::kCommunication) continue;
      const auto call = static_cast<std::int32_t>(i);
      for (const std::uint32_t record : host.contexts_of_communication.Of(call)) {
        const std::vector<std::uint32_t>& ids = host.contexts[record].ids;
        if (ids.size() == 2 && ids[0] <= ids[1]) ranges_.push_back({call, ids[0], ids[1]});
      }
    }
    // With overlapping ranges, a last one that reaches further back is hidden; make the ends grow.
    std::ranges::sort(ranges_, [](const Range& a, const Range& b) {
      return std::tie(a.call, a.first) < std::tie(b.call, b.first);
    });
    for (std::size_t i = 1; i < ranges_.size(); ++i) {
      if (ranges_[i].call != ranges_[i - 1].call || ranges_[i].first > ranges_[i - 1].last)
        continue;
      ranges_[i].last = std::max(ranges_[i].last, ranges_[i - 1].last);
    }
  }

  bool HasCall(std::int32_t call) const {
    const auto found = std::lower_bound(
        ranges_.begin(), ranges_.end(), call,
        [](const Range& range, std::int32_t wanted) { return range.call < wanted; });
    return found != ranges_.end() && found->call == call;
  }

  bool Holds(std::int32_t call, std::uint32_t context) const {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), std::pair(call, context),
                                        [](const auto& wanted, const Range& range) {
                                          return wanted < std::pair(range.call, range.first);
                                        });
    if (after == ranges_.begin()) return false;
    const Range& range = *std::prev(after);
    return range.call == call && context <= range.last;
  }

 private:
  struct Range {
    std::int32_t call;
    std::uint32_t first, last;
  };
  std::vector<Range> ranges_;
};

/// A task of a collective.
struct Part {
  std::int32_t task = -1;  // row in Tasks
  std::int32_t host_task = -1;
  std::int32_t communication = -1, node = -1;  // rows in HostCalls
  const PartInfo* info = nullptr;
  std::int32_t iteration = 1;
};

class PartFinder {
 public:
  PartFinder(const HostSide& host, const std::vector<PartInfo>& infos, const HostCalls& calls)
      : host_(host), infos_(infos), ranges_(calls, host) {
    const std::vector<std::int32_t> call_of_info =
        AtLevel(CallsAroundRecords(calls, host.tree, infos), host.tree.communication);
    std::vector<NumberedRecords::Entry> entries;
    entries.reserve(infos.size());
    for (std::size_t i = 0; i < infos.size(); ++i) {
      entries.push_back({call_of_info[i], infos[i].context, static_cast<std::uint32_t>(i)});
    }
    by_context_ = NumberedRecords(std::move(entries));
  }

  /// False for a task that is not part of a collective.
  bool Find(const Tasks& tasks, std::size_t task, std::int32_t host_task, Part& part) const {
    const std::int32_t call =
        host_task < 0 ? -1 : host_.call_of_task[static_cast<std::size_t>(host_task)];
    if (call < 0) return false;
    const auto at = static_cast<std::size_t>(call);
    part = {.task = static_cast<std::int32_t>(task),
            .host_task = host_task,
            .communication = host_.tree.communication[at],
            .node = host_.tree.node[at]};
    if (part.communication < 0 || part.node < 0) return false;
    const auto context = static_cast<std::uint32_t>(tasks.context[task]);
    const auto infos = by_context_.Of(part.communication, context);
    if (!infos.empty()) part.info = &infos_[infos.back().record];
    // If there are contexts, the task around them is not a part; without any info there is one
    // nameless part.
    if (ranges_.HasCall(part.communication)) return ranges_.Holds(part.communication, context);
    return part.info != nullptr ||
           (context == kWholeTask && !by_context_.HasCall(part.communication));
  }

 private:
  const HostSide& host_;
  const std::vector<PartInfo>& infos_;
  ContextRanges ranges_;
  NumberedRecords by_context_;
};

/// Counts how often the same launch has run: graphs repeat theirs.
void CountIterations(const Tasks& tasks, std::vector<Part>& parts) {
  const auto launch = [&](std::size_t i) {
    return std::pair(parts[i].host_task, tasks.context[static_cast<std::size_t>(parts[i].task)]);
  };
  const std::vector<std::size_t> order = RowsBy(parts.size(), launch);
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (launch(order[i]) != launch(order[i - 1])) continue;
    parts[order[i]].iteration = parts[order[i - 1]].iteration + 1;
  }
}

class CollectiveBuilder {
 public:
  CollectiveBuilder(const HostInput& input, const HostSide& host, Session& session)
      : dictionary_(input.dictionary),
        host_(host),
        session_(session),
        infos_(ReadCollectiveInfos(input)),
        infos_of_(session.calls.Size(),
                  AtLevel(CallsAroundRecords(session.calls, host.tree, infos_), host.tree.node)),
        none_(session.strings.Intern("N/A")),
        master_(session.strings.Intern("master")) {}

  /// `parts` in order of their tasks.
  void Build(const std::vector<Part>& parts) {
    const auto run = [&](std::size_t i) { return std::pair(parts[i].node, parts[i].iteration); };
    const std::vector<std::size_t> order = RowsBy(parts.size(), run);
    std::vector<std::int32_t> collective_of(parts.size());
    for (std::size_t first = 0; first < order.size();) {
      std::size_t last = first;
      for (; last < order.size() && run(order[last]) == run(order[first]); ++last) {
        collective_of[order[last]] = static_cast<std::int32_t>(session_.collectives.Size());
      }
      AddCollective(parts, std::span(order).subspan(first, last - first));
      first = last;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) AddPart(parts[i], collective_of[i]);
  }

 private:
  bool IsMaster(const Part& part) const {
    return session_.calls.name[static_cast<std::size_t>(part.communication)] == master_;
  }

  void AddCollective(const std::vector<Part>& parts, std::span<const std::size_t> rows) {
    const Part& first = parts[rows.front()];
    const auto node = static_cast<std::size_t>(first.node);
    const auto task = static_cast<std::size_t>(first.task);
    Collectives::Row row{.op_type = none_,
                         .group = none_,
                         .group_name = none_,
                         .algorithm = none_,
                         .data_type = kNotRecorded,
                         .count = -1,
                         .relay = -1,
                         .retry = -1,
                         .device = session_.tasks.device[task],
                         .model = session_.tasks.model[task],
                         .call = first.node};
    const auto nodes = host_.nodes_of.Of(first.node);
    if (!nodes.empty()) row.op_type = dictionary_.Text(host_.nodes[nodes.front()].op_type);
    for (const std::size_t i : rows) {
      if (parts[i].info == nullptr) continue;
      row.rank_size = parts[i].info->rank_size;
      SetGroup(parts[i].info->group, row);
    }
    const auto infos = infos_of_.Of(first.node);
    if (!infos.empty()) Describe(infos_[infos.front()], row);
    SetTimes(parts, rows, row);
    row.name = Name(node, row, first.iteration);
    session_.collectives.Append(row);
  }

  void SetGroup(std::uint64_t hash, Collectives::Row& row) {
    row.group = session_.strings.Intern(std::to_string(hash));
    row.group_name = dictionary_.Text(hash);
  }

  void Describe(const CollectiveInfo& info, Collectives::Row& row) {
    row.algorithm = dictionary_.Text(info.algorithm);
    row.data_type = info.data_type;
    row.count = info.count;
    row.relay = info.relay ? 1 : 0;
    row.retry = info.retry ? 1 : 0;
    SetGroup(info.group, row);
  }

  /// From the first start to the last end of the masters; of all parts if the masters are lost.
  void SetTimes(const std::vector<Part>& parts, std::span<const std::size_t> rows,
                Collectives::Row& row) const {
    const Tasks& tasks = session_.tasks;
    const bool masters =
        std::ranges::any_of(rows, [&](std::size_t i) { return IsMaster(parts[i]); });
    bool started = false;
    for (const std::size_t i : rows) {
      if (masters && !IsMaster(parts[i])) continue;
      const auto task = static_cast<std::size_t>(parts[i].task);
      if (!std::exchange(started, true)) {  // rows are in order of start
        row.start = tasks.start[task];
        row.end = row.start;
      }
      row.end = std::max(row.end, tasks.end[task]);
      row.dur =
          std::max(row.dur, static_cast<double>(tasks.start[task] - row.start) + tasks.Exact(task));
    }
  }

  /// "hcom_allReduce__586_0_1": operation, end of the group's hash, number within the group, run.
  StringId Name(std::size_t node, const Collectives::Row& row, std::int32_t iteration) {
    constexpr std::size_t kDigits = 3;
    const std::string op(session_.strings.View(session_.calls.item[node]));
    const std::string_view group = session_.strings.View(row.group);
    const bool on_ai_cpu = op.find("AicpuKernel") != std::string::npos;
    // Operations from before the collection have no number.
    std::int32_t& index = next_index_.try_emplace({row.group, on_ai_cpu}, -1).first->second;
    if (row.end > BeginOf(row.device) && iteration == 1) ++index;
    return session_.strings.Intern(
        op + "_" + std::string(group.substr(group.size() - std::min(group.size(), kDigits))) + "_" +
        std::to_string(index) + "_" + std::to_string(iteration));
  }

  TimeNs BeginOf(std::int64_t id) const {
    for (const Device& device : session_.info.devices) {
      if (device.id == id) return device.begin;
    }
    return -1;
  }

  void AddPart(const Part& part, std::int32_t collective) {
    const auto task = static_cast<std::size_t>(part.task);
    session_.tasks.kind[task] = TaskKind::kCollectivePart;
    session_.tasks.detail[task] = static_cast<std::int32_t>(session_.parts.Size());
    CollectiveParts::Row row{
        .task = part.task, .collective = collective, .name = none_, .master = IsMaster(part)};
    if (part.info != nullptr) {
      const PartInfo& info = *part.info;
      row.name = dictionary_.Text(info.name);
      row.plane = info.plane;
      row.notify = info.notify;
      row.local_rank = info.local_rank;
      row.remote_rank = info.remote_rank;
      row.bytes = info.bytes;
      row.transport = info.transport;
      row.data_type = info.data_type;
      row.link = info.link;
      row.rdma = info.rdma;
      row.estimated = info.estimated;
    } else {
      row.local_rank = kWholeTask;  // unknown
      row.transport = row.data_type = row.link = row.rdma = kNotRecorded;
    }
    session_.parts.Append(row);
  }

  Dictionary& dictionary_;
  const HostSide& host_;
  Session& session_;
  std::vector<CollectiveInfo> infos_;
  RecordsOfCalls infos_of_;
  StringId none_, master_;
  std::map<std::pair<StringId, bool>, std::int32_t> next_index_;  // by group
};

}  // namespace

void BuildCollectives(const HostInput& input, const HostSide& host, const TaskOrigins& origins,
                      Session& session) {
  const std::vector<PartInfo> infos = ReadPartInfos(input);
  const PartFinder finder(host, infos, session.calls);
  std::vector<Part> parts;
  Part part;
  for (std::size_t i = 0; i < session.tasks.Size(); ++i) {
    if (finder.Find(session.tasks, i, origins.host_task[i], part)) parts.push_back(part);
  }
  CountIterations(session.tasks, parts);
  CollectiveBuilder(input, host, session).Build(parts);
  SetBandwidths(session);
}

}  // namespace mpa::raw

// SPDX-License-Identifier: Apache-2.0
#include "mpa/collectives/instances.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/collectives/check_collectives.h"
#include "mpa/collectives/run_matching.h"
#include "mpa/measure/collectives.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

// Some levels record no types; the name begins with it.
bool IsBarrier(const std::string& type, const std::string& name) {
  const std::string kind = CollectiveKind(type.empty() || type == "N/A" ? name : type);
  return IsOneOf(kind, {"allreduce", "allgather", "reducescatter", "alltoall", "alltoallv",
                        "alltoallvc", "barrier"});
}

// By group of the capture; -1: not recorded.
std::vector<std::int32_t> OwnRanks(const RankTrace& trace) {
  std::vector<std::int32_t> own_ranks(trace.comm_groups.Size(), -1);
  for (std::size_t i = 0; i < trace.comm_tasks.Size(); ++i) {
    const std::int32_t group = trace.comm_tasks.group[i];
    if (group < 0 || trace.comm_tasks.own_rank[i] < 0) continue;
    own_ranks[static_cast<std::size_t>(group)] = trace.comm_tasks.own_rank[i];
  }
  return own_ranks;
}

// What the rank saw of the others in its runs.
void AddArrivals(const RankTrace& trace, RankCollectives& known) {
  const CollectiveParts parts(trace);
  const std::vector<LastArrival> last = OwnLastArrivals(trace, parts);
  const std::vector<std::int32_t> own_ranks = OwnRanks(trace);
  const std::vector<RankRuns::Row>& rows = known.runs.rows;
  std::vector<std::int64_t> row_of_operation(trace.communications.Size(), -1);
  known.own_rank_of_group.assign(known.runs.texts.size(), -1);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto operation = static_cast<std::size_t>(rows[row].operation);
    row_of_operation[operation] = static_cast<std::int64_t>(row);
    known.last.push_back(last[operation]);
    const std::int32_t group = trace.communications.group[operation];
    if (group >= 0)
      known.own_rank_of_group[rows[row].group] = own_ranks[static_cast<std::size_t>(group)];
  }
  known.seen.resize(rows.size());
  for (const SeenPeer& seen : FindSeenPeers(trace, parts)) {
    const std::int64_t row = row_of_operation[static_cast<std::size_t>(seen.operation)];
    if (row >= 0) known.seen[static_cast<std::size_t>(row)].push_back(seen);
  }
}

}  // namespace

void NameAfter(const RankRuns& runs, std::size_t row, CollectiveInstance& instance) {
  instance.group = runs.texts[runs.rows[row].group];
  instance.name = runs.texts[runs.rows[row].name];
  instance.is_barrier = IsBarrier(runs.texts[runs.rows[row].type], instance.name);
}

RankCollectives CollectivesOfRank(const RankTrace& trace, const std::optional<std::int32_t>& step) {
  RankCollectives known{.rank = trace.rank,
                        .runs = CollectiveRuns(trace),
                        .seen = {},
                        .last = {},
                        .own_rank_of_group = {},
                        .groups = trace.job.groups};
  known.on_gpu = trace.device == DeviceKind::kGpu;
  std::vector<RankRuns::Row>& rows = known.runs.rows;
  const StepBounds steps(trace, kAsRecorded);
  for (std::size_t at = 0; at < steps.Count(); ++at)
    known.longest_step = std::max(known.longest_step, steps.DeviceEnd(at) - steps.DeviceBegin(at));
  for (RankRuns::Row& row : rows) {
    const auto operation = static_cast<std::size_t>(row.operation);
    const auto at = steps.OfDeviceWork(trace.communications.link[operation], row.start);
    if (at) row.step = steps.Id(*at);
  }
  if (step) std::erase_if(rows, [&](const RankRuns::Row& row) { return row.step != *step; });
  AddArrivals(trace, known);
  return known;
}

void CheckCollectives(const RankCollectives& collectives) {
  const auto require = [](bool holds) {
    if (!holds)
      Fail(ErrorKind::kCorrupt, "the part refers to a text or a row that it does not contain");
  };
  const std::size_t rows = collectives.runs.rows.size(), texts = collectives.runs.texts.size();
  require(collectives.seen.size() == rows && collectives.last.size() == rows);
  require(collectives.own_rank_of_group.size() == texts);
  for (const RankRuns::Row& row : collectives.runs.rows) {
    require(std::max({row.group, row.name, row.type, row.data_type}) < texts);
    require(IsTime(row.start) && IsDuration(row.dur));
  }
  for (const auto& seen : collectives.seen) {
    for (const SeenPeer& peer : seen) require(IsTime(peer.time) && IsTime(peer.begin));
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const LastArrival& last = collectives.last[i];
    const RankRuns::Row& row = collectives.runs.rows[i];
    require(IsTime(last.time));
    require(!last.known || IsDuration(std::abs(row.start + row.dur - last.time)));
  }
}

CollectiveInstances JoinInstancesOfRuns(const std::vector<const RankRuns*>& ranks) {
  // By group and name.
  std::map<std::pair<std::string_view, std::string_view>, std::vector<RankRun>> runs;
  for (RankIndex rank; rank < ranks.size(); ++rank) {
    const RankRuns& part = *ranks[rank];
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
      const RankRuns::Row& row = part.rows[i];
      if (std::max({row.group, row.name, row.type, row.data_type}) >= part.texts.size())
        Fail(ErrorKind::kCorrupt, "the part of a rank refers to a text that it does not contain");
      runs[{part.texts[row.group], part.texts[row.name]}].push_back(
          {rank, i, row.step, {row.start, row.start + row.dur}});
    }
  }
  CollectiveInstances instances;
  instances.reserve(runs.size());
  for (const auto& [name, of_name] : runs) {
    for (const JointRanks& joint : MatchMostly(of_name)) {
      CollectiveInstance& instance = instances.emplace_back();
      instance.is_uneven = joint.front().is_uneven;
      instance.members.reserve(joint.size());
      for (const RankRun& run : joint) instance.members.push_back({run.rank, run.row});
      NameAfter(*ranks[joint.back().rank], joint.back().row, instance);
    }
  }
  return instances;
}

CollectiveInstances JoinInstances(const JobCollectives& ranks) {
  std::vector<const RankRuns*> runs;
  JobGroups groups;
  for (const RankCollectives& rank : ranks) {
    runs.push_back(&rank.runs);
    groups.Add(rank.groups);
  }
  CollectiveInstances instances = JoinInstancesOfRuns(runs);
  for (CollectiveInstance& instance : instances) {
    if (const JobGroup* of_job = groups.Find(instance.group)) instance.of_group = of_job->ranks;
    // Two ranks may as well send and receive in turn.
    if (instance.members.size() > 2 && CollectiveKind(instance.name) == kExchangeKind)
      instance.is_barrier = true;
  }
  return instances;
}

namespace {

// Numbers texts in the order in which they are first seen.
class TextNumbers {
 public:
  explicit TextNumbers(std::vector<std::string>& texts) : texts_(texts) {}

  std::uint32_t Of(std::string_view text) {
    const auto next = static_cast<std::uint32_t>(texts_.size());
    const auto [found, is_new] = numbers_.try_emplace(std::string(text), next);
    if (is_new) texts_.emplace_back(text);
    return found->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// NCCL exchanges data of all ranks by sends and receives at once.
bool IsExchange(const RankTrace& trace, std::size_t operation) {
  return trace.device == DeviceKind::kGpu && CollectiveKindOf(trace, operation) == kExchangeKind;
}

// A kernel is named by its function, without the parameters.
std::string_view NameOf(const RankTrace& trace, std::size_t operation) {
  const std::string_view name = trace.strings.View(trace.communications.name[operation]);
  return trace.device == DeviceKind::kGpu ? name.substr(0, name.find('(')) : name;
}

RankRuns RunsOfTrace(const RankTrace& trace, bool only_collectives) {
  const Communications& ops = trace.communications;
  const bool is_gpu = trace.device == DeviceKind::kGpu;
  RankRuns part;
  TextNumbers numbers(part.texts);
  for (const std::size_t i : ops.RowsByStart()) {
    const bool p2p = IsPointToPoint(trace, i) && !IsExchange(trace, i);
    if (only_collectives && (p2p || (ops.group[i] < 0 && !is_gpu))) continue;
    std::string_view group_name;
    std::int32_t group_ranks = 0;
    if (ops.group[i] >= 0) {
      const auto group = static_cast<std::size_t>(ops.group[i]);
      group_name = BareGroupName(trace.strings.View(trace.comm_groups.name[group]));
      group_ranks = trace.comm_groups.ranks[group];
    }
    part.rows.push_back({.group = numbers.Of(group_name),
                         .name = numbers.Of(NameOf(trace, i)),
                         .type = numbers.Of(OperatorTypeOf(trace, i)),
                         .data_type = numbers.Of(trace.strings.View(ops.data_type[i])),
                         .start = ops.start[i],
                         .dur = ops.dur[i],
                         .count = ops.count[i],
                         .operation = static_cast<std::int32_t>(i),
                         .step = -1,
                         .group_ranks = group_ranks,
                         .p2p = p2p});
  }
  return part;
}

}  // namespace

RankRuns CommunicationRuns(const RankTrace& trace) { return RunsOfTrace(trace, false); }

RankRuns CollectiveRuns(const RankTrace& trace) { return RunsOfTrace(trace, true); }

}  // namespace mpa

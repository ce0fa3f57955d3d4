// SPDX-License-Identifier: Apache-2.0
#include "sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/measure/collectives.h"
#include "mpa/report/report.h"

namespace mpa::recipes::communication {
namespace {

bool IsSum(const std::string& name) {
  return name.starts_with("Total") || name.starts_with("total");
}

using Sizes = std::map<LinkKind, std::vector<double>>;

Sizes SizesOf(const CommunicationOp& op) {
  Sizes sizes;
  for (const auto& [kind, use] : op.links) {
    for (auto size = use.sizes.rbegin(); size != use.sizes.rend(); ++size) {
      sizes[kind].push_back(size->first);
    }
  }
  return sizes;
}

void AddNew(const Sizes& sizes, Sizes& all) {
  for (const auto& [kind, of_kind] : sizes) {
    std::vector<double>& known = all[kind];
    for (const double size : of_kind) {
      if (std::ranges::find(known, size) == known.end()) known.push_back(size);
    }
  }
}

void Finish(CommunicationOp& total) {
  total.time.wait_ratio = RatioOf(total.time.wait, total.time.wait + total.time.transit);
  total.time.synchronization_ratio =
      RatioOf(total.time.synchronization, total.time.synchronization + total.time.transit);
  for (auto& [kind, use] : total.links) use.bandwidth = RatioOf(use.megabytes, use.milliseconds);
}

// The number in the job of each rank of a group by its number in the group. Self links tell some:
// only the rank itself has one. The metadata tells the rest: a group's ranks are numbered in the
// order of the job.
class GlobalRanks {
 public:
  GlobalRanks(const Ranks& ranks, const std::vector<Group>& groups) {
    for (const auto& [rank, part] : ranks) {
      for (const CommunicationStep& step : part.steps) {
        for (const auto* matrix : {&step.collective_matrix, &step.p2p_matrix}) {
          for (const MatrixEntry& entry : *matrix) {
            if (entry.source != entry.destination) continue;
            const auto [found, is_new] = ranks_[entry.group].try_emplace(entry.source, rank);
            if (!is_new && found->second != rank) {
              contradictions_.insert(fmt::format("{} of group {}", entry.source, entry.group));
            }
          }
        }
      }
    }
    for (const Group& group : groups) {
      if (group.id.empty()) continue;
      std::int64_t local = 0;
      for (const RankId rank : group.ranks) ranks_[group.name].try_emplace(local++, rank);
    }
  }

  RankId Of(const std::string& group, std::int64_t local) const {
    const auto ranks = ranks_.find(group);
    if (ranks == ranks_.end()) return {};
    const auto rank = ranks->second.find(local);
    return rank != ranks->second.end() ? rank->second : RankId();
  }
  // Group and number in it that two ranks have a self link for.
  const std::set<std::string>& Contradictions() const { return contradictions_; }

 private:
  std::map<std::string, std::map<std::int64_t, RankId>> ranks_;
  std::set<std::string> contradictions_;
};

}  // namespace

double RatioOf(double part, double whole) {
  constexpr double kNothing = 1e-15;
  return whole < kNothing ? 0 : Rounded(part / whole, 4);
}

std::vector<RankOp> TotalsOf(const std::vector<RankOp>& ops, const std::set<std::string>& apart) {
  std::map<std::tuple<std::string, RankId, std::string, bool>, RankOp> totals;
  for (const RankOp& op : ops) {
    const bool p2p = op.p2p && apart.contains(op.op.group);
    RankOp& total = totals[{op.step, op.rank, op.op.group, p2p}];
    total.op.Add(op.op);
    AddNew(op.sizes, total.sizes);
  }
  std::vector<RankOp> listed;
  for (auto& [key, total] : totals) {
    std::tie(total.step, total.rank, total.op.group, total.p2p) = key;
    total.op.name = kTotal;
    Finish(total.op);
    listed.push_back(std::move(total));
  }
  return listed;
}

OpSums SumOps(const Ranks& ranks) {
  OpSums sums;
  for (const auto& [rank, part] : ranks) {
    for (const CommunicationStep& step : part.steps) {
      for (const auto* ops : {&step.p2p, &step.collective}) {
        for (const CommunicationOp& op : *ops) {
          if (IsSum(op.name) || op.group.empty()) continue;
          sums.ops.push_back({step.step, rank, op, SizesOf(op), ops == &step.p2p});
        }
      }
    }
  }
  sums.totals = TotalsOf(sums.ops, {});
  return sums;
}

LinkSums SumLinks(const Ranks& ranks, const std::vector<Group>& groups) {
  const GlobalRanks global(ranks, groups);
  LinkSums sums;
  using Key = std::tuple<std::string, bool, std::string, std::string, std::int64_t, std::int64_t>;
  std::map<Key, std::size_t> place, total_place;
  std::set<std::string> unknown;
  for (const auto& [id, part] : ranks) {
    for (const CommunicationStep& step : part.steps) {
      for (const bool p2p : {true, false}) {
        for (const MatrixEntry& entry : p2p ? step.p2p_matrix : step.collective_matrix) {
          if (IsSum(entry.name)) continue;
          const RankId source = global.Of(entry.group, entry.source);
          const RankId destination = global.Of(entry.group, entry.destination);
          for (const auto& [local, known] :
               {std::pair{entry.source, source}, {entry.destination, destination}}) {
            if (known < 0) unknown.insert(fmt::format("{} of group {}", local, entry.group));
          }
          const auto add = [&](std::map<Key, std::size_t>& places, std::vector<RankLink>& list,
                               const std::string& name) {
            const auto [found, is_new] = places.try_emplace(
                {step.step, p2p, name, entry.group, entry.source, entry.destination}, list.size());
            if (is_new) {
              list.push_back({.step = step.step,
                              .name = name,
                              .group = entry.group,
                              .p2p = p2p,
                              .source = source,
                              .destination = destination,
                              .source_in_group = entry.source,
                              .destination_in_group = entry.destination,
                              .transport = entry.transport,
                              .op = entry.op});
            }
            RankLink& link = list[found->second];
            link.megabytes += entry.megabytes;
            link.milliseconds += entry.milliseconds;
          };
          add(place, sums.links, entry.name);
          if (entry.name.find("total") != std::string::npos) add(total_place, sums.totals, kTotal);
        }
      }
    }
  }
  for (const std::string& end : unknown) {
    sums.notes.push_back(fmt::format(
        "links of rank {} are listed under that number: no metadata gives its rank in the job",
        end));
  }
  for (const std::string& end : global.Contradictions()) {
    sums.notes.push_back(fmt::format("two captures claim rank {}; the first counts", end));
  }
  return sums;
}

std::vector<Group> FindGroups(const Ranks& ranks) {
  std::map<std::pair<bool, std::string>, Group> groups;
  JobGroups of_job;
  for (const auto& [rank, part] : ranks) {
    const auto add = [&, id = rank](const auto& entries, bool p2p) {
      for (const auto& entry : entries) {
        if (!entry.group.empty()) groups[{p2p, entry.group}].seen.insert(id);
      }
    };
    const auto add_links = [&](const std::vector<MatrixEntry>& entries, bool p2p) {
      add(entries, p2p);
      for (const MatrixEntry& entry : entries) {
        const RankId last = std::max(entry.source, entry.destination);
        if (entry.group.empty() || !last.IsNumber()) continue;
        Group& group = groups[{p2p, entry.group}];
        group.size = std::max(group.size, static_cast<std::size_t>(last.Number()) + 1);
      }
    };
    for (const CommunicationStep& step : part.steps) {
      add(step.collective, false);
      add(step.p2p, true);
      add_links(step.collective_matrix, false);
      add_links(step.p2p_matrix, true);
    }
    for (const std::string& group : part.groups) groups[{false, group}].seen.insert(rank);
    of_job.Add(part.job.groups);
  }
  std::vector<Group> found;
  for (auto& [key, group] : groups) {
    group.p2p = key.first;
    group.name = key.second;
    group.ranks = group.seen;
    if (const JobGroup* known = of_job.OfHash(group.name)) {
      group.id = known->id;
      group.process_group = known->name;
      if (!known->ranks.empty()) {
        group.ranks = {known->ranks.begin(), known->ranks.end()};
        group.size = 0;
      }
    }
    group.size = std::max(group.size, group.ranks.size());
    found.push_back(std::move(group));
  }
  return found;
}

std::string RankSetText(const std::set<RankId>& ranks) {
  return fmt::format("({})", RankNames(ranks, ","));
}

std::string RankTupleText(const std::set<RankId>& ranks) {
  return fmt::format("({}{})", RankNames(ranks, ", "), ranks.size() == 1 ? "," : "");
}

}  // namespace mpa::recipes::communication

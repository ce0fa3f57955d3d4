// SPDX-License-Identifier: Apache-2.0
#include "sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/measure/collectives.h"
#include "mpa/report/report.h"

namespace mpa::recipes::communication {
namespace {

bool IsSum(const std::string& name) {
  return name.starts_with("Total") || name.starts_with("total");
}

PacketSizes SizesOf(const CommunicationOp& op) {
  PacketSizes sizes;
  for (const auto& [kind, use] : op.links) {
    for (auto size = use.sizes.rbegin(); size != use.sizes.rend(); ++size) {
      sizes[kind].push_back(size->first);
    }
  }
  return sizes;
}

void AddNew(const PacketSizes& sizes, PacketSizes& all) {
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
      for (const StepPart& step : part.steps) {
        for (const auto* matrix : {&step.collective_matrix, &step.p2p_matrix}) {
          for (const LinkPart& entry : *matrix) {
            if (entry.source != entry.destination) continue;
            const std::string& group = part.Text(entry.group);
            const auto [found, is_new] = ranks_[group].try_emplace(entry.source, rank);
            if (!is_new && found->second != rank) {
              contradictions_.insert(fmt::format("{} of group {}", entry.source, group));
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

void KeepSteps(const std::vector<CommunicationStep>& steps, Part& part) {
  std::map<std::string_view, std::uint32_t> places;
  const auto keep = [&](std::string_view text) {
    const auto [place, is_new] =
        places.try_emplace(text, static_cast<std::uint32_t>(part.texts.size()));
    if (is_new) part.texts.emplace_back(text);
    return place->second;
  };
  const auto links_of = [&](const std::vector<MatrixEntry>& entries) {
    std::vector<LinkPart> links;
    links.reserve(entries.size());
    for (const MatrixEntry& entry : entries) {
      links.push_back({keep(entry.name), keep(entry.group), keep(entry.transport), keep(entry.op),
                       entry.source, entry.destination, entry.megabytes, entry.milliseconds});
    }
    return links;
  };
  for (const CommunicationStep& step : steps) {
    part.steps.push_back({step.step, step.p2p, step.collective, links_of(step.p2p_matrix),
                          links_of(step.collective_matrix)});
  }
}

void CheckSteps(const Part& part) {
  for (const StepPart& step : part.steps) {
    for (const auto* links : {&step.p2p_matrix, &step.collective_matrix}) {
      for (const LinkPart& link : *links) {
        if (std::max({link.name, link.group, link.transport, link.op}) >= part.texts.size())
          Fail(ErrorKind::kCorrupt, "a link has a text that is not there");
      }
    }
  }
}

double RatioOf(double part, double whole) {
  constexpr double kNothing = 1e-15;
  return whole < kNothing ? 0 : Rounded(part / whole, 4);
}

PacketSizes RankOp::Sizes() const { return sizes != nullptr ? *sizes : SizesOf(*op); }

RankTotals TotalsOf(const std::vector<RankOp>& ops, const std::set<std::string>& apart) {
  using Key = std::tuple<std::string_view, RankId, std::string_view, bool>;
  RankTotals totals;
  std::map<Key, std::pair<CommunicationOp, PacketSizes>*> places;
  for (const RankOp& op : ops) {
    const bool p2p = op.p2p && apart.contains(op.op->group);
    auto*& total = places[{op.step, op.rank, op.op->group, p2p}];
    if (total == nullptr) {
      total = &totals.sums.emplace_back();
      total->first.name = kTotal;
      total->first.group = op.op->group;
    }
    total->first.Add(*op.op);
    AddNew(op.Sizes(), total->second);
  }
  for (const auto& [key, total] : places) {
    const auto& [step, rank, group, p2p] = key;
    Finish(total->first);
    totals.listed.push_back({step, rank, &total->first, &total->second, p2p});
  }
  return totals;
}

OpSums SumOps(const Ranks& ranks) {
  OpSums sums;
  for (const auto& [rank, part] : ranks) {
    for (const StepPart& step : part.steps) {
      for (const auto* ops : {&step.p2p, &step.collective}) {
        for (const CommunicationOp& op : *ops) {
          if (IsSum(op.name) || op.group.empty()) continue;
          sums.ops.push_back({step.step, rank, &op, nullptr, ops == &step.p2p});
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
  using Key = std::tuple<std::string_view, bool, std::string_view, std::string_view, std::int64_t,
                         std::int64_t>;
  std::map<Key, std::size_t> place, total_place;
  std::set<std::string> unknown;
  for (const OfRank<Part>& rank : ranks) {
    const Part& part = rank.part;
    for (const StepPart& step : part.steps) {
      for (const bool p2p : {true, false}) {
        for (const LinkPart& entry : p2p ? step.p2p_matrix : step.collective_matrix) {
          const std::string &entry_name = part.Text(entry.name), &group = part.Text(entry.group);
          if (IsSum(entry_name)) continue;
          const RankId source = global.Of(group, entry.source);
          const RankId destination = global.Of(group, entry.destination);
          for (const auto& [local, known] :
               {std::pair{entry.source, source}, {entry.destination, destination}}) {
            if (known < 0) unknown.insert(fmt::format("{} of group {}", local, group));
          }
          const auto add = [&](std::map<Key, std::size_t>& places, std::vector<RankLink>& list,
                               std::string_view name) {
            const auto [found, is_new] = places.try_emplace(
                {step.step, p2p, name, group, entry.source, entry.destination}, list.size());
            if (is_new) {
              list.push_back({.step = step.step,
                              .name = name,
                              .group = group,
                              .p2p = p2p,
                              .source = source,
                              .destination = destination,
                              .source_in_group = entry.source,
                              .destination_in_group = entry.destination,
                              .transport = part.Text(entry.transport),
                              .op = part.Text(entry.op)});
            }
            RankLink& link = list[found->second];
            link.megabytes += entry.megabytes;
            link.milliseconds += entry.milliseconds;
          };
          add(place, sums.links, entry_name);
          if (entry_name.find("total") != std::string::npos) add(total_place, sums.totals, kTotal);
        }
      }
    }
  }
  for (const std::string& end : unknown) {
    sums.notes.push_back(
        Say("links of rank {} are listed under that number: no metadata gives its rank in the job",
            end));
  }
  for (const std::string& end : global.Contradictions()) {
    sums.notes.push_back(Say("two captures claim rank {}; the first counts", end));
  }
  return sums;
}

std::vector<Group> FindGroups(const Ranks& ranks) {
  std::map<std::pair<bool, std::string>, Group> groups;
  JobGroups of_job;
  for (const OfRank<Part>& of_rank : ranks) {
    const auto& [rank, part] = of_rank;
    const auto see = [&](const std::string& name, bool p2p) -> Group* {
      if (name.empty()) return nullptr;
      Group& group = groups[{p2p, name}];
      group.seen.insert(of_rank.rank);
      return &group;
    };
    const auto add = [&](const std::vector<CommunicationOp>& ops, bool p2p) {
      for (const CommunicationOp& op : ops) see(op.group, p2p);
    };
    const auto add_links = [&](const std::vector<LinkPart>& entries, bool p2p) {
      for (const LinkPart& entry : entries) {
        Group* group = see(of_rank.part.Text(entry.group), p2p);
        const RankId last = std::max(entry.source, entry.destination);
        if (group != nullptr && last.IsNumber())
          group->size = std::max(group->size, static_cast<std::size_t>(last.Number()) + 1);
      }
    };
    for (const StepPart& step : part.steps) {
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

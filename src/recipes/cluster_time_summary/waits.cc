// SPDX-License-Identifier: Apache-2.0
#include "waits.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "mpa/base/error.h"

namespace mpa::time_summary {
namespace {

// A run in numbers that all ranks share.
struct SharedRun {
  std::uint32_t group = 0, name = 0;
  std::int32_t step = 0;
  std::uint32_t occurrence = 0, rank = 0;
  const CommunicationRun* run = nullptr;

  auto Operator() const { return std::tie(group, name, step, occurrence); }
};

class RunCollector {
 public:
  void Add(std::uint32_t rank, const TimesOfRank& part) {
    std::vector<std::uint32_t> number_of;
    number_of.reserve(part.texts.size());
    for (const std::string& text : part.texts) {
      number_of.push_back(
          numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size())).first->second);
    }
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::uint32_t> seen;
    for (const CommunicationRun& run : part.runs) {
      if (std::max(run.group, run.name) >= number_of.size()) {
        Fail(ErrorKind::kCorrupt, "the part of a rank names a text that it does not hold");
      }
      const std::uint32_t group = number_of[run.group], name = number_of[run.name];
      runs_.push_back({group, name, run.step, seen[{group, name, run.step}]++, rank, &run});
      if (seen_groups_.insert({group, rank}).second) ++ranks_of_group_[group];
    }
  }

  // In order of operator, then rank.
  std::vector<SharedRun> Take() {
    std::sort(runs_.begin(), runs_.end(), [](const SharedRun& a, const SharedRun& b) {
      return std::tuple_cat(a.Operator(), std::tie(a.rank)) <
             std::tuple_cat(b.Operator(), std::tie(b.rank));
    });
    return std::move(runs_);
  }

  // How many ranks have to have the operator: those of the group, or where no capture tells them
  // those that used it at all.
  std::size_t Expected(const SharedRun& run) const {
    if (run.run->ranks > 0) return static_cast<std::size_t>(run.run->ranks);
    return ranks_of_group_.at(run.group);
  }

 private:
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::vector<SharedRun> runs_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_groups_;
  std::unordered_map<std::uint32_t, std::size_t> ranks_of_group_;
};

}  // namespace

std::vector<WaitsOfRank> FindWaits(const Ranks& ranks) {
  RunCollector collector;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) collector.Add(rank, ranks[rank].part);
  const std::vector<SharedRun> runs = collector.Take();
  std::vector<WaitsOfRank> waits(ranks.size());
  for (auto first = runs.begin(); first != runs.end();) {
    TimeNs shortest = first->run->dur;
    auto last = first;
    for (; last != runs.end() && last->Operator() == first->Operator(); ++last) {
      shortest = std::min(shortest, last->run->dur);
    }
    const auto members = static_cast<std::size_t>(last - first);
    const bool complete = first->run->p2p || members >= collector.Expected(*first);
    for (; first != last; ++first) {
      Waits& of_rank = waits[first->rank][first->step];
      if (!complete) {
        ++of_rank.left_out;
        continue;
      }
      ++of_rank.counted;
      of_rank.wait += first->run->dur - shortest;
      of_rank.transmit += shortest;
    }
  }
  return waits;
}

}  // namespace mpa::time_summary

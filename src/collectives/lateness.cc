// SPDX-License-Identifier: Apache-2.0
#include "mpa/collectives/lateness.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/collectives/arrivals.h"
#include "mpa/measure/collective_phases.h"
#include "mpa/report/amount.h"

namespace mpa {
namespace {

LatenessLimits LimitsOf(const JobCollectives& ranks) {
  LatenessLimits limits;
  TimeNs longest = 0;
  if (ranks.empty()) return limits;
  for (const RankCollectives& rank : ranks) longest = std::max(longest, rank.longest_step);
  constexpr TimeNs kShareOfStep = 50;
  limits.least = std::max(limits.least, longest / kShareOfStep);
  std::set<std::int32_t> steps;
  for (const RankRuns::Row& row : ranks.front().get().runs.rows) steps.insert(row.step);
  limits.least_of_habit =
      limits.least * static_cast<TimeNs>(std::max<std::size_t>(1, steps.size()));
  return limits;
}

class LatenessFinder {
 public:
  explicit LatenessFinder(const JobCollectives& ranks) : ranks_(ranks), limits_(LimitsOf(ranks)) {
    result_.captured = ranks.size();
    result_.of_job = CountRanksOfJob(ranks);
    result_.instances = JoinInstances(ranks);
    result_.clocks = clocks_ = AlignClocks(ranks, result_.instances);
    result_.doubts = FindClockDoubts(ranks, clocks_);
    std::map<RankId, TimeNs> doubts;
    for (const ClockDoubt& doubt : result_.doubts) {
      for (const RankId rank : {doubt.first, doubt.second})
        doubts[rank] = std::max(doubts[rank], doubt.residual);
    }
    for (const RankCollectives& rank : ranks) {
      const auto found = doubts.find(rank.rank);
      doubt_of_rank_.push_back(found == doubts.end() ? 0 : found->second);
    }
    for (RankClock& clock : clocks_.clocks) {
      // A wider spread does not measure the clocks: each instance is compared by its own ends.
      constexpr TimeNs kMaxSpread = 1'000'000;
      clock.known = clock.known && clock.sigma <= kMaxSpread;
      if (clock.known) tolerance_ = std::max(tolerance_, 3 * clock.sigma);
    }
  }

  Lateness Find() && {
    const ArrivalFinder arrivals(ranks_, clocks_);
    UncapturedFinder finder(ranks_, clocks_, limits_);
    for (const CollectiveInstance& instance : result_.instances) {
      const InstanceArrivals of_instance = arrivals.Of(instance);
      finder.Add(instance, of_instance);
      JudgeCaptured(instance, of_instance, result_.of_instance.emplace_back());
    }
    std::vector<UncapturedMembers> uncaptured = std::move(finder).Found();
    for (std::size_t i = 0; i < result_.instances.size(); ++i) {
      InstanceLateness& found = result_.of_instance[i];
      if (!uncaptured[i].late.empty()) found = {true, std::move(uncaptured[i].late)};
      if (result_.instances[i].is_barrier) ++(found.known ? result_.known : result_.unknown);
      Add(i, found);
    }
    for (auto& [key, ranks] : late_) result_.ranks.push_back(std::move(ranks));
    StableSort(result_.ranks, [](const LateRanks& a, const LateRanks& b) {
      return std::pair{a.as_last, a.sum} > std::pair{b.as_last, b.sum};
    });
    return std::move(result_);
  }

 private:
  void JudgeCaptured(const CollectiveInstance& instance, const InstanceArrivals& arrivals,
                     InstanceLateness& found) const {
    found.known = arrivals.all.size() > 1 && instance.is_barrier && IsOne(instance, arrivals) &&
                  (IsComplete(instance, arrivals) || SawNobodyLater(instance));
    if (!found.known) return;
    // Lateness that the clocks do not show is nothing as long as it is little.
    const TimeNs unsure = std::max(tolerance_, DoubtOf(instance));
    LateMembers late;
    for (const LateMembers& next : FindLateMembers(arrivals, kArrivalTolerance + 1, true)) {
      if (late.ranks.empty())
        late = {.ranks = {}, .time = next.time, .before = 0, .captured = true};
      late.ranks.insert(late.ranks.end(), next.ranks.begin(), next.ranks.end());
      late.before = next.before;
      late.captured = late.captured && next.captured;
      if (next.Behind() <= unsure) {
        found.known = found.known && next.Behind() < limits_.least;
      } else if (found.late.empty() || next.Behind() >= limits_.least) {
        std::ranges::sort(late.ranks);
        found.late.push_back(std::exchange(late, {}));
      }
    }
    if (!found.late.empty()) found.known = true;
  }

  // Without groups, runs of two of them may have been taken for one instance.
  bool IsOne(const CollectiveInstance& instance, const InstanceArrivals& arrivals) const {
    constexpr TimeNs kTogether = 100'000;
    const auto is_known = [&](const CollectiveInstance::Member& member) {
      return clocks_.clocks[member.rank].known;
    };
    return !instance.group.empty() ||
           (arrivals.apart <= kTogether && std::ranges::all_of(instance.members, is_known));
  }

  // Every member was captured, or others saw it come.
  bool IsComplete(const CollectiveInstance& instance, const InstanceArrivals& arrivals) const {
    std::size_t members = instance.of_group.size();
    for (const CollectiveInstance::Member& member : instance.members) {
      const RankRuns::Row& row = ranks_[member.rank].get().runs.rows[member.row];
      members = std::max(members, static_cast<std::size_t>(std::max(0, row.group_ranks)));
    }
    if (members == 0) members = result_.of_job;
    return arrivals.all.size() >= members;
  }

  // A captured member did not wait, so nobody came after it.
  bool SawNobodyLater(const CollectiveInstance& instance) const {
    return std::ranges::any_of(instance.members, [&](const auto& member) {
      const RankCollectives& rank = ranks_[member.rank];
      const LastArrival& last = rank.last[member.row];
      return last.known && last.time <= rank.runs.rows[member.row].start + tolerance_;
    });
  }

  // Clocks that contradict each other do not show who came last by less.
  TimeNs DoubtOf(const CollectiveInstance& instance) const {
    TimeNs most = 0;
    for (const CollectiveInstance::Member& member : instance.members)
      most = std::max(most, doubt_of_rank_[member.rank]);
    return most;
  }

  void Add(std::size_t number, const InstanceLateness& found) {
    for (const LateMembers& members : found.late) {
      LateRanks& late = late_[{members.captured, members.ranks}];
      late.ranks = members.ranks;
      late.captured = members.captured;
      ++late.times;
      late.sum += members.Behind();
      if (&members == &found.late.front()) {
        late.as_last += members.Behind();
        ++late.times_last;
      }
      if (members.Behind() <= late.most) continue;
      late.most = members.Behind();
      late.worst = number;
    }
  }

  const JobCollectives& ranks_;
  const LatenessLimits limits_;
  RankClocks clocks_;
  std::vector<TimeNs> doubt_of_rank_;
  TimeNs tolerance_ = kArrivalTolerance;
  std::map<std::pair<bool, std::vector<RankId>>, LateRanks> late_;
  Lateness result_;
};

}  // namespace

bool Lateness::IsPartial() const {
  return of_job > captured ||
         std::ranges::any_of(ranks, [](const LateRanks& late) { return !late.captured; });
}

std::optional<std::size_t> FindInstance(const Lateness& lateness, const JobCollectives& ranks,
                                        RankIndex rank, std::int32_t operation) {
  for (std::size_t i = 0; i < lateness.instances.size(); ++i) {
    for (const CollectiveInstance::Member& member : lateness.instances[i].members) {
      if (member.rank == rank && ranks[rank].get().runs.rows[member.row].operation == operation)
        return i;
    }
  }
  return std::nullopt;
}

Lateness FindLateness(const JobCollectives& ranks, const AbsentRanks& absent) {
  Lateness lateness = LatenessFinder(ranks).Find();
  lateness.absent = absent;
  // Some may have come together with ranks that were not captured.
  for (const LateRanks& late : lateness.ranks) {
    for (const RankCollectives& rank : ranks) {
      if (!late.captured && std::ranges::find(late.ranks, rank.rank) != late.ranks.end())
        lateness.absent.Add(rank.rank, RankState::kCaptured);
    }
  }
  return lateness;
}

// What screens say of late ranks.

namespace {

std::string TimeText(TimeNs time) { return AmountText(Quantity::kTime, time); }

// The members before the late ones.
std::string_view BeforeText(const Lateness& lateness, const LateRanks& late) {
  if (late.ranks.empty()) return Translated("the captured ranks");
  const bool was_last = lateness.of_instance[late.worst].late.front().ranks == late.ranks;
  if (was_last) return Translated("the second-to-last rank");
  return Translated(late.ranks.size() == 1 ? "the ranks before it" : "the ranks before them");
}

void AddLateRanks(const Lateness& lateness, const LateRanks& late, ScreenLines& lines) {
  const std::string name = Printable(lateness.instances[late.worst].name);
  const std::string sum = LateSumText(late);
  lines.push_back("  " + LateArrivalText(lateness, late));
  lines.push_back(
      fmt::format("    {}{}{}", ShortenName(name, NameColumns(42)), sum.empty() ? "" : "; ", sum));
}

}  // namespace

std::string CoverageText(std::size_t analysed, std::size_t of_job, const AbsentRanks& absent) {
  if (of_job <= analysed) return "";
  const std::string states = absent.Counts();
  const std::string of_all = Counted(static_cast<std::int64_t>(of_job), "rank");
  return states.empty() ? Say("{} of {} captured", analysed, of_all)
                        : Say("{} of {} read ({})", analysed, of_all, states);
}

std::string CoverageText(const Lateness& lateness) {
  if (!lateness.IsPartial()) return "";
  if (lateness.of_job > lateness.captured)
    return CoverageText(lateness.captured, lateness.of_job, lateness.absent);
  const std::string ranks = Counted(static_cast<std::int64_t>(lateness.captured), "rank");
  return lateness.absent.AnyCaptured() ? Say("{} read, not all of the job", ranks)
                                       : Say("{} captured, not all of the job", ranks);
}

std::string LateRanksText(const std::vector<RankId>& ranks, bool captured,
                          const AbsentRanks& absent) {
  return captured && !ranks.empty() ? RankList(ranks).Text() : absent.Named(ranks);
}

std::string LateStateText(const std::vector<RankId>& ranks, bool captured,
                          const AbsentRanks& absent) {
  return captured ? std::string(NameOf(RankState::kCaptured)) : absent.Text(ranks);
}

std::string LateArrivalText(const Lateness& lateness, const LateRanks& late) {
  return Say("{} arrived {} after {}", LateRanksText(late.ranks, late.captured, lateness.absent),
             TimeText(late.most), BeforeText(lateness, late));
}

std::string LateSumText(const LateRanks& late) {
  if (late.times == 1) return "";
  return Say("{} late in {}", TimeText(late.sum), Counted(late.times, "collective"));
}

std::string ClockDoubtText(const Lateness& lateness) {
  if (lateness.doubts.empty()) return "";
  const ClockDoubt& most = *std::ranges::max_element(lateness.doubts, {}, &ClockDoubt::residual);
  return Say("the clocks of ranks {} and {} contradict each other by {}", RankName(most.first),
             RankName(most.second), TimeText(most.residual));
}

void AddClockLines(const Lateness& lateness, ScreenLines& lines) {
  const std::string doubt = ClockDoubtText(lateness);
  if (doubt.empty()) return;
  lines.push_back(doubt + ":");
  lines.push_back(fmt::format("  {}", Translated(kDoubtMeans)));
}

void AddLatenessLines(const Lateness& lateness, std::size_t most, ScreenLines& lines,
                      const std::function<bool(const LateRanks&)>& tells) {
  if (const std::string coverage = CoverageText(lateness); !coverage.empty())
    lines.push_back(coverage);
  std::vector<const LateRanks*> told;
  for (const LateRanks& late : lateness.ranks) {
    if (!tells || tells(late)) told.push_back(&late);
  }
  const std::string collectives = Counted(lateness.known, "collective");
  if (!told.empty()) {
    lines.push_back(Say("late ranks in {}:", collectives));
    const std::size_t shown = std::min(most, told.size());
    for (std::size_t i = 0; i < shown; ++i) AddLateRanks(lateness, *told[i], lines);
    if (shown < told.size()) lines.push_back(Say("  ... and {} more", told.size() - shown));
  } else if (lateness.known > 0 && lateness.ranks.empty()) {
    lines.push_back(Say("no rank came late to {}", collectives));
  }
  if (lateness.unknown > 0) {
    lines.push_back(
        Say("{}: it is unknown which rank came last", Counted(lateness.unknown, "collective")));
  }
  AddClockLines(lateness, lines);
}

}  // namespace mpa

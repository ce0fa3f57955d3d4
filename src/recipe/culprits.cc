// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/culprits.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "mpa/base/error.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/collectives/check_collectives.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/host_timeline.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

// Ranks whose cost differs by less than this ratio hold up the job together.
constexpr double kAlikeCost = 1.35;
// A stage of the pipeline has too many layers from this multiple of the mean on.
constexpr double kStageOfMean = 1.05;

// Of the mean counted step.
struct MeanLoad {
  RankId rank;
  std::size_t stage = 0;
  TimeNs length = 0, computing = 0, communication = 0, copies = 0, free = 0, waiting = -1;
  std::array<TimeNs, kTimeCategories> kinds{};
  const RankLoad* load = nullptr;

  TimeNs Of(LatePart part) const {
    return part == LatePart::kFree ? free : part == LatePart::kCopies ? copies : computing;
  }
};

TimeNs LowerQuartile(std::vector<TimeNs> values) {
  return ValueAtPosition(values, PercentileIndexAbove(values.size(), 25));
}
TimeNs UpperQuartile(std::vector<TimeNs> values) {
  return ValueAtPosition(values, PercentileIndexAbove(values.size(), 75));
}

template <typename Value>
std::vector<TimeNs> ValuesOf(const std::vector<const MeanLoad*>& ranks, Value value) {
  std::vector<TimeNs> values;
  values.reserve(ranks.size());
  for (const MeanLoad* rank : ranks) values.push_back(std::invoke(value, *rank));
  return values;
}

std::size_t StageOf(const RankCollectives& collectives, RankId rank) {
  const auto pipeline = std::ranges::find(collectives.groups, "pp", &JobGroup::name);
  if (pipeline == collectives.groups.end()) return 0;
  const auto place = std::ranges::find(pipeline->ranks, rank);
  if (place == pipeline->ranks.end()) return 0;
  return static_cast<std::size_t>(place - pipeline->ranks.begin());
}

MeanLoad MeanOf(const LoadedRank& of, const std::optional<std::int32_t>& warm_up) {
  MeanLoad mean;
  mean.rank = of.rank;
  mean.stage = StageOf(of.load.collectives, of.rank);
  mean.load = &of.load;
  TimeNs count = 0, waiting = 0;
  bool knows_waits = true;
  for (const StepLoad& step : of.load.steps) {
    if (warm_up && step.step == *warm_up) continue;
    ++count;
    mean.length += step.length;
    mean.computing += step.computing;
    mean.communication += step.communication;
    mean.copies += step.copies;
    mean.free += step.free;
    knows_waits = knows_waits && step.waiting >= 0;
    waiting += step.waiting;
    for (std::size_t i = 0; i < std::min(step.kinds.size(), kTimeCategories); ++i)
      mean.kinds[i] += step.kinds[i];
  }
  if (count == 0) return mean;
  for (TimeNs* time :
       {&mean.length, &mean.computing, &mean.communication, &mean.copies, &mean.free})
    *time /= count;
  for (TimeNs& time : mean.kinds) time /= count;
  mean.waiting = knows_waits ? waiting / count : -1;
  return mean;
}

std::optional<std::int32_t> WarmUpIn(const std::vector<LoadedRank>& ranks) {
  std::map<std::int32_t, TimeNs> longest;
  for (const LoadedRank& rank : ranks) {
    for (const StepLoad& step : rank.load.steps) {
      TimeNs& length = longest[step.step];
      length = std::max(length, step.length);
    }
  }
  std::vector<TimeNs> lengths;
  for (const auto& [step, length] : longest) lengths.push_back(length);
  if (!FirstStepIsWarmUp(lengths, std::vector<TimeNs>(lengths.size(), 0), ranks.size()))
    return std::nullopt;
  return longest.begin()->first;
}

// The collectives of all steps but one.
RankCollectives WithoutStep(const RankCollectives& all, std::int32_t step) {
  RankCollectives kept = all;
  kept.runs.rows.clear();
  kept.seen.clear();
  kept.last.clear();
  for (std::size_t row = 0; row < all.runs.rows.size(); ++row) {
    if (all.runs.rows[row].step == step) continue;
    kept.runs.rows.push_back(all.runs.rows[row]);
    kept.seen.push_back(all.seen[row]);
    kept.last.push_back(all.last[row]);
  }
  return kept;
}

Lateness LatenessOf(const std::vector<LoadedRank>& ranks, const AbsentRanks& absent,
                    const std::optional<std::int32_t>& warm_up) {
  std::vector<RankCollectives> counted;
  JobCollectives collectives;
  if (warm_up) {
    counted.reserve(ranks.size());
    for (const LoadedRank& rank : ranks)
      counted.push_back(WithoutStep(rank.load.collectives, *warm_up));
    collectives.assign(counted.begin(), counted.end());
  } else {
    for (const LoadedRank& rank : ranks) collectives.emplace_back(rank.load.collectives);
  }
  return FindLateness(collectives, absent);
}

class LoadJudge {
 public:
  LoadJudge(const std::vector<LoadedRank>& ranks, const AbsentRanks& absent,
            const std::optional<std::int32_t>& warm_up) {
    verdict_.lateness = LatenessOf(ranks, absent, warm_up);
    is_partial_ = verdict_.lateness.IsPartial();
    for (const LateRanks& late : verdict_.lateness.ranks) {
      if (!late.captured) continue;
      for (const RankId rank : late.ranks) behind_[rank] += late.as_last;
    }
    std::set<std::int32_t> steps;
    for (const LoadedRank& rank : ranks) {
      for (const StepLoad& step : rank.load.steps) steps.insert(step.step);
      means_.push_back(MeanOf(rank, warm_up));
    }
    if (warm_up) steps.erase(*warm_up);
    verdict_.steps = std::max<std::size_t>(1, steps.size());
    for (const MeanLoad& mean : means_) {
      verdict_.step = std::max(verdict_.step, mean.length);
      verdict_.waiting = std::max(verdict_.waiting, mean.waiting);
      if (mean.length > 0) stages_[mean.stage].push_back(&mean);
    }
    least_ = verdict_.LeastCost();
    verdict_.links = LinksOf(ranks);
  }

  JobVerdict Judge() && {
    verdict_.judged = verdict_.lateness.known > 0;
    for (const auto& [stage, ranks] : stages_) FindLate(ranks);
    FindHeavyStage();
    FindUncaptured();
    AddSlowLinks();
    StableSort(verdict_.culprits, std::greater{}, &Culprit::cost);
    return std::move(verdict_);
  }

 private:
  // Ranks of one role do the same work; what one of them does longer the others wait for. They wait
  // in communication, and not all captures tell that it is waiting.
  void FindLate(const std::vector<const MeanLoad*>& ranks) {
    if (ranks.size() < 2) return;
    verdict_.judged = true;
    const TimeNs longest = UpperQuartile(ValuesOf(ranks, &MeanLoad::communication));
    std::map<LatePart, TimeNs> usual;
    for (const LatePart part : {LatePart::kComputing, LatePart::kCopies, LatePart::kFree}) {
      usual[part] =
          LowerQuartile(ValuesOf(ranks, [part](const MeanLoad& of) { return of.Of(part); }));
    }
    std::vector<TimeNs> usual_of_kind;
    for (std::size_t kind = 0; kind < kTimeCategories; ++kind) {
      usual_of_kind.push_back(
          LowerQuartile(ValuesOf(ranks, [kind](const MeanLoad& of) { return of.kinds[kind]; })));
    }
    std::map<LatePart, std::vector<Culprit>> found;
    for (const MeanLoad* rank : ranks) {
      Culprit late{.ranks = {rank->rank}};
      TimeNs excess = 0, most = 0;
      for (const auto& [part, of_part] : usual) {
        const TimeNs over = std::max<TimeNs>(0, rank->Of(part) - of_part);
        excess += over;
        if (over <= most) continue;
        most = over;
        late.part = part;
        late.own = rank->Of(part);
        late.usual = of_part;
      }
      late.cost = std::min({excess, longest - rank->communication, MostLate(rank->rank)});
      if (most == 0 || late.cost < least_) continue;
      if (late.part == LatePart::kComputing) late.kind = LargestKind(*rank, usual_of_kind);
      found[late.part].push_back(std::move(late));
    }
    for (auto& [part, late] : found) AddAlike(std::move(late));
  }

  // Where ranks are missing, others may have come later still, or shortly before: nobody waited for
  // this one by more than it came behind all of them.
  TimeNs MostLate(RankId rank) const {
    if (!is_partial_) return verdict_.step;
    const auto found = behind_.find(rank);
    return found == behind_.end() ? 0 : found->second / static_cast<TimeNs>(verdict_.steps);
  }

  static std::string LargestKind(const MeanLoad& rank, const std::vector<TimeNs>& usual) {
    std::string largest;
    TimeNs most = 0;
    for (std::size_t kind = 0; kind < kTimeCategories; ++kind) {
      const TimeNs over = rank.kinds[kind] - usual[kind];
      if (over <= most) continue;
      most = over;
      largest = TitleOf(static_cast<TimeCategory>(kind));
    }
    return largest;
  }

  // Ranks that are about equally late are one culprit: mending one of them wins nothing.
  void AddAlike(std::vector<Culprit> late) {
    StableSort(late, std::greater{}, &Culprit::cost);
    for (std::size_t first = 0, next = 0; first < late.size(); first = next) {
      Culprit together = late[first];
      for (next = first + 1;
           next < late.size() && static_cast<double>(late[first].cost) <=
                                     kAlikeCost * static_cast<double>(late[next].cost);
           ++next)
        together.ranks.push_back(late[next].ranks.front());
      std::ranges::sort(together.ranks);
      verdict_.culprits.push_back(std::move(together));
    }
  }

  // How many kernels of each type a rank of the stage runs, at the mean.
  static std::map<std::string, double> KernelsOf(const std::vector<const MeanLoad*>& ranks) {
    std::map<std::string, double> counts;
    for (const MeanLoad* rank : ranks) {
      for (const auto& [type, count] : rank->load->kernels)
        counts[type] += static_cast<double>(count) / static_cast<double>(ranks.size());
    }
    return counts;
  }

  // The layers are what all stages have: the types of kernels that each of them runs, counted.
  void FindHeavyStage() {
    if (stages_.size() < 2) return;
    std::vector<std::map<std::string, double>> counts;
    for (const auto& [stage, ranks] : stages_) counts.push_back(KernelsOf(ranks));
    std::vector<std::vector<double>> ratios(counts.size());  // by stage, of the types that all have
    for (const auto& [type, first] : counts.front()) {
      double sum = 0;
      bool everywhere = true;
      for (const auto& of_stage : counts) {
        const auto found = of_stage.find(type);
        everywhere = everywhere && found != of_stage.end();
        sum += found == of_stage.end() ? 0 : found->second;
      }
      for (std::size_t stage = 0; everywhere && stage < counts.size(); ++stage)
        ratios[stage].push_back(counts[stage].at(type) * static_cast<double>(counts.size()) / sum);
    }
    if (ratios.front().empty()) return;
    std::size_t heaviest = 0, at = 0;
    double most = 0;
    TimeNs all = 0;
    for (std::vector<double>& of_stage : ratios) {
      const double ratio = Median(std::move(of_stage));
      if (ratio > most) {
        most = ratio;
        heaviest = at;
      }
      ++at;
    }
    const auto computing = [](const std::vector<const MeanLoad*>& ranks) {
      return Median(ValuesOf(ranks, &MeanLoad::computing));
    };
    for (const auto& [stage, ranks] : stages_) all += computing(ranks);
    const auto& ranks = std::next(stages_.begin(), static_cast<std::ptrdiff_t>(heaviest))->second;
    const TimeNs own = computing(ranks), mean = all / static_cast<TimeNs>(stages_.size());
    if (most < kStageOfMean || own - mean < least_) return;
    Culprit stage{
        .ranks = {}, .part = LatePart::kStage, .own = own, .usual = mean, .cost = own - mean};
    for (const MeanLoad* rank : ranks) stage.ranks.push_back(rank->rank);
    verdict_.culprits.push_back(std::move(stage));
  }

  // Operations that run at once wait for one delay, and no rank waits longer than it waits.
  void FindUncaptured() {
    for (const LateRanks& late : verdict_.lateness.ranks) {
      if (late.captured || late.times_last == 0) continue;
      TimeNs cost = late.as_last / static_cast<TimeNs>(verdict_.steps);
      if (verdict_.waiting >= 0) cost = std::min(cost, verdict_.waiting);
      if (cost >= least_)
        verdict_.culprits.push_back(
            {.ranks = late.ranks, .part = LatePart::kUnknown, .cost = cost});
    }
  }

  // Its speed shows that a link is slow; nothing has to be compared with noise.
  void AddSlowLinks() {
    for (const SlowLink& link : verdict_.links.slow) {
      if (link.cost < verdict_.step / 100) continue;
      verdict_.culprits.push_back({.ranks = {link.low, link.high},
                                   .part = LatePart::kLink,
                                   .cost = link.cost,
                                   .link = link});
    }
  }

  std::vector<MeanLoad> means_;
  std::map<std::size_t, std::vector<const MeanLoad*>> stages_;
  bool is_partial_ = false;
  std::map<RankId, TimeNs> behind_;  // how long each captured rank came last
  TimeNs least_ = 0;
  JobVerdict verdict_;
};

}  // namespace

bool JobVerdict::HoldUp(const std::vector<RankId>& ranks, bool captured) const {
  return std::ranges::any_of(culprits, [&](const Culprit& culprit) {
    if ((culprit.part == LatePart::kUnknown) == captured || culprit.link) return false;
    if (!captured) return culprit.ranks == ranks;
    return std::ranges::all_of(ranks, [&](RankId rank) {
      return std::ranges::find(culprit.ranks, rank) != culprit.ranks.end();
    });
  });
}

RankLoad LoadOfRank(const RankTrace& trace, const RankAccount& account,
                    const std::optional<std::int32_t>& step) {
  RankLoad load;
  load.collectives = CollectivesOfRank(trace, step);
  for (const StepAccount& of_step : account.steps) {
    if (!step || of_step.id == *step) load.steps.push_back(LoadOfStep(of_step));
  }
  std::vector<Interval> exposed;
  for (const Piece& piece : account.pieces) {
    if (IsCommunication(piece.category)) exposed.push_back({piece.begin, piece.end});
  }
  load.links = LinkSumsOf(trace, Union(std::move(exposed)));
  std::map<StringId, std::int64_t> kernels;
  for (const StringId type : trace.kernels.op_type) ++kernels[type];
  for (const auto& [type, count] : kernels)
    load.kernels.emplace_back(trace.strings.View(type), count);
  return load;
}

RankLoad LoadOfRank(const RankTrace& trace, const std::optional<std::int32_t>& step) {
  const RankTrace no_host;  // what the host did is not asked for
  return LoadOfRank(trace, AccountRank(trace, HostTimeline(no_host), {}), step);
}

StepLoad LoadOfStep(const StepAccount& account) {
  const CategoryTimes& categories = account.categories;
  StepLoad load;
  load.step = account.id;
  load.length = account.window.end - account.window.begin;
  load.computing = categories.SumOf(IsCompute);
  load.communication = categories.SumOf(IsCommunication);
  load.copies = categories.SumOf(IsDeviceCopy);
  load.free = categories.SumOf(IsFree);
  if (categories[TimeCategory::kUnsplit] == 0)
    load.waiting = categories[TimeCategory::kWaitPeer] + categories[TimeCategory::kBubble];
  for (std::size_t i = 0; IsCompute(static_cast<TimeCategory>(i)); ++i)
    load.kinds.push_back(categories[static_cast<TimeCategory>(i)]);
  return load;
}

void CheckLoad(const RankLoad& load) {
  CheckCollectives(load.collectives);
  const auto holds = [](const StepLoad& step) {
    bool all = step.waiting == -1 || IsDuration(step.waiting);
    for (const TimeNs time :
         {step.length, step.computing, step.communication, step.copies, step.free})
      all = all && IsDuration(time);
    return all && std::ranges::all_of(step.kinds, IsDuration);
  };
  if (!std::ranges::all_of(load.steps, holds))
    Fail(ErrorKind::kCorrupt, "a step has impossible times");
}

LinkSpeedsOfJob LinksOf(const std::vector<LoadedRank>& ranks) {
  std::vector<RankLinks> links;
  for (const LoadedRank& rank : ranks)
    links.push_back(
        {rank.rank, rank.load.links, rank.load.collectives.groups, rank.load.steps.size()});
  return FindSlowLinks(links);
}

JobVerdict JudgeLoads(const std::vector<LoadedRank>& ranks, const AbsentRanks& absent,
                      const std::optional<std::int32_t>& warm_up) {
  return LoadJudge(ranks, absent, warm_up ? warm_up : WarmUpIn(ranks)).Judge();
}

}  // namespace mpa

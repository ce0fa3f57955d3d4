// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/replay/what_if.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace mpa {
namespace {

using Removals = StepReplays::Removals;

// How many causes are tried in pairs, by the time they take alone: a bound of the work, since six
// make fifteen replays.
constexpr std::size_t kPaired = 6;

TimeNs Taken(const Removal& removal) {
  TimeNs sum = 0;
  for (const auto& node : removal.durations) sum += node.less;
  for (const auto& edge : removal.waits) sum += edge.less;
  return sum;
}

class Search {
 public:
  Search(StepReplays& replays, const std::vector<WhatIf>& causes, TimeNs least, TimeNs least_of_two)
      : replays_(replays),
        causes_(causes),
        least_(least),
        least_of_two_(least_of_two),
        open_(causes.size(), true) {
    for (const WhatIf& cause : causes) taken_.push_back(Taken(cause.expect));
  }

  Waterfall Run() && {
    now_ = result_.step = replays_.Time({});
    Causes all(causes_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    alone_ = GainsOf(EachOf(all));
    for (const bool opportunities : {false, true}) {
      while (TakeBest(opportunities) || TakePair(opportunities)) {
      }
    }
    result_.floor = now_;
    result_.alone = std::move(alone_);
    return std::move(result_);
  }

 private:
  using Causes = std::vector<std::size_t>;

  // Each by itself.
  static std::vector<Causes> EachOf(const Causes& causes) {
    std::vector<Causes> sets;
    for (const std::size_t cause : causes) sets.push_back({cause});
    return sets;
  }

  // What each of several sets of causes wins beyond what is made.
  std::vector<TimeNs> GainsOf(const std::vector<Causes>& sets) {
    std::vector<Removals> removals;
    for (const Causes& causes : sets) {
      Removals& of_set = removals.emplace_back();
      for (const std::size_t cause : causes) of_set.push_back(&causes_[cause].expect);
    }
    std::vector<TimeNs> gains = replays_.Times(made_, removals);
    for (TimeNs& gain : gains) gain = now_ - gain;
    return gains;
  }

  Causes OpenCauses(bool opportunities) const {
    Causes open;
    for (std::size_t i = 0; i < causes_.size(); ++i) {
      if (open_[i] && causes_[i].opportunity == opportunities) open.push_back(i);
    }
    return open;
  }

  bool TakeBest(bool opportunities) {
    const Causes open = OpenCauses(opportunities);
    std::vector<TimeNs> gains;
    if (made_.empty()) {
      for (const std::size_t cause : open) gains.push_back(alone_[cause]);
    } else {
      gains = GainsOf(EachOf(open));
    }
    std::optional<std::size_t> best;
    TimeNs most = least_ - 1;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (gains[i] <= most) continue;
      most = gains[i];
      best = open[i];
    }
    if (best.has_value()) Take(*best, false);
    return best.has_value();
  }

  // Of the causes that take most time, the two that win most together.
  bool TakePair(bool opportunities) {
    Causes largest = OpenCauses(opportunities);
    std::erase_if(largest, [&](std::size_t cause) { return taken_[cause] <= 0; });
    std::stable_sort(largest.begin(), largest.end(),
                     [&](std::size_t a, std::size_t b) { return taken_[a] > taken_[b]; });
    largest.resize(std::min(largest.size(), kPaired));
    std::vector<Causes> pairs;
    for (std::size_t a = 0; a < largest.size(); ++a) {
      for (std::size_t b = a + 1; b < largest.size(); ++b)
        pairs.push_back({largest[a], largest[b]});
    }
    const std::vector<TimeNs> gains = GainsOf(pairs);
    TimeNs most = least_of_two_ - 1;
    const Causes* best = nullptr;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (gains[i] <= most) continue;
      most = gains[i];
      best = &pairs[i];
    }
    if (best == nullptr) return false;
    Take((*best)[0], true);
    Take((*best)[1], false);
    return true;
  }

  void Take(std::size_t cause, bool with_next) {
    const WhatIf& what_if = causes_[cause];
    std::vector<Removals> sets = {{&what_if.expect}};
    if (Taken(what_if.bound) > 0) sets.push_back({&what_if.bound});
    const std::vector<TimeNs> times = replays_.Times(made_, sets);
    const TimeNs then = times.front(), most = now_ - times.back();
    result_.gains.push_back(
        {cause, now_ - then, alone_[cause], std::max(most, now_ - then), with_next});
    now_ = then;
    made_.push_back(&causes_[cause].expect);
    open_[cause] = false;
  }

  StepReplays& replays_;
  const std::vector<WhatIf>& causes_;
  const TimeNs least_, least_of_two_;
  std::vector<bool> open_;
  std::vector<TimeNs> taken_, alone_;
  Removals made_;
  TimeNs now_ = 0;
  Waterfall result_;
};

}  // namespace

Waterfall MakeWaterfall(StepReplays& replays, const std::vector<WhatIf>& causes, TimeNs least,
                        TimeNs least_of_two) {
  return Search(replays, causes, least, least_of_two).Run();
}

}  // namespace mpa

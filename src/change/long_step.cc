// SPDX-License-Identifier: Apache-2.0
#include "mpa/change/long_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>

#include "mpa/base/language.h"
#include "mpa/change/account_names.h"
#include "mpa/measure/quantiles.h"
#include "mpa/report/amount.h"

namespace mpa {
namespace {

constexpr std::size_t kLeastSteps = 3;

// How far the longest step of a side lies from its median, and how far the others usually do.
struct Outlier {
  std::size_t position = 0;
  TimeNs median = 0, excess = 0;
  double spread = 0;

  explicit Outlier(const std::vector<TimeNs>& steps) : median(Median(steps)) {
    constexpr double kOfNormalSpread = 1.4826;
    const auto longest = std::ranges::max_element(steps);
    position = static_cast<std::size_t>(longest - steps.begin());
    excess = *longest - median;
    std::vector<TimeNs> distances;
    for (const TimeNs step : steps) distances.push_back(std::abs(step - median));
    spread = kOfNormalSpread * static_cast<double>(Median(std::move(distances)));
  }
  bool IsFar() const {
    constexpr double kFar = 5, kLeastShare = 0.1;
    return static_cast<double>(excess) >
           std::max(kFar * spread, kLeastShare * static_cast<double>(median));
  }
};

TimeNs SumOf(const std::vector<TimeNs>& steps) {
  return std::accumulate(steps.begin(), steps.end(), TimeNs{0});
}

bool IsOfOthers(TimeCategory category) {
  return category == TimeCategory::kWaitPeer || category == TimeCategory::kBubble;
}

}  // namespace

std::optional<LongStep> FindLongStep(const std::vector<TimeNs>& base,
                                     const std::vector<TimeNs>& comparison) {
  if (std::min(base.size(), comparison.size()) < kLeastSteps) return std::nullopt;
  const Outlier before(base), after(comparison);
  const bool in_comparison = after.excess >= before.excess;
  const Outlier &longer = in_comparison ? after : before, &other = in_comparison ? before : after;
  // A side whose steps differ as much has no step that stands out beside it.
  if (!longer.IsFar() || 2 * other.excess > longer.excess) return std::nullopt;
  // What the median says already needs no step.
  if (2 * std::abs(after.median - before.median) > longer.excess) return std::nullopt;
  LongStep step{.in_comparison = in_comparison,
                .position = longer.position,
                .excess = longer.excess,
                .base_median = before.median,
                .comparison_median = after.median};
  step.of_all = base.size() == comparison.size() ? SumOf(comparison) - SumOf(base)
                : in_comparison                  ? longer.excess
                                                 : -longer.excess;
  return step;
}

std::string LongStepText(const LongStep& step, std::int32_t id, const std::string& cause) {
  constexpr TimeNs kUnchanged = 100;  // a part of the step
  const TimeNs change = step.in_comparison ? step.excess : -step.excess;
  const TimeNs median = step.comparison_median - step.base_median;
  const AmountScale scale(Quantity::kTime, std::max(std::abs(change), std::abs(step.of_all)));
  const std::string of_median =
      std::abs(median) * kUnchanged <= step.base_median
          ? Say("unchanged")
          : fmt::format("{} {}", scale.Signed(scale.Rounded(median)), scale.unit());
  const std::int32_t number = id >= 0 ? id : static_cast<std::int32_t>(step.position + 1);
  const std::string amount = scale.Signed(scale.Rounded(change));
  const std::string of_all = scale.Signed(scale.Rounded(step.of_all));
  const std::string text =
      step.in_comparison
          ? Say("step {}: {} {} of {}; median {}", number, amount, scale.unit(), of_all, of_median)
          : Say("step {} of the base: {} {} of {}; median {}", number, amount, scale.unit(), of_all,
                of_median);
  return cause.empty() ? text : Say("{} ({})", text, cause);
}

std::string CauseOfStep(const RankTrace& trace, const RankAccount& account, std::size_t step) {
  if (step >= account.steps.size()) return "";
  TimeCategory grown{};
  TimeNs most = 0;
  for (std::size_t i = 0; i < kTimeCategories; ++i) {
    const auto category = static_cast<TimeCategory>(i);
    if (IsOfOthers(category)) continue;
    std::vector<TimeNs> times;
    for (const StepAccount& of_step : account.steps) times.push_back(of_step.categories[category]);
    const TimeNs own = times[step];
    const TimeNs excess = own - Median(std::move(times));
    if (excess <= most) continue;
    most = excess;
    grown = category;
  }
  if (most == 0) return "";
  const AccountPieces names(trace, account.clock);
  std::map<std::string, TimeNs> parts, places;
  for (const Piece& piece : account.PiecesOf(account.steps[step])) {
    if (piece.category != grown) continue;
    parts[names.PartOf(piece)] += piece.end - piece.begin;
    if (const std::string place = names.PlaceOf(piece); !place.empty())
      places[place] += piece.end - piece.begin;
  }
  const auto longest = [](const std::map<std::string, TimeNs>& times) {
    const auto found =
        std::ranges::max_element(times, {}, [](const auto& time) { return time.second; });
    return found == times.end() ? AccountName{} : ReadAccountKey(found->first);
  };
  const std::string place = longest(places).what;
  const std::string part = longest(parts).Title();
  return place.empty() ? part : fmt::format("{}: {}", part, place);
}

}  // namespace mpa

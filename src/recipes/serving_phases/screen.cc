// SPDX-License-Identifier: Apache-2.0
// What the servers did, in a few lines.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/recipe/rank_lines.h"
#include "phase_groups.h"

namespace mpa::serving_phases {
namespace {

// "attention 41.2 %, host 20.0 %": the largest parts, which are a hundredth at least.
std::string PartsText(const PhaseGroup& group) {
  std::vector<std::pair<TimeNs, ServingPart>> parts;
  for (std::size_t part = 0; part < kServingParts; ++part) {
    if (100 * group.times[part] >= group.sum && group.times[part] > 0)
      parts.push_back({group.times[part], static_cast<ServingPart>(part)});
  }
  std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kShown = 4;
  if (parts.size() > kShown) parts.resize(kShown);
  std::string text;
  for (const auto& [time, part] : parts) {
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", TitleOf(part),
                        PercentOf(time, group.sum));
  }
  return text;
}

std::string TokenText(const PhaseGroup& group) {
  const TimeNs time = TimePerToken(group);
  return time >= 0 ? fmt::format("{:.3f}", static_cast<double>(time) / 1e6) : "-";
}

std::string RateText(const PhaseGroup& group) {
  const double rate = TokensPerSecond(group);
  return rate >= 0 ? fmt::format("{:.0f}", rate) : "-";
}

double Ms(TimeNs time) { return static_cast<double>(time) / 1e6; }

// The same phase and size is slower on some ranks than on others.
void AddOutliers(const Ranks& ranks, const std::vector<PhaseGroup>& groups, Report& report) {
  OutlierLines outliers;
  for (const PhaseGroup& group : groups) {
    std::vector<RankValue> means;
    for (const auto& [id, part] : ranks) {
      for (const ServingAccount& step : part.steps) {
        if (!step.is_warm_up && AreAlike(step.batch, group.batch))
          means.push_back({id, Ms(step.Length())});
      }
    }
    outliers.Add(fmt::format("{}, {}", group.Phase(), group.Size()), MeansOfRanks(means),
                 [](double ms) { return fmt::format("{:.3f} ms", ms); });
  }
  outliers.AppendTo(report.lines);
}

void AddPadding(const std::vector<PhaseGroup>& groups, Report& report) {
  std::int64_t asked = 0, computed = 0;
  for (const PhaseGroup& group : groups) {
    for (const ServingAccount* step : group.steps) {
      if (!step->batch.Padding()) continue;
      asked += step->batch.requests;
      computed += step->batch.graph_size;
    }
  }
  if (computed == asked) return;
  report.lines.push_back(fmt::format(
      "padding: graphs computed for {} requests and {} were there, {:.1f} % are in vain", computed,
      asked, PercentOf(computed - asked, computed)));
}

}  // namespace

void AddLines(const Ranks& ranks, const std::vector<PhaseGroup>& groups, Report& report) {
  std::int64_t steps = 0, warm_up = 0;
  for (const PhaseGroup& group : groups) {
    steps += group.Count();
    warm_up += group.warm_up;
  }
  if (steps == 0) return;
  report.lines.push_back(
      fmt::format("steps of the server: {} on {}{}", steps,
                  Counted(static_cast<std::int64_t>(ranks.size()), "rank"),
                  warm_up > 0 ? fmt::format(", without {} of warm-up", warm_up) : std::string()));
  report.lines.push_back(fmt::format("{:<8} {:<21} {:>6} {:>11} {:>11} {:>8} {:>9}", "phase",
                                     "size", "steps", "median ms", "spread ms", "ms/token",
                                     "tokens/s"));
  // Those that take most time, in order of phase and size.
  constexpr std::size_t kShown = 8;
  std::vector<const PhaseGroup*> shown;
  for (const PhaseGroup& group : groups) {
    if (!group.steps.empty()) shown.push_back(&group);
  }
  const std::size_t all = shown.size();
  if (all > kShown) {
    std::ranges::stable_sort(shown, [](const auto* a, const auto* b) { return a->sum > b->sum; });
    shown.resize(kShown);
    std::ranges::sort(shown);
  }
  for (const PhaseGroup* group : shown) {
    report.lines.push_back(fmt::format(
        "{:<8} {:<21.21} {:>6} {:>11.3f} {:>11.3f} {:>8} {:>9}", group->Phase(), group->Size(),
        group->Count(), Ms(LengthAt(*group, 50)), Ms(LengthAt(*group, 75) - LengthAt(*group, 25)),
        TokenText(*group), RateText(*group)));
    report.lines.push_back("  " + PartsText(*group));
  }
  AddMoreLine(all, shown.size(), "size", report.lines);
  AddPadding(groups, report);
  AddOutliers(ranks, groups, report);
}

}  // namespace mpa::serving_phases

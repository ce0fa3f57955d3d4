// SPDX-License-Identifier: Apache-2.0
// What screens say of late ranks.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/collectives/lateness.h"
#include "mpa/report/amount.h"

namespace mpa {
namespace {

std::string TimeText(TimeNs time) { return AmountText(Quantity::kTime, time); }

// The members before the late ones.
std::string_view BeforeText(const Lateness& lateness, const LateRanks& late) {
  if (late.ranks.empty()) return "the captured ranks";
  const bool was_last = lateness.of_instance[late.worst].late.front().ranks == late.ranks;
  if (was_last) return "the second-to-last rank";
  return late.ranks.size() == 1 ? "the ranks before it" : "the ranks before them";
}

void AddLateRanks(const Lateness& lateness, const LateRanks& late,
                  std::vector<std::string>& lines) {
  const std::string name = Printable(lateness.instances[late.worst].name);
  const std::string sum = LateSumText(late);
  lines.push_back("  " + LateArrivalText(lateness, late));
  lines.push_back(
      fmt::format("    {}{}{}", ShortenName(name, NameColumns(42)), sum.empty() ? "" : "; ", sum));
}

}  // namespace

std::string CoverageText(const Lateness& lateness) {
  if (!lateness.IsPartial()) return "";
  const std::string captured =
      fmt::format("{}{} {} captured", lateness.captured,
                  lateness.of_job > lateness.captured ? fmt::format(" of {}", lateness.of_job) : "",
                  Plural(std::max(lateness.of_job, lateness.captured), "rank"));
  return lateness.of_job > lateness.captured ? captured : captured + ", not all of the job";
}

std::string LateRanksText(const std::vector<std::int64_t>& ranks, bool captured) {
  if (ranks.empty()) return "a rank that was not captured";
  if (ranks.front() < 0) return "rank ?";  // captures that do not say which they are
  constexpr std::size_t kShown = 6;
  const std::string which = captured ? "" : " (not captured)";
  if (ranks.size() > kShown + 1) {
    return fmt::format("{} ranks ({}, ...){}", ranks.size(),
                       fmt::join(ranks.begin(), ranks.begin() + kShown, ", "), which);
  }
  return fmt::format("{} {}{}", Plural(ranks.size(), "rank"), fmt::join(ranks, ", "), which);
}

std::string LateArrivalText(const Lateness& lateness, const LateRanks& late) {
  return fmt::format("{} arrived {} after {}", LateRanksText(late.ranks, late.captured),
                     TimeText(late.most), BeforeText(lateness, late));
}

std::string LateSumText(const LateRanks& late) {
  if (late.times == 1) return "";
  return fmt::format("{} late in {}", TimeText(late.sum), Counted(late.times, "collective"));
}

std::string ClockDoubtText(const Lateness& lateness) {
  if (lateness.doubts.empty()) return "";
  const ClockDoubt& most = *std::ranges::max_element(lateness.doubts, {}, &ClockDoubt::residual);
  return fmt::format("the clocks of ranks {} and {} contradict each other by {}", most.first,
                     most.second, TimeText(most.residual));
}

void AddClockLines(const Lateness& lateness, std::vector<std::string>& lines) {
  const std::string doubt = ClockDoubtText(lateness);
  if (doubt.empty()) return;
  lines.push_back(doubt + ":");
  lines.push_back(fmt::format("  {}", kDoubtMeans));
}

void AddLatenessLines(const Lateness& lateness, std::size_t most, std::vector<std::string>& lines) {
  if (const std::string coverage = CoverageText(lateness); !coverage.empty())
    lines.push_back(coverage);
  if (!lateness.ranks.empty()) {
    lines.push_back(fmt::format("late ranks in {}:", Counted(lateness.known, "collective")));
    const std::size_t shown = std::min(most, lateness.ranks.size());
    for (std::size_t i = 0; i < shown; ++i) AddLateRanks(lateness, lateness.ranks[i], lines);
    if (shown < lateness.ranks.size())
      lines.push_back(fmt::format("  ... and {} more", lateness.ranks.size() - shown));
  } else if (lateness.known > 0) {
    lines.push_back(fmt::format("no rank came late to {}", Counted(lateness.known, "collective")));
  }
  if (lateness.unknown > 0) {
    lines.push_back(fmt::format("{}: which rank came last cannot be known",
                                Counted(lateness.unknown, "collective")));
  }
  AddClockLines(lateness, lines);
}

}  // namespace mpa

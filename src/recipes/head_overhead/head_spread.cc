// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "head_part.h"
#include "mpa/recipe/rank_lines.h"

namespace mpa::head {

namespace {

using Ranks = std::vector<OfRank<HeadPart>>;

const SummaryRow* HeadOf(const HeadPart& part) {
  return FindRow(part.summary, part.phase, Measure::kHead);
}

std::string HeadText(double time) { return fmt::format("{:.1f} us", time / 1e3); }

void AddSpread(std::string_view what, const std::vector<RankValue>& values,
               std::vector<std::string>& lines) {
  if (values.empty()) return;
  const RankSpread spread = SpreadOf(values);
  lines.push_back(fmt::format("  {} of {} ranks: min {} ({}), median {}, max {} ({})", what,
                              values.size(), HeadText(spread.min.value), RankText(spread.min.rank),
                              HeadText(spread.median), HeadText(spread.max.value),
                              RankText(spread.max.rank)));
}

}  // namespace

std::size_t LongestHead(const Ranks& ranks) {
  std::size_t longest = 0;
  TimeNs most = -1;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const SummaryRow* head = HeadOf(ranks[i].part);
    if (head == nullptr || head->spread.p50 <= most) continue;
    most = head->spread.p50;
    longest = i;
  }
  return longest;
}

std::vector<std::string> HeadSpreadLines(const Ranks& ranks) {
  if (ranks.size() < 2) return {};
  std::vector<RankValue> medians, idle;
  for (const auto& [rank, part] : ranks) {
    const SummaryRow* head = HeadOf(part);
    if (head == nullptr || head->spread.count == 0) continue;
    medians.push_back({rank, static_cast<double>(head->spread.p50)});
    if (!head->exposed_sum) continue;
    idle.push_back(
        {rank, static_cast<double>(*head->exposed_sum) / static_cast<double>(head->spread.count)});
  }
  std::vector<std::string> lines;
  AddSpread("p50 of the head", medians, lines);
  AddSpread("device idle for each call", idle, lines);
  OutlierLines outliers;
  if (!medians.empty()) outliers.Add("p50 of the head", medians, HeadText);
  if (!idle.empty()) outliers.Add("device idle for each call", idle, HeadText);
  std::vector<std::string> far;
  outliers.AppendTo(far);
  for (const std::string& line : far) lines.push_back("  " + line);
  if (const std::size_t without = ranks.size() - medians.size(); without > 0) {
    lines.push_back(fmt::format("  {} of {} ranks have no call of a graph", without, ranks.size()));
  }
  return lines;
}

}  // namespace mpa::head

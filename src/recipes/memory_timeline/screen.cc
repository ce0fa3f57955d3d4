// SPDX-License-Identifier: Apache-2.0
// The memory of the ranks, in a few lines.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"
#include "outputs.h"

namespace mpa::memory_timeline {
namespace {

using Rank = OfRank<RankMemory>;

std::string Bytes(std::int64_t bytes) { return AmountText(Quantity::kBytes, bytes); }

double PercentOf(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string NameOf(const Holder& holder) {
  return holder.within.empty() || holder.within == holder.op
             ? holder.op
             : fmt::format("{} in {}", holder.op, holder.within);
}

void AddAnswer(const Rank& worst, const std::vector<RankValue>& peaks, Report& report) {
  const RankMemory& part = worst.part;
  report.lines.push_back(
      fmt::format("peak: {} allocated on {}", Bytes(part.peak->Allocated()), RankText(worst.rank)));
  if (peaks.size() > 1) {
    const RankSpread spread = SpreadOf(peaks);
    report.lines.push_back(fmt::format("  of {} ranks: min {}, median {}", peaks.size(),
                                       Bytes(static_cast<std::int64_t>(spread.min.value)),
                                       Bytes(static_cast<std::int64_t>(spread.median))));
  }
  const std::string step = part.peak_step >= 0 ? fmt::format(" in step {}", part.peak_step) : "";
  std::string text =
      fmt::format("  {:.3f} ms after the start{}", InMs(part.peak->time - part.begin), step);
  if (part.peak->reserved > 0) {
    text += fmt::format(
        "; {} reserved, {:.1f} % of it unused", Bytes(part.peak->reserved),
        PercentOf(std::max<std::int64_t>(part.peak->reserved - part.peak->Allocated(), 0),
                  part.peak->reserved));
  }
  report.lines.push_back(std::move(text));
}

void AddCategories(const Level& peak, Report& report) {
  std::vector<std::pair<std::int64_t, Category>> held;
  for (std::size_t i = 0; i < kCategories; ++i) {
    if (peak.bytes[i] > 0) held.push_back({peak.bytes[i], static_cast<Category>(i)});
  }
  std::ranges::stable_sort(held, [](const auto& a, const auto& b) { return a.first > b.first; });
  const AmountScale scale(Quantity::kBytes, peak.Allocated());
  report.lines.push_back(fmt::format("{:<24} {:>12} {:>8}", "held for", scale.unit(), "share"));
  for (const auto& [bytes, category] : held) {
    report.lines.push_back(
        fmt::format("  {:<22} {:>12} {:>6.1f} %", memory_timeline::NameOf(category),
                    scale.Text(scale.Rounded(bytes)), PercentOf(bytes, peak.Allocated())));
  }
}

void AddHolders(const RankMemory& part, Report& report) {
  constexpr std::size_t kShown = 6;
  std::vector<const Held*> listed;
  for (const Held& one : part.holders) {
    if (one.count > 0) listed.push_back(&one);
  }
  if (listed.empty()) return;
  const AmountScale scale(Quantity::kBytes, listed.front()->bytes);
  report.lines.push_back(
      fmt::format("{} {:>10} {:>6}", NameCell("held most by", 55), scale.unit(), "count"));
  for (std::size_t i = 0; i < std::min(kShown, listed.size()); ++i) {
    const Held& one = *listed[i];
    report.lines.push_back(fmt::format("  {} {:>10} {:>6}", NameCell(NameOf(one.holder), 53),
                                       scale.Text(scale.Rounded(one.bytes)), one.count));
    const std::string_view category = memory_timeline::NameOf(one.holder.category);
    report.lines.push_back(
        one.holder.site.empty()
            ? fmt::format("    {}", category)
            : fmt::format("    {}, {}", category, ShortenName(one.holder.site, NameColumns(50))));
  }
  AddMoreLine(listed.size(), kShown, "holder", report.lines);
}

void AddStep(const RankMemory& part, Report& report) {
  if (part.steps.size() < 2) return;
  const StepMemory& first = part.steps.front();
  const StepMemory& last = part.steps.back();
  report.lines.push_back(fmt::format("at the start of step {}: {}, of step {}: {}", first.id,
                                     Bytes(first.at_begin), last.id, Bytes(last.at_begin)));
}

// The rank that leaks most, by step.
void AddGrowth(const Ranks& ranks, Report& report) {
  const Rank* most = nullptr;
  const auto leaked = [](const Rank& rank) {
    std::int64_t bytes = 0;
    for (const Leak& leak : rank.part.leaks) bytes += leak.bytes;
    return bytes;
  };
  std::int64_t leaking = 0;
  bool judged = false;
  for (const Rank& rank : ranks) {
    judged = judged || rank.part.steps.size() >= 3;
    if (rank.part.leaks.empty()) continue;
    ++leaking;
    if (most == nullptr || leaked(rank) > leaked(*most)) most = &rank;
  }
  if (most == nullptr) {
    report.lines.push_back(judged ? "growth: no allocation outlives the step behind its own again "
                                    "and again"
                                  : "growth: unknown; it takes three steps or more to tell");
    return;
  }
  const std::string ranks_text =
      fmt::format("{} of {}", leaking, Counted(static_cast<std::int64_t>(ranks.size()), "rank"));
  const std::optional<std::int64_t> growth = most->part.GrowthPerStep();
  report.lines.push_back(
      growth ? fmt::format("growth: {} a step on {}; leaks on {}", Bytes(*growth),
                           RankText(most->rank), ranks_text)
             : fmt::format("growth: leaks on {}; most on {}", ranks_text, RankText(most->rank)));
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < std::min(kShown, most->part.leaks.size()); ++i) {
    const Leak& leak = most->part.leaks[i];
    report.lines.push_back(fmt::format("  {}: {} of {} steps",
                                       ShortenName(NameOf(leak.holder), NameColumns(50)),
                                       Bytes(leak.bytes), leak.steps));
    if (!leak.holder.site.empty())
      report.lines.push_back(fmt::format("    {}", ShortenName(leak.holder.site, NameColumns(70))));
  }
  AddMoreLine(most->part.leaks.size(), kShown, "holder", report.lines);
}

}  // namespace

void AddLines(const Ranks& all, Detail detail, Report& report) {
  Ranks ranks;
  std::vector<RankValue> peaks;
  for (const Rank& rank : all) {
    if (!rank.part.peak) continue;
    ranks.push_back(rank);
    peaks.push_back({rank.rank, static_cast<double>(rank.part.peak->Allocated())});
  }
  if (ranks.empty()) return;
  const auto peak_of = [](const Rank& rank) { return rank.part.peak->Allocated(); };
  std::size_t worst = 0;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (peak_of(ranks[i]) > peak_of(ranks[worst])) worst = i;
  }
  AddAnswer(ranks[worst], peaks, report);
  AddCategories(*ranks[worst].part.peak, report);
  AddHolders(ranks[worst].part, report);
  AddStep(ranks[worst].part, report);
  AddGrowth(ranks, report);
  OutlierLines outliers;
  outliers.Add("peak", peaks, [](double bytes) { return Bytes(static_cast<std::int64_t>(bytes)); });
  outliers.AppendTo(report.lines);
  if (detail != Detail::kAll || ranks.size() < 2) return;
  for (const Rank& rank : ranks)
    report.lines.push_back(fmt::format("{}: peak {}", RankText(rank.rank), Bytes(peak_of(rank))));
}

}  // namespace mpa::memory_timeline

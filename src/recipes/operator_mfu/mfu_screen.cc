// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/screen_list.h"
#include "part.h"

namespace mpa {
namespace {

constexpr std::size_t kMaxShares = 12;

// "peak 353.9 TFLOPS with FP16 (24 cores at 1800 MHz)".
std::string ChipText(const ChipPeak& chip) {
  const PeakTflops peak = PeakOf(chip, TypeClass::kFp16);
  if (peak.gap != PeakGap::kNone) return Say("peak of the chip unknown");
  std::string text = Say("peak {:.1f} TFLOPS with FP16", peak.tflops);
  if (!chip.peak_tflops) {
    text += Say(" ({} cores at {:g} MHz)", chip.cores, chip.frequency_mhz);
  }
  return text;
}

std::string ReasonLine(const std::string& reason, bool is_uncounted) {
  const std::string begin =
      std::string(Translated(is_uncounted ? "    not counted: " : "    no MFU: "));
  return begin + CutEnd(Translated(reason), ScreenColumns() - ColumnsOf(begin));
}

void AddWastes(const std::vector<MfuWaste>& wastes, ScreenLines& lines) {
  if (wastes.empty()) return;
  const AmountScale scale(Quantity::kTime, wastes.front().wasted);
  const ScreenList list(2, {ScreenText("most time wasted by", 24), ScreenNumber("kernels", 7),
                            ScreenAmount(scale.unit(), 8, scale), ScreenRatio("MFU", 7),
                            ScreenNumber("type", 5), ScreenText("shapes")});
  lines.push_back(list.Heading());
  for (const MfuWaste& waste : wastes) {
    lines.push_back(list.Line(waste.op_type, waste.count, waste.wasted, waste.use, Text(waste.type),
                              waste.input_shapes));
  }
}

}  // namespace

ScreenLines MfuScreen(std::string_view rank, const MfuSummary& summary) {
  ScreenLines lines;
  const auto step = std::ranges::find(summary.shares, kStepWork, &MfuShare::work);
  if (step != summary.shares.end() && step->Use())
    lines.push_back(Say("the step reaches an MFU of {}", PercentText(*step->Use())));
  lines.push_back(fmt::format("{}: {}", rank, ChipText(summary.chip)));
  TimeNs longest = 0;
  for (const MfuShare& share : summary.shares) longest = std::max(longest, share.duration);
  const AmountScale scale(Quantity::kTime, longest);
  const ScreenList list(
      2, {ScreenText("work", 24), ScreenNumber("kernels", 8), ScreenAmount(scale.unit(), 8, scale),
          ScreenRatio("of device", 9), ScreenNumber("TFLOPS", 8, 2), ScreenRatio("MFU", 7),
          ScreenRatio("at clock", 8)});
  lines.push_back(list.Heading());
  for (std::size_t i = 0; i < std::min(kMaxShares, summary.shares.size()); ++i) {
    const MfuShare& share = summary.shares[i];
    lines.push_back(list.Line(Translated(share.work), share.kernels, share.duration,
                              summary.ShareOfTime(share), share.Tflops(), share.Use(),
                              share.UseOfMeasuredClock()));
    if (share.reason.empty()) continue;
    lines.push_back(ReasonLine(share.reason, share.IsUncounted()));
  }
  if (summary.shares.size() > kMaxShares) {
    lines.push_back(Say("  ... {} more in MFUSummary", summary.shares.size() - kMaxShares));
  }
  AddWastes(summary.wastes, lines);
  return lines;
}

namespace {

using MfuOfRanks = std::vector<OfRank<MfuSummary>>;

// A kind of work on the ranks that have it.
struct WorkOfRanks {
  std::string work, reason;
  bool is_uncounted = false;
  std::vector<RankValue> uses, tflops, times;  // times as shares of the device's
};

// In the order in which the ranks name them.
std::vector<WorkOfRanks> CollectWork(const MfuOfRanks& ranks) {
  std::vector<WorkOfRanks> all;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const auto& [rank, summary] : ranks) {
    for (const MfuShare& share : summary.shares) {
      const auto [place, is_new] = places.try_emplace({share.work, share.reason}, all.size());
      if (is_new) all.push_back({share.work, share.reason, share.IsUncounted(), {}, {}, {}});
      WorkOfRanks& work = all[place->second];
      if (share.Use()) work.uses.push_back({rank, *share.Use()});
      if (const auto part = summary.ShareOfTime(share)) work.times.push_back({rank, *part});
      if (const auto tflops = share.Tflops()) work.tflops.push_back({rank, *tflops});
    }
  }
  return all;
}

// Kernels alike on all ranks, those that waste most first. Exact for what is among the ten of each
// rank.
std::vector<MfuWaste> CollectWastes(const MfuOfRanks& ranks) {
  std::map<std::tuple<std::string, std::string, TypeClass>, MfuWaste> sums;
  for (const OfRank<MfuSummary>& rank : ranks) {
    for (const MfuWaste& waste : rank.part.wastes) {
      const auto [found, is_new] =
          sums.try_emplace({waste.op_type, waste.input_shapes, waste.type}, waste);
      if (is_new) continue;
      MfuWaste& sum = found->second;
      const auto before = static_cast<double>(sum.duration);
      sum.duration += waste.duration;
      sum.use = (sum.use * before + waste.use * static_cast<double>(waste.duration)) /
                static_cast<double>(sum.duration);
      sum.count += waste.count;
      sum.wasted += waste.wasted;
    }
  }
  std::vector<MfuWaste> wastes;
  for (auto& [key, waste] : sums) wastes.push_back(std::move(waste));
  StableSort(wastes, std::greater(), &MfuWaste::wasted);
  constexpr std::size_t kMax = 8;
  if (wastes.size() > kMax) wastes.resize(kMax);
  return wastes;
}

std::string ChipsText(const MfuOfRanks& ranks) {
  const std::string first = ChipText(ranks.front().part.chip);
  const bool alike = std::ranges::all_of(
      ranks, [&](const auto& rank) { return ChipText(rank.part.chip) == first; });
  return alike ? first : Say("peaks differ, {}: {}", RankText(ranks.front().rank), first);
}

std::string UseText(double use) { return PercentText(use); }
std::string TflopsText(double tflops) { return fmt::format("{:.2f}", tflops); }

}  // namespace

ScreenLines MfuSpreadScreen(const MfuOfRanks& ranks) {
  const std::vector<WorkOfRanks> all = CollectWork(ranks);
  const bool any_use =
      std::ranges::any_of(all, [](const WorkOfRanks& work) { return !work.uses.empty(); });
  std::string (*const text)(double) = any_use ? UseText : TflopsText;
  ScreenLines lines;
  const auto step = std::ranges::find(all, kStepWork, &WorkOfRanks::work);
  if (step != all.end() && !step->uses.empty()) {
    const RankSpread spread = SpreadOf(step->uses);
    AddSentence(
        Say("the step reaches an MFU of {} (median), the least is {} ({})",
            PercentText(spread.median), PercentText(spread.min.value), RankText(spread.min.rank)),
        lines);
  }
  AddSentence(
      Say("{}: {}", Counted(static_cast<std::int64_t>(ranks.size()), "rank"), ChipsText(ranks)),
      lines);
  const auto column = [&](std::string_view header) {
    return any_use ? ScreenRatio(header, 8) : ScreenNumber(header, 8, 2);
  };
  const ScreenList list(
      2, {ScreenText(any_use ? "MFU" : "TFLOPS", 24), column("min"), ScreenNumber("rank", 6),
          column("median"), column("max"), ScreenNumber("rank", 6), ScreenRatio("of device", 10)});
  lines.push_back(list.Heading());
  constexpr std::size_t kMaxWork = 8;
  OutlierLines outliers;
  for (std::size_t i = 0; i < std::min(kMaxWork, all.size()); ++i) {
    const WorkOfRanks& work = all[i];
    const std::vector<RankValue>& values = any_use ? work.uses : work.tflops;
    std::vector<Cell> cells(7);
    const std::string name(Translated(work.work));
    cells[0] = name;
    if (!values.empty()) {
      const auto [min, max, median] = SpreadOf(values);
      cells = {name, min.value, RankName(min.rank), median, max.value, RankName(max.rank), Cell()};
    }
    if (!work.times.empty()) cells.back() = SpreadOf(work.times).median;
    lines.push_back(list.LineOf(cells));
    if (!work.reason.empty()) {
      lines.push_back(ReasonLine(work.reason, work.is_uncounted));
    }
    if (!values.empty()) outliers.Add(name, values, text);
  }
  if (all.size() > kMaxWork) {
    lines.push_back(Say("  ... {} more in MFUSummary", all.size() - kMaxWork));
  }
  AddWastes(CollectWastes(ranks), lines);
  outliers.AppendTo(lines);
  return lines;
}

}  // namespace mpa

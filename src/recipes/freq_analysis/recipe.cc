// SPDX-License-Identifier: Apache-2.0
// Ranks whose AI cores ran at a reduced clock.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"

namespace mpa::recipes::freq_analysis {
namespace {

struct Clocks {
  std::vector<std::int64_t> mhz;  // that were measured, ascending
  std::int64_t nominal = 0;       // of the chip; 0: unknown
};

Clocks MapFreqAnalysis(const RankTrace& trace, const RecipeArguments&) {
  Clocks part;
  const std::set<std::int64_t> distinct(trace.core_clocks.mhz.begin(), trace.core_clocks.mhz.end());
  part.mhz.assign(distinct.begin(), distinct.end());
  for (std::size_t i = 0; i < trace.chips.Size(); ++i) {
    part.nominal = std::max(part.nominal, static_cast<std::int64_t>(trace.chips.cube_mhz[i]));
  }
  return part;
}

using Ranks = std::vector<OfRank<Clocks>>;

// The nominal clock where the chip says it; else the highest that most ranks reached.
std::int64_t NominalOf(const Ranks& ranks) {
  std::map<std::int64_t, std::size_t> votes;
  std::int64_t nominal = 0;
  for (const auto& rank : ranks) {
    nominal = std::max(nominal, rank.part.nominal);
    if (!rank.part.mhz.empty()) ++votes[rank.part.mhz.back()];
  }
  if (nominal > 0) return nominal;
  std::size_t most = 0;
  for (const auto& [mhz, count] : votes) {
    if (count >= most) {
      nominal = mhz;
      most = count;
    }
  }
  return nominal;
}

enum class ClockState { kNormal, kIdle, kAbnormal };

// A chip without work lowers its clock to the idle one.
ClockState StateOf(const Clocks& clocks, std::int64_t nominal) {
  constexpr std::int64_t kIdleMhz = 800;
  if (clocks.mhz == std::vector{nominal}) return ClockState::kNormal;
  return clocks.mhz == std::vector{kIdleMhz, nominal} ? ClockState::kIdle : ClockState::kAbnormal;
}

std::vector<ColumnOf<RowOfRank<Clocks>>> ClockColumns() {
  using Item = RowOfRank<Clocks>;
  return {CountColumn<&Item::rank, kRank>("rankId", 10, "The rank."),
          {NamedColumn("aicoreFrequency", Format::kText, 30,
                       "The clocks of the AI cores that were measured, in MHz."),
           [](const Item& item) -> Cell {
             return fmt::format("[{}]", fmt::join(item.row->mhz, ", "));
           }}};
}

void ReduceFreqAnalysis(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                        Report& report) {
  const std::int64_t nominal = NominalOf(ranks);
  ItemSheet idle("FreeFrequencyRanks", ClockColumns());
  ItemSheet abnormal("AbnormalFrequencyRanks", ClockColumns());
  std::vector<RankId> unknown;
  for (const auto& [id, part] : ranks) {
    if (part.mhz.empty()) {
      unknown.push_back(id);
      continue;
    }
    const ClockState state = StateOf(part, nominal);
    const RankIndex rank = BeginRank(id, report);
    if (state == ClockState::kIdle) idle.Add({id, &part}, rank);
    if (state == ClockState::kAbnormal) abnormal.Add({id, &part}, rank);
  }
  if (!unknown.empty()) {
    report.notes.push_back(
        Say("the clock of {} was not measured (rank {}); only NPUs record it, with"
            " profiler_level=Level1 and aic_metrics",
            Counted(unknown.size(), "rank"), RankName(unknown.front())));
  }
  if (unknown.size() == ranks.size()) {
    report.lines.emplace_back(Say("the clocks of the cores were not measured"));
  } else if (wanted.screen != Detail::kNone) {
    report.lines.push_back(
        Say("AI cores of {} ranks, nominal clock {} MHz:", ranks.size() - unknown.size(), nominal));
    report.lines.push_back(Say("  {} ran at a reduced clock, {} were idle at times",
                               abnormal.sheet.rows.size(), idle.sheet.rows.size()));
    constexpr std::size_t kShown = 10;
    std::size_t shown = 0;
    for (const auto& [id, part] : ranks) {
      if (part.mhz.empty() || StateOf(part, nominal) != ClockState::kAbnormal) continue;
      if (shown++ == kShown) break;
      report.lines.push_back(Say("  {}: {} to {} MHz ({} values)", RankText(id), part.mhz.front(),
                                 part.mhz.back(), part.mhz.size()));
    }
  }
  for (Sheet* sheet : {&idle.sheet, &abnormal.sheet}) {
    if (wanted.sheets && !sheet->rows.empty()) report.sheets.push_back(std::move(*sheet));
  }
}

Verdict JudgeFreqAnalysis(const RankFacts& facts) {
  return JudgeReadable(facts)
      .Refuse(facts.kind == CaptureKind::kGpu, "only NPU clocks are examined", "")
      .RefuseKineto(facts, "have no clocks");
}

}  // namespace

Recipe FreqAnalysis() {
  return MakeRecipe<MapFreqAnalysis, ReduceFreqAnalysis>(
      {.name = "freq_analysis",
       .folder = "FreqAnalysis",
       .summary = "ranks whose AI cores ran at a reduced clock",
       .needs = Tables::kCoreClocks | Tables::kChips,
       .can_run = JudgeFreqAnalysis,
       .empty_is_answer = true});
}

}  // namespace mpa::recipes::freq_analysis

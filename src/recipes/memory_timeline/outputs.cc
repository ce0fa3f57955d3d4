// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/screen_list.h"
#include "part.h"

namespace mpa::recipes::memory_timeline {
namespace {

// The columns of the categories of a level, to whose bytes `kBytes` leads.
template <auto... kBytes>
auto CategoryColumns() {
  using enum Category;
  return std::vector{
      CountColumn<kBytes..., kAt<kParameter>>("parameterBytes", 16, "Bytes of parameters."),
      CountColumn<kBytes..., kAt<kOptimizerState>>("optimizerStateBytes", 16,
                                                   "Bytes of optimizer states."),
      CountColumn<kBytes..., kAt<kInput>>("inputBytes", 16, "Bytes of inputs."),
      CountColumn<kBytes..., kAt<kTemporary>>("temporaryBytes", 16,
                                              "Bytes that operators need while they run."),
      CountColumn<kBytes..., kAt<kActivation>>("activationBytes", 16, "Bytes of activations."),
      CountColumn<kBytes..., kAt<kGradient>>("gradientBytes", 16, "Bytes of gradients."),
      CountColumn<kBytes..., kAt<kAutogradDetail>>(
          "autogradDetailBytes", 16, "Bytes of what passes through the backward pass."),
      CountColumn<kBytes..., kAt<kUnknown>>("unknownBytes", 16,
                                            "Bytes of everything else, and of unknown kinds."),
      CountColumn<kBytes..., kAt<kBefore>>(
          "beforeCaptureBytes", 16,
          "Bytes allocated before the capture that are neither listed nor estimated."),
      CountColumn<kBytes..., kAt<kParameterEstimate>>(
          "estimatedParameterBytes", 16,
          "Bytes allocated before the capture that are taken for parameters."),
      CountColumn<kBytes..., kAt<kStateEstimate>>(
          "estimatedStateBytes", 16,
          "Bytes allocated before the capture that are taken for optimizer states."),
      CountColumn<kBytes..., kAt<kGradientEstimate>>(
          "estimatedGradientBytes", 16,
          "Bytes allocated before the capture that are taken for gradients.")};
}

struct RankItem {
  RankId rank;
  const RankMemory* part = nullptr;

  const Level& Peak() const { return *part->peak; }
  std::string KindsFrom() const { return part->is_listed ? "listed tensors" : "estimate"; }
};

SheetColumns<RankItem> RankColumns() {
  using Item = RankItem;
  return Joined<Item>(
      {CountColumn<&Item::rank, kRank>("rankId", 8, "The rank."),
       CountColumn<&Item::part, &RankMemory::allocations>("allocations", 12,
                                                          "Allocations that the capture lists."),
       CountColumn<&Item::Peak, &Level::time>(
           "peakNs", 20,
           "Time of the peak, in ns: when the most bytes were allocated, for the first time."),
       CountColumn<&Item::part, &RankMemory::peak_step, kIfKnown>("peakStep", 16,
                                                                  "Step of the peak; empty: none."),
       CountColumn<&Item::Peak, &Level::Allocated>(
           "peakBytes", 16, "Bytes allocated at the peak; the categories add up to them.")},
      CategoryColumns<&Item::Peak, &Level::bytes>(),
      {CountColumn<&Item::Peak, &Level::reserved, kIfKnown>(
           "reservedAtPeakBytes", 16, "Bytes that the allocators had reserved at the peak."),
       CountColumn<&Item::part, &RankMemory::most_reserved, kIfKnown>(
           "mostReservedBytes", 16,
           "Most bytes that the allocators had reserved in the whole capture."),
       CountColumn<&Item::part, &RankMemory::most_recorded, kIfKnown>(
           "mostRecordedBytes", 16,
           "Most bytes that the framework's allocator reported as allocated in the whole capture."),
       CountColumn<&Item::part, &RankMemory::GrowthPerStep>(
           "growthPerStepBytes", 16,
           "Median growth from the start of a step to that of the next; empty with fewer than 3"
           " steps."),
       TextColumn<&Item::KindsFrom>(
           "kindsFrom", 16,
           "Where parameters, gradients and states come from: listed tensors (the framework listed"
           " them), or estimate (lives and names of operators). Other kinds are always estimated."),
       CountColumn<&Item::part, &RankMemory::before>("heldBeforeBytes", 16,
                                                     "Bytes allocated before the capture."),
       CountColumn<&Item::part, &RankMemory::before_explained>(
           "heldBeforeExplainedBytes", 16,
           "Bytes allocated before the capture that are listed or estimated.")});
}

template <typename Value>
struct ItemOfRank {
  RankId rank;
  const Value* value = nullptr;
  const RankMemory* part = nullptr;
};

// The columns that name a holder.
template <typename Value>
SheetColumns<ItemOfRank<Value>> HolderColumns() {
  using Item = ItemOfRank<Value>;
  return {CountColumn<&Item::rank, kRank>("rankId", 8, "The rank."),
          TextColumn<&Item::value, &Value::holder, &Holder::op>(
              "operator", 34,
              "The operator as the capture lists it; a name in brackets is not an operator."),
          TextColumn<&Item::value, &Value::holder, &Holder::within>(
              "within", 30, "The outermost operator around this one."),
          TextColumn<&Item::value, &Value::holder, &Holder::site>(
              "callSite", 24,
              "The line of the program; for backward operators, the line of the forward pass."),
          TextColumn<&Item::value, &Value::holder, &Holder::category>("category", 18,
                                                                      "What the memory is for.")};
}

SheetColumns<ItemOfRank<Held>> PeakColumns() {
  using Item = ItemOfRank<Held>;
  return Joined<Item>(
      HolderColumns<Held>(),
      {CountColumn<&Item::value, &Held::count>("allocations", 12,
                                               "Number of allocations; 0: they are not listed."),
       CountColumn<&Item::value, &Held::bytes>(
           "bytes", 16,
           "Bytes that these allocations held at the peak; all rows add up to the peak."),
       {NamedColumn("sharePercent", Format::kDecimals2, 16, "Share of the peak, in percent."),
        [](const Item& item) -> Cell {
          return 100 * static_cast<double>(item.value->bytes) /
                 static_cast<double>(item.part->peak->Allocated());
        }}});
}

SheetColumns<ItemOfRank<StepMemory>> StepColumns() {
  using Item = ItemOfRank<StepMemory>;
  return {
      CountColumn<&Item::rank, kRank>("rankId", 8, "The rank."),
      CountColumn<&Item::value, &StepMemory::id, kIfKnown>(
          "step", 16, "The step; empty: the capture has no steps and counts as one."),
      CountColumn<&Item::value, &StepMemory::begin>("startNs", 20,
                                                    "Start of the step on the host, in ns."),
      CountColumn<&Item::value, &StepMemory::end>("endNs", 20,
                                                  "End of the step on the host, in ns."),
      CountColumn<&Item::value, &StepMemory::at_begin>("beginBytes", 16,
                                                       "Bytes allocated at the start of the step."),
      CountColumn<&Item::value, &StepMemory::peak>("peakBytes", 16,
                                                   "Most bytes allocated during the step."),
      CountColumn<&Item::value, &StepMemory::peak_time>("peakNs", 20,
                                                        "Time of the most bytes, in ns."),
      CountColumn<&Item::value, &StepMemory::at_end>("endBytes", 16,
                                                     "Bytes allocated at the end of the step."),
      CountColumn<&Item::value, &StepMemory::Growth>(
          "growthBytes", 16, "Bytes allocated at the end of the step minus those at its start.")};
}

SheetColumns<ItemOfRank<Leak>> LeakColumns() {
  using Item = ItemOfRank<Leak>;
  return Joined<Item>(
      HolderColumns<Leak>(),
      {CountColumn<&Item::value, &Leak::steps>(
           "steps", 8, "Steps whose allocations were still held when the next step had ended."),
       CountColumn<&Item::value, &Leak::first_step>("firstStep", 10, "First of these steps."),
       CountColumn<&Item::value, &Leak::last_step>("lastStep", 10, "Last of these steps."),
       CountColumn<&Item::value, &Leak::count>("allocations", 12, "Number of allocations."),
       CountColumn<&Item::value, &Leak::bytes>("bytes", 16, "Bytes of the allocations."),
       CountColumn<&Item::value, &Leak::still_held>(
           "stillHeldBytes", 16, "Bytes of the allocations that were never released.")});
}

SheetColumns<ItemOfRank<Level>> PointColumns() {
  using Item = ItemOfRank<Level>;
  return Joined<Item>(
      {CountColumn<&Item::rank, kRank>("rankId", 8, "The rank."),
       CountColumn<&Item::value, &Level::time>("timeNs", 20, "The time on the host, in ns."),
       CountColumn<&Item::value, &Level::Allocated>(
           "allocatedBytes", 16, "Bytes allocated; the categories add up to them."),
       CountColumn<&Item::value, &Level::reserved, kIfKnown>(
           "reservedBytes", 16, "Bytes that the allocators have reserved.")},
      CategoryColumns<&Item::value, &Level::bytes>());
}

}  // namespace

void AddSheets(const Ranks& ranks, Report& report) {
  ItemSheet summary({"MemoryRanks", ToTranslate("The peak of each rank, by category")},
                    RankColumns());
  ItemSheet peak({"MemoryPeak", ToTranslate("What was held at the peak, by operator")},
                 PeakColumns());
  ItemSheet steps({"MemoryByStep", ToTranslate("Allocated and reserved memory of each step")},
                  StepColumns());
  ItemSheet growth(
      {"MemoryGrowth", ToTranslate("Memory that grows from step to step, by operator")},
      LeakColumns());
  ItemSheet points({"MemoryOverTime", ToTranslate("What is allocated for what, over time")},
                   PointColumns());
  peak.sheet.charts = {LargestBars("What is held at the peak, by where it is allocated",
                                   {"callSite", "operator"}, {{"bytes"}}, Measured::kBytes,
                                   Chart::SameLabel::kSum)};
  growth.sheet.charts = {LargestBars("What grows from step to step, by where it is allocated",
                                     {"callSite", "operator"}, {{"stillHeldBytes"}},
                                     Measured::kBytes, Chart::SameLabel::kSum)};
  for (const auto& [id, part] : ranks) {
    if (!part.peak) continue;
    const RankIndex rank = BeginRank(id, report);
    summary.Add({id, &part}, rank);
    for (const Held& one : part.holders) peak.Add({id, &one, &part}, rank);
    for (const StepMemory& one : part.steps) steps.Add({id, &one, &part}, rank);
    for (const Leak& one : part.leaks) growth.Add({id, &one, &part}, rank);
    for (const Level& one : part.points) points.Add({id, &one, &part}, rank);
  }
  for (Sheet* sheet : {&summary.sheet, &peak.sheet, &steps.sheet, &growth.sheet, &points.sheet})
    report.sheets.push_back(std::move(*sheet));
}

// The memory of the ranks, in a few lines.

namespace {

using Rank = OfRank<RankMemory>;

std::string Bytes(std::int64_t bytes) { return AmountText(Quantity::kBytes, bytes); }

}  // namespace

std::string NameOf(const Holder& holder) {
  if (holder.op.starts_with('(')) return std::string(Translated(holder.op));
  return holder.within.empty() || holder.within == holder.op
             ? holder.op
             : Say("{} in {}", holder.op, holder.within);
}

std::string TextOf(const Holder& holder) {
  return holder.site.empty() ? NameOf(holder) : Say("{} at {}", NameOf(holder), holder.site);
}

namespace {

void AddAnswer(const Rank& worst, const std::vector<RankValue>& peaks, Report& report) {
  const RankMemory& part = worst.part;
  report.lines.push_back(
      Say("peak: {} allocated on {}", Bytes(part.peak->Allocated()), RankText(worst.rank)));
  if (peaks.size() > 1) {
    const RankSpread spread = SpreadOf(peaks);
    report.lines.push_back(Say("  of {} ranks: min {}, median {}", peaks.size(),
                               Bytes(static_cast<std::int64_t>(spread.min.value)),
                               Bytes(static_cast<std::int64_t>(spread.median))));
  }
  const std::string step = part.peak_step >= 0 ? Say(" in step {}", part.peak_step) : "";
  std::string text = Say("  {:.3f} ms after the start{}", InMs(part.peak->time - part.begin), step);
  if (part.peak->reserved > 0) {
    text += Say("; {} reserved, {:.1f} % of it unused", Bytes(part.peak->reserved),
                PercentOf(std::max<std::int64_t>(part.peak->reserved - part.peak->Allocated(), 0),
                          part.peak->reserved));
  }
  report.lines.push_back(std::move(text));
  if (part.most_reserved > 0) {
    report.lines.push_back(Say("  peak memory reserved: {}", Bytes(part.most_reserved)));
  }
}

void AddCategories(const Level& peak, Report& report) {
  std::vector<std::pair<std::int64_t, Category>> held;
  for (std::size_t i = 0; i < kCategories; ++i) {
    if (peak.bytes[i] > 0) held.push_back({peak.bytes[i], static_cast<Category>(i)});
  }
  StableSort(held, [](const auto& a, const auto& b) { return a.first > b.first; });
  const AmountScale scale(Quantity::kBytes, peak.Allocated());
  const ScreenList list(0, {ScreenText("held for", 24), ScreenAmount(scale.unit(), 12, scale),
                            ScreenPercent("share", 8)});
  report.lines.push_back(list.Heading());
  for (const auto& [bytes, category] : held) {
    report.lines.push_back(
        list.Line(fmt::format("  {}", Translated(memory_timeline::NameOf(category))), bytes,
                  PercentOf(bytes, peak.Allocated())));
  }
}

// How much the kinds are worth.
void AddEvidence(const RankMemory& part, Report& report) {
  report.lines.push_back(std::string(Translated(
      part.is_listed ? "  parameters and states are listed by the framework; the rest is estimated"
                     : "  estimated from lifetimes and names of operators")));
  if (part.before > 0) {
    report.lines.push_back(Say("  {:.1f} % of {} from before the capture is explained",
                               PercentOf(part.before_explained, part.before), Bytes(part.before)));
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
  const ScreenList list(0, {ScreenText("held most by", NameColumns(55)),
                            ScreenAmount(scale.unit(), 10, scale), ScreenNumber("count", 6)});
  report.lines.push_back(list.Heading());
  for (std::size_t i = 0; i < std::min(kShown, listed.size()); ++i) {
    const Held& one = *listed[i];
    report.lines.push_back(
        list.Line("  " + NameCell(NameOf(one.holder), 53), one.bytes, one.count));
    const std::string_view category = Translated(memory_timeline::NameOf(one.holder.category));
    report.lines.push_back(
        one.holder.site.empty()
            ? fmt::format("    {}", category)
            : Say("    {}, {}", category, ShortenName(one.holder.site, NameColumns(50))));
  }
  AddMoreLine(listed.size(), kShown, "holder", report.lines);
}

void AddStep(const RankMemory& part, Report& report) {
  if (part.steps.size() < 2) return;
  const StepMemory& first = part.steps.front();
  const StepMemory& last = part.steps.back();
  report.lines.push_back(Say("at the start of step {}: {}, of step {}: {}", first.id,
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
    report.lines.push_back(std::string(Translated(
        judged ? "growth: no kind of allocation repeatedly outlives the step after its own"
               : "growth: unknown; that needs three steps or more")));
    return;
  }
  const std::string ranks_text =
      Say("{} of {}", leaking, Counted(static_cast<std::int64_t>(ranks.size()), "rank"));
  const std::optional<std::int64_t> growth = most->part.GrowthPerStep();
  report.lines.push_back(
      growth ? Say("growth: {} a step on {}; leaks on {}", Bytes(*growth), RankText(most->rank),
                   ranks_text)
             : Say("growth: leaks on {}; most on {}", ranks_text, RankText(most->rank)));
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < std::min(kShown, most->part.leaks.size()); ++i) {
    const Leak& leak = most->part.leaks[i];
    report.lines.push_back(Say("  {}: {} of {} steps",
                               ShortenName(NameOf(leak.holder), NameColumns(50)), Bytes(leak.bytes),
                               leak.steps));
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
  AddEvidence(ranks[worst].part, report);
  AddHolders(ranks[worst].part, report);
  AddStep(ranks[worst].part, report);
  AddGrowth(ranks, report);
  OutlierLines outliers;
  outliers.Add(Translated("peak"), peaks,
               [](double bytes) { return Bytes(static_cast<std::int64_t>(bytes)); });
  outliers.AppendTo(report.lines);
  if (detail != Detail::kAll || ranks.size() < 2) return;
  for (const Rank& rank : ranks)
    report.lines.push_back(Say("{}: peak {}", RankText(rank.rank), Bytes(peak_of(rank))));
}

}  // namespace mpa::recipes::memory_timeline

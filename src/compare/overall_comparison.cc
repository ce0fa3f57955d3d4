// SPDX-License-Identifier: Apache-2.0
// The overall comparison: where the end-to-end time of two captures went.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compare_sheet.h"
#include "mpa/base/language.h"
#include "mpa/base/parallel.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/change/account_change.h"
#include "mpa/change/step_account.h"
#include "mpa/compare/comparison.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/quantiles.h"
#include "mpa/measure/serving_steps.h"
#include "mpa/report/amount.h"
#include "mpa/report/change_tree.h"
#include "overall.h"

namespace mpa::comparisons {
namespace {

// Two captures of servers, by what their steps do.

AccountTimes Scaled(AccountTimes account, double factor) {
  if (factor == 1) return account;
  for (TimesByName* times : {&account.parts, &account.places}) {
    for (auto& [name, amount] : *times) {
      amount.time = std::llround(static_cast<double>(amount.time) * factor);
    }
  }
  return account;
}

/// How the steps of a server changed. Steps of one phase and size are compared with each other, and
/// never a step that decodes with one that reads prompts.
class ServingChanges {
 public:
  explicit ServingChanges(const CompareInput& input) : input_(input) {
    for (const Side side : kSides) {
      if (input.Trace(side).serving_marks.Empty()) return;
    }
    ParallelFor(kSides.size(), [&](std::size_t side) {
      const RankTrace& trace = input.Trace(kSides[side]);
      accounts_[side] = AccountServingSteps(trace);
      steps_[side] = AccountServing(trace, accounts_[side]);
    });
    if (steps_[0].empty() || steps_[1].empty()) return;
    for (std::size_t side = 0; side < kSides.size(); ++side) {
      for (const auto& [phase, steps] : StepsByPhase(steps_[side])) {
        phases_[phase][side] = Measure(side, steps);
      }
    }
  }

  /// True where not both captures are of servers that name their steps.
  bool Empty() const { return phases_.empty(); }
  const HostClock& ClockOf(std::size_t side) const { return accounts_[side].clock; }
  /// What changed by phase and size, and why; what only one side has. The report gets a picture of
  /// each, and the change of the phase that takes most time.
  std::vector<std::string> Describe(TimeNs base_e2e, TimeNs comparison_e2e, Report& report) const {
    // The phases and sizes that take most time.
    constexpr std::size_t kMax = 6;
    std::vector<const BothSides*> common;
    std::array<std::vector<std::string>, 2> alone;
    for (const auto& [phase, sides] : phases_) {
      if (!sides[0].steps.empty() && !sides[1].steps.empty()) {
        common.push_back(&sides);
      } else {
        const std::size_t side = sides[0].steps.empty() ? 1 : 0;
        alone[side].push_back(
            fmt::format("{} ({})", NameOfPhase(sides),
                        Counted(static_cast<std::int64_t>(sides[side].steps.size()), "step")));
      }
    }
    StableSort(common, [](const BothSides* a, const BothSides* b) {
      const auto time = [](const BothSides& sides) {
        return static_cast<std::int64_t>(sides[0].steps.size()) * sides[0].median;
      };
      return time(*a) > time(*b);
    });
    const AmountScale whole = AmountScale::ForPartsOf(std::max(base_e2e, comparison_e2e));
    std::vector<std::string> lines = {
        Say("end to end: {} -> {} {} ({})", whole.Text(whole.Rounded(base_e2e)),
                    whole.Text(whole.Rounded(comparison_e2e)), whole.unit(),
                    GrowthOf(base_e2e, comparison_e2e))};
    if (common.empty())
      lines.emplace_back(
          Translated("no steps of the same phase and size are on both sides: nothing is compared"));
    for (std::size_t i = 0; i < std::min(kMax, common.size()); ++i) {
      const OneSide &base = (*common[i])[0], &comparison = (*common[i])[1];
      const bool by_token = base.per_token > 0 && comparison.per_token >= 0;
      const TimeNs before = by_token ? base.per_token : base.median;
      const TimeNs after = by_token ? comparison.per_token : comparison.median;
      const AmountScale scale(Quantity::kTime, std::max(before, after));
      lines.push_back(fmt::format(
          "{}: {} -> {} {} {} ({}), {}", NameOfPhase(*common[i]), scale.Text(scale.Rounded(before)),
          scale.Text(scale.Rounded(after)), scale.unit(),
          Translated(by_token ? NameOfTokenTime(steps_[0][base.steps.front()].batch.phase)
                              : "a step"),
          GrowthOf(before, after),
          base.steps.size() == comparison.steps.size()
              ? Counted(static_cast<std::int64_t>(base.steps.size()), "step")
              : Say("{} steps instead of {}", comparison.steps.size(), base.steps.size())));
      // Steps of prefill have different numbers of tokens: those of the base count.
      const bool rescaled = by_token && comparison.median > 0 && comparison.per_token > 0;
      const double tokens_ratio = rescaled ? static_cast<double>(base.median) /
                                                 static_cast<double>(base.per_token) /
                                                 (static_cast<double>(comparison.median) /
                                                  static_cast<double>(comparison.per_token))
                                           : 1.0;
      const bool same_tokens = std::abs(tokens_ratio - 1) < 0.001;
      for (std::string& line : Causes(*common[i], same_tokens ? 1.0 : tokens_ratio, report))
        lines.push_back(std::move(line));
    }
    if (common.size() > kMax)
      lines.push_back(Say("and {} more, see the sheet ServingPhases", common.size() - kMax));
    for (std::size_t side = 0; side < kSides.size(); ++side) {
      if (alone[side].empty()) continue;
      const std::size_t all = alone[side].size();
      if (all > kMax) alone[side].resize(kMax);
      lines.emplace_back(Translated(side == 0 ? "only in the base:" : "only in the comparison:"));
      for (const std::string& name : alone[side]) lines.push_back("  " + name);
      AddMoreLine(all, alone[side].size(), "size", lines);
    }
    return lines;
  }
  /// A row for each phase and size of either side.
  Sheet MakeSheet() const {
    std::vector<Column> of_side = {
        PlainColumn("Steps", "Number of steps, without warm-up steps."),
        Decimals("Median Duration(us)", "Median of the time from step to step, in us."),
        Decimals("Time per Prompt Token(us)",
                 "Prefill: median of the step time divided by the prompt tokens, in us."),
        Decimals("Time to Next Token(us)",
                 "Decode: median of the time until a request gets its next token, in us.")};
    for (std::size_t part = 0; part < kServingParts; ++part) {
      const std::string title(TitleOf(static_cast<ServingPart>(part)));
      of_side.push_back(Decimals(fmt::format("{}(us)", title),
                                 fmt::format("Time in the mean step, in us: {}.", title)));
    }
    Sheet sheet = CompareSheet(
        "ServingPhases",
        {{PlainColumn("Phase", "prefill, decode, mixed, dummy or unknown."),
          PlainColumn(
              "Size",
              "Size of the steps; steps of one phase and size are compared with each other.", 24)},
         ForBothSides(of_side),
         {Growth(
             "Diff Ratio",
             RatioMeaning("Time per prompt token or to the next token, or else the step time,"))}},
        input_);
    for (const auto& [phase, sides] : phases_) {
      const std::size_t present = sides[0].steps.empty() ? 1 : 0;
      Row row{{std::string(NameOf(phase.first)),
               SizeText(steps_[present][sides[present].steps.front()].batch)}};
      for (const OneSide& side : sides) {
        if (side.steps.empty()) {
          row.cells.resize(row.cells.size() + of_side.size());
          continue;
        }
        const auto steps = static_cast<std::int64_t>(side.steps.size());
        AppendCells(row, steps, InUs(side.median));
        for (const ServingPhase of : {ServingPhase::kPrefill, ServingPhase::kDecode}) {
          const bool known = phase.first == of && side.per_token >= 0;
          row.cells.push_back(known ? Cell(InUs(side.per_token)) : Cell());
        }
        for (const TimeNs time : side.times) {
          AppendCells(row, InUs(time) / static_cast<double>(steps));
        }
      }
      const bool both = !sides[0].steps.empty() && !sides[1].steps.empty();
      const bool by_token = sides[0].per_token > 0 && sides[1].per_token >= 0;
      const auto value = [&](const OneSide& side) {
        return static_cast<double>(by_token ? side.per_token : side.median);
      };
      row.cells.push_back(both && value(sides[0]) > 0 ? Cell(value(sides[1]) / value(sides[0]))
                                                      : Cell());
      sheet.rows.push_back(std::move(row));
    }
    return sheet;
  }

 private:
  /// The steps of one phase and size on one side.
  struct OneSide {
    std::vector<std::size_t> steps;
    TimeNs median = 0;     ///< of the lengths
    TimeNs per_token = 0;  ///< median; -1: unknown
    ServingTimes times = {};
  };
  using BothSides = std::array<OneSide, 2>;

  OneSide Measure(std::size_t side, const std::vector<std::size_t>& steps) const {
    OneSide measured{.steps = steps};
    std::vector<TimeNs> lengths, per_token;
    for (const std::size_t i : steps) {
      const ServingAccount& step = steps_[side][i];
      lengths.push_back(step.Length());
      if (const TimeNs time = step.TimePerToken(); time >= 0) per_token.push_back(time);
      for (std::size_t part = 0; part < kServingParts; ++part) {
        measured.times[part] += step.times[part];
      }
    }
    measured.median = Median(std::move(lengths));
    measured.per_token = per_token.empty() ? -1 : Median(std::move(per_token));
    return measured;
  }
  // "decode, 32 requests"
  std::string NameOfPhase(const BothSides& sides) const {
    const std::size_t side = sides[0].steps.empty() ? 1 : 0;
    const ServingBatch& batch = steps_[side][sides[side].steps.front()].batch;
    const std::string size = SizeText(batch);
    return fmt::format("{}{}{}", NameOf(batch.phase), size.empty() ? "" : ", ", size);
  }
  // What the median step is made of, as everywhere. `scaled`: the comparison's times by it, because
  // its steps have more or fewer tokens.
  std::vector<std::string> Causes(const BothSides& sides, double scaled, Report& report) const {
    std::array<AccountTimes, 2> times;
    ParallelFor(kSides.size(), [&](std::size_t side) {
      RankAccount account = accounts_[side];
      account.steps.clear();
      for (const std::size_t i : sides[side].steps)
        account.steps.push_back(accounts_[side].steps[i]);
      times[side] = MedianAccount(input_.Trace(kSides[side]), account, 0, {.kernel_types = false});
    });
    times[1] = Scaled(std::move(times[1]), scaled);
    ChangeNode whole = AccountChange(Say("step, {}", NameOfPhase(sides)), times[0], times[1]);
    whole.base = sides[0].median;
    whole.comparison = std::llround(static_cast<double>(sides[1].median) * scaled);
    AddRest(kRemainder, "other", whole);
    report.drawings.push_back(ChangeChart(whole));
    const AmountScale scale = AmountScale::ForPartsOf(std::max(whole.base, whole.comparison));
    constexpr std::size_t kIndent = 2, kMax = 4;
    std::vector<std::string> lines =
        ChangeLines(SummariseChange(whole, scale), scale, input_.options().screen_width - kIndent);
    if (lines.size() > kMax) lines.resize(kMax);
    for (std::string& line : lines) line.insert(0, kIndent, ' ');
    if (report.change.children.empty()) report.change = std::move(whole);  // of the longest phase
    return lines;
  }

  const CompareInput& input_;
  std::array<RankAccount, 2> accounts_;
  std::array<std::vector<ServingAccount>, 2> steps_;
  std::map<PhaseAndSize, BothSides> phases_;
};

void AddEarlierTimes(const EarlierTime& base, const EarlierTime& comparison,
                     std::vector<std::string>& lines) {
  for (const EarlierTime* side : {&base, &comparison}) {
    if (side->time <= 0) continue;
    lines.emplace_back(Translated(side == &base ? "of the base:" : "of the comparison:"));
    lines.push_back("  " + EarlierTimeText(*side));
  }
}

void CompareOverall(const CompareInput& input, Report& report) {
  const KernelMasks& masks = input.options().masks;
  for (const Side side : {Side::kBase, Side::kComparison}) {
    if (!input.Trace(side).HasTimeline()) return;  // named when it was read
  }
  const ServingChanges serving(input);
  std::array<RankAccount, 2> accounts;
  std::array<OverallMetrics, 2> sides;
  ParallelFor(sides.size(), [&](std::size_t i) {
    const RankTrace& trace = input.Trace(kSides[i]);
    if (serving.Empty()) accounts[i] = AccountRank(trace);
    const HostClock& clock = serving.Empty() ? accounts[i].clock : serving.ClockOf(i);
    sides[i] = ComputeOverall(trace, clock, masks, input.options().compat);
  });
  if (!input.options().compat) {
    ShareAllocators(input.Trace(Side::kBase), input.Trace(Side::kComparison), sides[0], sides[1]);
  }
  const OverallMetrics &base = sides[0], &comparison = sides[1];
  const CompareOptions& options = input.options();
  if (!options.compat && (base.e2e == 0 || comparison.e2e == 0)) {
    report.screens.push_back(OverallWithoutWork(input, base, comparison));
  } else {
    report.screens.push_back(options.wide_screen || options.compat
                                 ? OverallWideScreen(base, comparison, options.compat)
                                 : OverallScreen(input, base, comparison));
  }
  report.story = serving.Empty()
                     ? DescribeChanges(input, base, comparison, std::move(accounts), report)
                     : serving.Describe(base.e2e, comparison.e2e, report);
  if (!options.compat) AddEarlierTimes(base.earlier, comparison.earlier, report.story);
  bool complete = true;
  for (const Side side : {Side::kBase, Side::kComparison}) {
    const OverallMetrics& metrics = side == Side::kBase ? base : comparison;
    if (metrics.e2e == 0) {
      report.notes.push_back(
          Say("OverallMetrics: left out, because {} has no device activity", input.Path(side)));
      complete = false;
    } else if (!metrics.has_categories) {
      report.notes.push_back(
          Say("OverallMetrics: {} does not distinguish cube from vector kernels, its breakdown is"
              " N/A; collect with profiler_level Level1 or higher and keep"
              " kernel_details.csv beside the trace",
              input.Path(side)));
    }
    if (metrics.has_too_many_groups) {
      report.notes.push_back(
          Say("OverallMetrics: {} has {} communication groups, more than a rank can have; they are"
              " counted as one",
              input.Path(side), input.Trace(side).comm_groups.Size()));
    }
  }
  if (complete) report.sheets.push_back(OverallSheet(input, base, comparison));
  if (!serving.Empty()) report.sheets.push_back(serving.MakeSheet());
}

void JudgeKernels(const Contents& recorded, Verdict& verdict) {
  const bool no_cores = recorded.kernel_cores == Recorded::kNo;
  verdict.AddLack(no_cores,
                  "kernels have no type and no core: the breakdown of computing time is N/A",
                  "profiler_level=Level1, and keep kernel_details.csv beside the trace");
  verdict.AddLack(!no_cores && recorded.kernel_types == Recorded::kNo,
                  "kernels have no operator type: those that no operator launched are"
                  " distinguished by core only",
                  "profiler_level=Level1");
  verdict.AddLack(
      recorded.counters == Recorded::kNo,
      "no hardware counters: kernels that compute and communicate at once are not split",
      "aic_metrics=PipeUtilization with profiler_level=Level1");
  verdict.AddLack(recorded.host_ops == Recorded::kNo,
                  "no host operators: kernels are attributed by their names only",
                  "activities with ProfilerActivity.CPU");
}

void JudgeCommunication(const RankFacts& facts, Verdict& verdict) {
  const Contents& recorded = facts.recorded;
  if (recorded.communication == Recorded::kNo) return;  // nothing to tell
  verdict.AddLack(recorded.communication_tasks == Recorded::kNo,
                  "no communication tasks: waiting inside communication is unknown",
                  "profiler_level=Level1");
  const bool database = facts.kind == CaptureKind::kNpuDb;
  verdict.AddLack(
      recorded.bandwidths == Recorded::kNo,
      database ? "bandwidths are unknown: they are read from the communication.json of text"
                 " captures"
               : "no communication.json: bandwidths are unknown",
      database ? "export_type=Text with profiler_level=Level1" : "profiler_level=Level1");
}

Verdict JudgeOverall(const RankFacts& facts) {
  const bool idle = facts.recorded.device_tasks == Recorded::kNo;
  Verdict verdict = JudgeReadable(facts)
                        .Refuse(idle && facts.complete == Recorded::kNo,
                                "the data breaks off before any device activity", kCopyAgain)
                        .Refuse(idle, "no device activity was recorded", DeviceSetting(facts));
  if (facts.kind != CaptureKind::kGpu) {
    verdict.AddLack(facts.kind == CaptureKind::kNpuText && facts.single_file,
                    "only the trace was given: the breakdown, bandwidths and memory use are in the"
                    " files beside it",
                    "give the directory of the capture");
    verdict.AddLack(facts.kind == CaptureKind::kNpuKineto,
                    "torch.profiler traces of NPUs have no copies", kCollectByTorchNpu);
    JudgeKernels(facts.recorded, verdict);
    JudgeCommunication(facts, verdict);
  }
  verdict.AddLack(facts.recorded.memory == Recorded::kNo, "no memory record: memory use is unknown",
                  "profile_memory=True");
  verdict.AddLack(facts.complete == Recorded::kNo,
                  "the data breaks off: the end of the run is missing", kCopyAgain);
  return verdict;
}

}  // namespace

Comparison Overall() {
  return {"profiling",
          "overall",
          "End-to-end time: computing, communication, free time",
          Tables::kHostOps | Tables::kLaunches | Tables::kKernels | Tables::kKernelCounters |
              Tables::kDeviceTasks | Tables::kCommunications | Tables::kCommTasks |
              Tables::kOverlaps | Tables::kMemorySamples | Tables::kTransfers | Tables::kJobInfo |
              Tables::kOpStacks | Tables::kSteps | Tables::kHostCalls | kAccountTables,
          CompareOverall,
          JudgeOverall};
}

}  // namespace mpa::comparisons

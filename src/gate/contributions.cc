// SPDX-License-Identifier: Apache-2.0
// Where the difference of the step comes from.
#include "contributions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "levels.h"
#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/base/utf8.h"
#include "mpa/change/account_names.h"
#include "mpa/change/job_causes.h"
#include "mpa/gate/comparable.h"
#include "phases.h"

namespace mpa::gate {
namespace {

ChangeNode WholeOf(std::string name, std::vector<ChangeNode> children) {
  ChangeNode whole{"component", std::move(name)};
  for (ChangeNode& child : children) AddChild(std::move(child), whole);
  return whole;
}

// Missing entries count as 0.
Runs SamplesOrNone(const std::vector<RunSummary>& runs, MetricKind kind) {
  Runs samples = SamplesOf(runs, {kind, ""});
  return samples.empty() ? Runs{{0}} : samples;
}

bool Has(const std::vector<RunSummary>& runs, MetricKind kind) {
  return !SamplesOf(runs, {kind, ""}).empty();
}

// Names that only `of` has.
void AddMissing(const TimesByName& from, const TimesByName& of, std::vector<std::string>& names) {
  if (from.empty() || of.empty()) return;  // not recorded is not removed
  for (const auto& [name, time] : of) {
    if (!from.contains(name)) names.push_back(name);
  }
}

std::vector<ChangeNode> KernelsOf(const Breakdown& base, const Breakdown& comparison) {
  for (const auto section : {&Breakdown::op_types, &Breakdown::kernels}) {
    if (!(base.*section).empty() && !(comparison.*section).empty()) {
      return JoinTimes(base.*section, comparison.*section, "kernel");
    }
  }
  return {};
}

AccountTimes AccountOf(const Breakdown& of) {
  return {of.account, of.places, of.op_types.empty() ? of.kernels : of.op_types};
}

// True for a component of the step that the metric measures.
bool IsMeasuredBy(MetricKind kind, const std::string& component) {
  switch (kind) {
    case MetricKind::kComputing:
      return component == kComputing;
    case MetricKind::kCommExposed:
      return component == kExposed;
    case MetricKind::kFree:
      return component == kFreeTime;
    case MetricKind::kCopies:
      return component == kCopies;
    default:
      return false;
  }
}

// One of the metrics that the account explains; without children for others.
ChangeNode AccountChangeOf(MetricKind kind, const Breakdown& base, const Breakdown& comparison,
                           double noise) {
  if (base.account.empty() || comparison.account.empty()) return {};
  ChangeNode step = AccountChange("step", AccountOf(base), AccountOf(comparison), noise);
  if (kind == MetricKind::kStepTime || kind == MetricKind::kE2e) return step;
  std::vector<ChangeNode> parts;
  for (ChangeNode& part : step.children) {
    if (!IsMeasuredBy(kind, part.name)) continue;
    std::move(part.children.begin(), part.children.end(), std::back_inserter(parts));
  }
  return WholeOf("", std::move(parts));
}

// The same of runs without an account, from the medians of their tables.
class TableChange {
 public:
  TableChange(const std::vector<RunSummary>& base, const std::vector<RunSummary>& comparison,
              const Breakdown& base_times, const Breakdown& times)
      : base_(base), comparison_(comparison), base_times_(base_times), times_(times) {}

  ChangeNode Of(MetricKind kind) const {
    const bool has_steps =
        Has(base_, MetricKind::kStepTime) || Has(comparison_, MetricKind::kStepTime);
    if (kind == MetricKind::kE2e && has_steps) {
      if (base_times_.capture.empty() || times_.capture.empty()) return {};
      return WholeOf("", InWords(JoinTimes(base_times_.capture, times_.capture, "component")));
    }
    if (kind == MetricKind::kStepTime || kind == MetricKind::kE2e) {
      for (const MetricKind part : {MetricKind::kComputing, MetricKind::kCommExposed}) {
        if (!Has(base_, part) || !Has(comparison_, part)) return {};
      }
      std::vector<ChangeNode> parts = {Computing(), Exposed(), Part("LCCL", MetricKind::kLccl)};
      for (const auto& [name, part] :
           {std::pair{kCopies, MetricKind::kCopies}, {kFreeTime, MetricKind::kFree}}) {
        if (Has(base_, part) && Has(comparison_, part)) parts.push_back(Part(name, part));
      }
      return WholeOf("", std::move(parts));
    }
    if (kind == MetricKind::kComputing) return WholeOf("", {Computing()});
    if (kind == MetricKind::kCommExposed) return WholeOf("", {Exposed()});
    if (kind == MetricKind::kLccl) return WholeOf("", {Part("LCCL", kind)});
    if (kind == MetricKind::kCopies) return WholeOf("", {Part(kCopies, kind)});
    if (kind == MetricKind::kFree) return WholeOf("", {Part(kFreeTime, kind)});
    return {};
  }

 private:
  // Of the names that baselines keep.
  static std::vector<ChangeNode> InWords(std::vector<ChangeNode> parts) {
    constexpr std::string_view kExposedKind = "exposed ";
    for (ChangeNode& part : parts) {
      if (part.name.starts_with(kExposedKind) && part.name != mpa::kExposed)
        part.name = Say("exposed {}", part.name.substr(kExposedKind.size()));
    }
    return parts;
  }

  ChangeNode Part(const char* name, MetricKind kind) const {
    const Levels levels = LevelsOf(SamplesOrNone(base_, kind), SamplesOrNone(comparison_, kind));
    return {"component", name, levels.base, levels.comparison};
  }

  ChangeNode Computing() const {
    ChangeNode computing = Part(kComputing, MetricKind::kComputing);
    computing.children = KernelsOf(base_times_, times_);
    for (ChangeNode& kernel : computing.children) kernel.name = ShortFunctionName(kernel.name);
    return WithRest("kernels that ran at the same time", std::move(computing));
  }

  // Collectives are named by what they did to the step.
  ChangeNode Exposed() const {
    ChangeNode exposed = Part(kExposed, MetricKind::kCommExposed);
    exposed.children = JoinTimes(base_times_.collectives, times_.collectives, "collective");
    for (ChangeNode& kind : exposed.children) kind.name = Say("exposed {}", kind.name);
    return WithRest("other exposed communication", std::move(exposed));
  }

  static ChangeNode WithRest(const char* name, ChangeNode whole) {
    if (!whole.children.empty()) AddRest("component", name, whole);
    return whole;
  }

  const std::vector<RunSummary>& base_;
  const std::vector<RunSummary>& comparison_;
  const Breakdown& base_times_;
  const Breakdown& times_;
};

}  // namespace

ChangeNode ChangeOf(const Metric& metric, const std::vector<RunSummary>& base,
                    const std::vector<RunSummary>& comparison, double noise) {
  if (IsPhase(metric.kind)) {
    return ChangeOfPhase(metric, MedianBreakdown(base), MedianBreakdown(comparison));
  }
  if (!Has(base, metric.kind) || !Has(comparison, metric.kind) || HasPattern(metric.kind)) {
    return {};
  }
  const Breakdown base_times = MedianBreakdown(base), times = MedianBreakdown(comparison);
  const bool of_steps = Has(base, MetricKind::kStepTime) || Has(comparison, MetricKind::kStepTime);
  ChangeNode whole;
  if (metric.kind != MetricKind::kE2e || !of_steps) {
    whole = AccountChangeOf(metric.kind, base_times, times, noise);
  }
  if (whole.children.empty()) {
    whole = TableChange(base, comparison, base_times, times).Of(metric.kind);
  }
  if (whole.children.empty()) return {};
  const Levels levels = LevelsOf(SamplesOf(base, metric), SamplesOf(comparison, metric));
  whole.name = NameOf(metric);
  whole.base = levels.base;
  whole.comparison = levels.comparison;
  AddRest(kRemainder, "other", whole);
  return whole;
}

namespace {

// Those of the run whose step is in the middle; null: no run knows them.
const JobCauses* MiddleCauses(const std::vector<RunSummary>& runs) {
  std::vector<const JobCauses*> known;
  for (const RunSummary& run : runs) {
    if (run.causes) known.push_back(&*run.causes);
  }
  if (known.empty()) return nullptr;
  std::ranges::stable_sort(known, {}, &JobCauses::step);
  return known[(known.size() - 1) / 2];
}

}  // namespace

ChangeNode CausesOfChange(const Metric& metric, const std::vector<RunSummary>& base,
                          const std::vector<RunSummary>& comparison) {
  const JobCauses *before = MiddleCauses(base), *after = MiddleCauses(comparison);
  if (metric.kind != MetricKind::kStepTime || before == nullptr || after == nullptr) return {};
  const Levels levels = LevelsOf(SamplesOf(base, metric), SamplesOf(comparison, metric));
  JobCauses of_base = *before, of_comparison = *after;
  of_base.step = levels.base;
  of_comparison.step = levels.comparison;
  return CauseChange(NameOf(metric), of_base, of_comparison);
}

ChangeNode ChangeOfFitting(const Metric& metric, const std::vector<RunSummary>& base,
                           const std::vector<RunSummary>& comparison) {
  const auto section =
      metric.kind == MetricKind::kKernel ? &Breakdown::kernels : &Breakdown::op_types;
  std::vector<ChangeNode> kernels =
      JoinTimes(MedianBreakdown(base).*section, MedianBreakdown(comparison).*section, "kernel");
  std::erase_if(
      kernels, [&](const ChangeNode& kernel) { return !FitsPattern(metric.pattern, kernel.name); });
  for (ChangeNode& kernel : kernels) kernel.name = ShortFunctionName(kernel.name);
  return WholeOf(NameOf(metric), std::move(kernels));
}

std::vector<ChangeNode> OperatorsOf(const std::vector<RunSummary>& base,
                                    const std::vector<RunSummary>& comparison) {
  return CategoriesOf(WholeOf("", JoinTimes(MedianBreakdown(base).operators,
                                            MedianBreakdown(comparison).operators, "operator")));
}

std::vector<ChangeNode> HostCallsThatGrew(const std::vector<RunSummary>& base,
                                          const std::vector<RunSummary>& comparison, double noise) {
  const Breakdown before = MedianBreakdown(base), after = MedianBreakdown(comparison);
  if (!before.account.empty() && !after.account.empty()) {
    return PlacesThatGrew(AccountOf(before), AccountOf(after), noise);
  }
  if (before.apis.empty() || after.apis.empty()) return {};  // not recorded has not grown
  return Grown(JoinTimes(before.apis, after.apis, "host"), noise);
}

std::vector<std::string> NewNames(const std::vector<RunSummary>& runs,
                                  const std::vector<RunSummary>& others) {
  const Breakdown times = MedianBreakdown(runs), without = MedianBreakdown(others);
  std::vector<std::string> names;
  AddMissing(without.op_types, times.op_types, names);
  AddMissing(without.operators, times.operators, names);
  return names;
}

// The first line that people read.

namespace {

std::string WithUnit(const std::string& number, std::string_view unit) {
  return unit.empty() ? number : fmt::format("{} {}", number, unit);
}

std::string ChangeText(const GateMetric& metric, const AmountScale& scale) {
  if (const auto percent = metric.ChangePercent()) return fmt::format("{:+.1f} %", *percent);
  return WithUnit(scale.Signed(scale.Rounded(metric.Change())), scale.unit());
}

// "REGRESSION step_time 13.87 -> 21.24 ms"
std::string ValuesLine(const GateMetric& metric, const AmountScale& scale) {
  return fmt::format("{} {} {} -> {}", VerdictWord(metric.verdict), metric.name,
                     scale.Text(scale.Rounded(metric.base)),
                     WithUnit(scale.Text(scale.Rounded(metric.comparison)), scale.unit()));
}

std::string NoiseText(const GateMetric& metric) {
  if (metric.base == 0) return AmountText(metric.quantity, std::llround(metric.noise));
  return fmt::format("{:.1f} %", 100 * metric.noise / std::abs(static_cast<double>(metric.base)));
}

// The beginning of the text that ends with a part of the sentence.
std::string Beginning(const std::string& text, std::size_t most) {
  if (ColumnsOf(text) <= most) return text;
  std::size_t end = 0;
  for (const std::string_view mark : {": ", "; ", ", "}) {
    const std::size_t found = text.rfind(mark, most);
    if (found != std::string::npos && found > end) end = found;
  }
  return CutEnd(ShortenMiddle(end > 0 ? text.substr(0, end) : text, most), most);
}

}  // namespace

std::string MetricLine(const GateMetric& metric) {
  if (!metric.IsMeasured()) {
    return fmt::format("{} {}: {}", VerdictWord(metric.verdict), metric.name, metric.reason);
  }
  const AmountScale scale(metric.quantity, std::max(metric.base, metric.comparison));
  std::string line = ValuesLine(metric, scale);
  if (metric.verdict == GateVerdict::kInconclusive) return line + ": " + metric.reason;
  std::string how = ChangeText(metric, scale);
  if (!metric.limit.empty()) how = Say("{}, limit {}", how, metric.limit);
  if (metric.quantity != Quantity::kCount) how = Say("{}, noise {}", how, NoiseText(metric));
  line = Say("{} ({})", line, how);
  return metric.verdict == GateVerdict::kUndecided ? line + ": " + metric.reason : line;
}

void SetHeadline(std::string text, GateReport& report) {
  report.headline = std::move(text);
  report.short_headline = Beginning(report.headline, kShortHeadline);
}

void SetHeadline(const GateMetric& metric, const ChangeNode& change, GateReport& report) {
  const AmountScale scale(metric.quantity, std::max(metric.base, metric.comparison));
  const std::int64_t rounded = scale.Rounded(metric.comparison) - scale.Rounded(metric.base);
  // The words that name a cause need the room; the limit and the noise are in the next line then.
  const bool has_cause = !change.children.empty() && change.children.front().kind == kCauseKind;
  const std::string begin =
      has_cause ? Say("{} ({})", ValuesLine(metric, scale), ChangeText(metric, scale))
                : metric.line;
  const std::int64_t least_rest = has_cause ? std::max<std::int64_t>(1, std::abs(rounded) / 10) : 1;
  const auto line = [&](const std::string& values, std::size_t width) {
    const std::size_t taken = ColumnsOf(values) + 2;
    const std::string causes =
        width > taken ? ChangeCauses(change, scale, rounded, width - taken, least_rest) : "";
    return values + (causes.empty() ? "" : ": " + causes);
  };
  report.headline = line(begin, std::string::npos);
  report.short_headline = Beginning(line(begin, kShortHeadline), kShortHeadline);
}

std::string MismatchLine(const std::vector<GateMismatch>& mismatches, std::size_t warmup) {
  std::string list, advice;
  for (const GateMismatch& mismatch : mismatches) {
    if (mismatch.allowed) continue;
    if (mismatch.field == "warmup") {
      // One of the sides is a baseline, which stays as it is.
      const bool base_is_given = mismatch.base == std::to_string(warmup);
      advice = Say("give --warmup {}", base_is_given ? mismatch.comparison : mismatch.base);
    } else {
      list += (list.empty() ? "" : ",") + mismatch.field;
    }
  }
  if (!list.empty()) {
    if (!advice.empty()) advice += "; ";
    advice +=
        Say("collect both sides alike, or allow the difference with --allow_mismatch {}", list);
  }
  return fmt::format("{} {}: {}", VerdictWord(GateVerdict::kNotComparable),
                     MismatchText(mismatches), advice);
}

}  // namespace mpa::gate

// SPDX-License-Identifier: Apache-2.0
// All rules of a gate together.
#include "mpa/gate/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "contributions.h"
#include "decision.h"
#include "explain.h"
#include "levels.h"
#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/change/long_step.h"
#include "mpa/gate/comparable.h"
#include "mpa/gate/history.h"
#include "mpa/measure/quantiles.h"
#include "phases.h"
#include "requests.h"

namespace mpa::gate {
namespace {

// The sum of the medians of the kernels or types that fit. Empty when they tell nothing of them.
std::vector<std::int64_t> FromMedians(const RunSummary& run, const Metric& metric) {
  const TimesByName& times =
      metric.kind == MetricKind::kKernel ? run.breakdown.kernels : run.breakdown.op_types;
  if (times.empty()) return {};
  std::int64_t sum = 0;
  for (const auto& [name, amount] : times) {
    if (FitsPattern(metric.pattern, name)) sum += amount.time;
  }
  return {sum};
}

bool HasSamples(const std::vector<RunSummary>& runs, const Metric& metric) {
  return !SamplesOf(runs, metric).empty();
}

// The longest step of each run, or what 99 % of them do not exceed.
std::vector<std::int64_t> OfSteps(const RunSummary& run, MetricKind kind) {
  const auto found = run.samples.find({MetricKind::kStepTime, ""});
  if (found == run.samples.end() || found->second.empty()) return {};
  std::vector<std::int64_t> steps = found->second;
  std::ranges::sort(steps);
  const bool max = kind == MetricKind::kStepTimeMax;
  return {max ? steps.back() : steps[PercentileIndex(steps.size(), 99)]};
}

// A run for each, whatever it has.
Runs ValuesOf(const std::vector<RunSummary>& runs, const Metric& metric, bool from_medians) {
  Runs values;
  for (const RunSummary& run : runs) {
    if (from_medians) {
      values.push_back(FromMedians(run, metric));
    } else if (OfAllSteps(metric.kind)) {
      values.push_back(OfSteps(run, metric.kind));
    } else if (IsRequest(metric.kind)) {
      values.push_back(ValueOfRequests(run, metric));
    } else {
      const auto found = run.samples.find(metric);
      values.push_back(found == run.samples.end() ? std::vector<std::int64_t>() : found->second);
    }
  }
  return values;
}

bool AllZero(const Runs& runs) {
  return std::ranges::all_of(runs, [](const auto& samples) {
    return std::ranges::all_of(samples, [](std::int64_t v) { return v == 0; });
  });
}

bool AllEmpty(const Runs& runs) {
  return std::ranges::all_of(runs, [](const auto& samples) { return samples.empty(); });
}

// Growth that is too small to be of interest, where no option sets a floor.
constexpr std::int64_t kMinAbsNs = 20'000, kMinAbsBytes = 1'000'000;
constexpr double kMinShare = 0.1;  // percent of the step

// A floor made for steps is too large for a kernel of 100 us, so it is at most a hundredth of the
// metric. It stays at a twentieth of the usual one, 1 us, because single tasks jitter by that, and
// growth from nothing has no metric to scale with.
std::int64_t ScaledFloor(std::int64_t floor, std::int64_t usual, double value) {
  constexpr double kPart = 0.01;
  constexpr std::int64_t kLeastPart = 20;
  if (value <= 0) return floor;
  return std::min(floor, std::max<std::int64_t>(usual / kLeastPart, std::llround(kPart * value)));
}

// What else may have been meant by a pattern that matches no name.
std::string PatternHint(const Metric& metric, const std::vector<RunSummary>& runs) {
  const auto longest = [&](TimesByName Breakdown::*times) -> std::string {
    const std::pair<const std::string, TimeAndCount>* found = nullptr;
    for (const RunSummary& run : runs) {
      for (const auto& of_name : run.breakdown.*times) {
        if (found == nullptr || of_name.second.time > found->second.time) found = &of_name;
      }
    }
    return found == nullptr ? "" : found->first;
  };
  const auto such_as = [](const std::string& name, const char* otherwise) {
    constexpr std::size_t kColumns = 60;
    return ShortenName(name.empty() ? otherwise : name, kColumns);
  };
  switch (metric.kind) {
    case MetricKind::kOp:
      return Say(
          "; op: matches types of kernels ({}), or with '::' the framework's operators"
          " ({}); kernel: matches names of kernels",
          such_as(longest(&Breakdown::op_types), "MatMulV2"),
          such_as(longest(&Breakdown::operators), "aten::mm"));
    case MetricKind::kKernel:
      return Say("; kernel: matches names of kernels ({}); op: matches their types ({})",
                 such_as(longest(&Breakdown::kernels), "aclnnMatmul_MatMulV2"),
                 such_as(longest(&Breakdown::op_types), "MatMulV2"));
    case MetricKind::kModule:
      return Say("; module: matches names of modules ({})",
                 such_as(longest(&Breakdown::modules), "Linear_0"));
    case MetricKind::kApi:
      return Say("; api: matches the framework's operators ({})",
                 such_as(longest(&Breakdown::apis), "aten::mm"));
    default:
      return "";
  }
}

class Judging {
 public:
  Judging(const GateSettings& settings, const std::vector<RunSummary>& base,
          const std::vector<RunSummary>& comparison)
      : settings_(settings), base_(base), comparison_(comparison) {
    const auto medians = MediansOf(base);
    for (const MetricKind kind : {MetricKind::kE2e, MetricKind::kStepTime}) {
      const auto found = medians.find({kind, ""});
      if (found != medians.end()) step_ = static_cast<double>(found->second);
    }
  }

  GateMetric Of(const Rule& rule) const {
    const Metric& metric = rule.metric;
    // A baseline has samples of the patterns it was saved with; of others its medians tell, where
    // these add up. Both sides are taken alike.
    const bool adds_up = AddsUp(metric);
    const bool from_medians =
        adds_up && !(HasSamples(base_, metric) && HasSamples(comparison_, metric));
    const PairedSizes paired = IsPhase(metric.kind) && metric.pattern.empty()
                                   ? PairSizes(base_, comparison_, metric.kind)
                                   : PairedSizes{ValuesOf(base_, metric, from_medians),
                                                 ValuesOf(comparison_, metric, from_medians), ""};
    const Runs &base = paired.base, &comparison = paired.comparison;
    GateMetric judged = Decide(rule, FloorsOf(rule, base, from_medians), base, comparison);
    if (judged.verdict == GateVerdict::kInconclusive && HasPattern(metric.kind) && !adds_up &&
        !HasSamples(base_, metric)) {
      judged.reason =
          Say("{}; a baseline has only the patterns that it was saved with (--fail_on with"
              " --save_baseline)",
              judged.reason);
    } else if (judged.verdict == GateVerdict::kInconclusive && !HasSamples(base_, metric) &&
               (metric.kind == MetricKind::kFree || metric.kind == MetricKind::kCopies)) {
      judged.reason =
          Say("{}; older baselines count copies as free time: save it anew", judged.reason);
    } else if (judged.verdict == GateVerdict::kInconclusive && base_.front().is_older &&
               !HasSamples(base_, metric)) {
      judged.reason =
          Say("{}; baselines of older versions measured it otherwise: save it anew", judged.reason);
    } else if (metric.kind == MetricKind::kPeakMemory &&
               judged.verdict != GateVerdict::kInconclusive) {
      DoubtAllocators(judged);
    } else if (judged.verdict == GateVerdict::kInconclusive &&
               metric.kind == MetricKind::kStepTime && NoSteps()) {
      judged.reason =
          Translated("the captures have no step markers; profile with step(), or judge e2e");
    } else if (IsRequest(metric.kind)) {
      DoubtFewRequests(metric, judged);
    } else if (judged.verdict == GateVerdict::kInconclusive && IsPhase(metric.kind) &&
               AllEmpty(base)) {
      judged.reason = Translated(
          paired.alone.empty() ? "no step of a server was found; let the server name its steps"
                               : "no step size is on both sides");
    } else if (HasPattern(metric.kind) && judged.verdict != GateVerdict::kInconclusive &&
               AllZero(base) && AllZero(comparison)) {
      judged.verdict = GateVerdict::kInconclusive;
      judged.base_runs.clear();
      judged.comparison_runs.clear();
      judged.reason = Say("no name on either side matches{}", PatternHint(metric, comparison_));
    }
    if (!paired.alone.empty()) judged.reason += (judged.reason.empty() ? "" : "; ") + paired.alone;
    return judged;
  }

  // Without a limit.
  GateMetric Watched(const Metric& metric) const {
    Rule rule;
    rule.metric = metric;
    return Of(rule);
  }

  // The step, or the whole capture without steps: its noise is that of all within it.
  GateMetric OfStep() const {
    return Watched({NoSteps() ? MetricKind::kE2e : MetricKind::kStepTime, ""});
  }

 private:
  // Memory of CANN is in some captures alone: that of the others is not less for it.
  void DoubtAllocators(GateMetric& judged) const {
    const auto of = [](const RunSummary& run) {
      const auto found = run.facts.find(kAllocators);
      return found == run.facts.end() ? "" : found->second;
    };
    const std::string first = of(base_.front());
    for (const std::vector<RunSummary>* runs : {&base_, &comparison_}) {
      for (const RunSummary& run : *runs) {
        if (first.empty() || of(run).empty() || of(run) == first) continue;
        judged.verdict = GateVerdict::kInconclusive;
        judged.reason =
            Say("the captures have records of different allocators ({} / {})", first, of(run));
      }
    }
  }

  // Few requests do not tell a percentile.
  void DoubtFewRequests(const Metric& metric, GateMetric& judged) const {
    constexpr std::size_t kLeast = 20;
    const std::size_t fewest =
        std::min(FewestRequests(base_, metric), FewestRequests(comparison_, metric));
    if (fewest >= kLeast || fewest == 0) return;
    judged.verdict = GateVerdict::kInconclusive;
    judged.reason = Say("a run has {} requests with this time, {} are needed", fewest, kLeast);
  }

  bool NoSteps() const { return base_.front().steps.empty() || comparison_.front().steps.empty(); }

  Floors FloorsOf(const Rule& rule, const Runs& base, bool from_medians) const {
    const MetricKind kind = rule.metric.kind;
    std::vector<std::int64_t> values;
    for (const auto& samples : base) values.insert(values.end(), samples.begin(), samples.end());
    const auto value = static_cast<double>(Median(std::move(values)));
    Floors floors;
    SetFloors(rule, value, floors);
    if (IsPhase(kind) || (IsPerStep(kind) && !from_medians && !NoSteps()))
      floors.min_samples = settings_.min_steps;
    floors.usual_noise = IsRequest(kind) ? NoiseOfRequests(base_, comparison_, rule.metric)
                                         : UsualNoise(rule.metric, step_ > 0 ? value / step_ : 1);
    const auto learned = settings_.learned_noise.find(NameOf(rule.metric));
    if (learned != settings_.learned_noise.end()) {
      floors.learned_noise = learned->second;
      floors.usual_noise = 0;
    }
    return floors;
  }

  // Default floors scale with the metric, whose median is `value`.
  void SetFloors(const Rule& rule, double value, Floors& floors) const {
    const bool time = QuantityOf(rule.metric.kind) == Quantity::kTime;
    const std::int64_t usual = time ? kMinAbsNs : kMinAbsBytes;
    const auto scaled = [&](std::int64_t floor) { return ScaledFloor(floor, usual, value); };
    const auto& given = time ? settings_.min_abs_ns : settings_.min_abs_bytes;
    if (rule.min_abs) {
      floors.min_abs = *rule.min_abs;
      floors.min_abs_option = "min_abs of its rule";
    } else if (IsPhase(rule.metric.kind)) {
      // A token takes nanoseconds to milliseconds: floors made for steps do not apply.
    } else {
      floors.min_abs = given ? *given : scaled(usual);
    }
    if (!time || IsPhase(rule.metric.kind)) return;
    const auto of_step = [&](double percent) { return std::llround(percent / 100 * step_); };
    if (rule.min_share) {
      floors.min_share = of_step(*rule.min_share);
      floors.min_share_option = "min_share of its rule";
    } else {
      floors.min_share =
          settings_.min_share ? of_step(*settings_.min_share) : scaled(of_step(kMinShare));
    }
  }

  const GateSettings& settings_;
  const std::vector<RunSummary>& base_;
  const std::vector<RunSummary>& comparison_;
  double step_ = 0;  // ns, of the base
};

GateMetric NewOps(const std::vector<std::string>& added) {
  GateMetric judged;
  judged.name = "new_op";
  judged.quantity = Quantity::kCount;
  judged.limit = "0";
  judged.comparison = static_cast<std::int64_t>(added.size());
  if (!added.empty()) {
    judged.verdict = GateVerdict::kRegression;
    constexpr std::size_t kNamed = 5;
    const auto end = added.begin() + static_cast<std::ptrdiff_t>(std::min(added.size(), kNamed));
    judged.reason = fmt::format("{}{}", fmt::join(added.begin(), end, ", "),
                                added.size() > kNamed ? ", ..." : "");
  }
  return judged;
}

// --- What the median step does not show ---

// The samples of the run whose longest step lies farthest from its others.
const RunSummary& LeastEven(const std::vector<RunSummary>& runs) {
  const auto excess = [](const RunSummary& run) -> std::int64_t {
    const auto found = run.samples.find({MetricKind::kStepTime, ""});
    if (found == run.samples.end() || found->second.empty()) return 0;
    return std::ranges::max(found->second) - Median(found->second);
  };
  return *std::ranges::max_element(runs, {}, excess);
}

// One step that takes much longer than the others, on one side alone; empty: there is none.
std::string LongStepRemark(const std::vector<RunSummary>& base,
                           const std::vector<RunSummary>& comparison) {
  const RunSummary &before = LeastEven(base), &after = LeastEven(comparison);
  const Metric metric{MetricKind::kStepTime, ""};
  if (!before.samples.contains(metric) || !after.samples.contains(metric)) return "";
  const auto found = FindLongStep(before.samples.at(metric), after.samples.at(metric));
  if (!found) return "";
  const RunSummary& run = found->in_comparison ? after : before;
  const std::int32_t id =
      found->position < run.steps.size() ? run.steps[found->position] : std::int32_t{-1};
  const auto cause = run.long_steps.find(id);
  return LongStepText(*found, id, cause == run.long_steps.end() ? "" : cause->second);
}

// Memory that grows from step to step on one side more than on the other.
std::string GrowthRemark(const GateMetric& growth) {
  constexpr std::int64_t kLeast = 1'000'000;
  if (!growth.IsMeasured() || std::abs(growth.Change()) < kLeast) return "";
  const AmountScale scale(Quantity::kBytes, std::max(growth.base, growth.comparison));
  return Say("memory grows by {} {} a step (baseline {})",
             scale.Text(scale.Rounded(growth.comparison)), scale.unit(),
             scale.Text(scale.Rounded(growth.base)));
}

// Adds metrics without a rule, each with a remark; they decide nothing.
void AddWatched(const Judging& judging, const std::vector<RunSummary>& base,
                const std::vector<RunSummary>& comparison, GateReport& report) {
  constexpr std::size_t kManySteps = 100;
  const auto watch = [&](MetricKind kind, const std::string& remark) {
    const std::string name = NameOf({kind, ""});
    const auto judged = std::ranges::find(report.metrics, name, &GateMetric::name);
    if (judged != report.metrics.end()) {
      if (judged->reason.empty()) judged->reason = remark;
      return;
    }
    GateMetric watched = judging.Watched({kind, ""});
    if (!watched.IsMeasured()) return;
    watched.verdict = GateVerdict::kOk;
    watched.reason = remark;
    watched.line = MetricLine(watched);
    report.metrics.push_back(std::move(watched));
  };
  if (const std::string remark = LongStepRemark(base, comparison); !remark.empty()) {
    watch(MetricKind::kStepTimeMax, remark);
    const auto steps = SamplesOf(comparison, {MetricKind::kStepTime, ""});
    if (!steps.empty() && steps.front().size() >= kManySteps) watch(MetricKind::kStepTimeP99, "");
  }
  const GateMetric growth = judging.Watched({MetricKind::kMemoryGrowth, ""});
  if (const std::string remark = GrowthRemark(growth); !remark.empty())
    watch(MetricKind::kMemoryGrowth, remark);
}

// The verdict that stands for all: what is worst, improvements before none.
GateVerdict VerdictOfAll(const std::vector<GateMetric>& metrics) {
  for (const GateVerdict verdict : {GateVerdict::kRegression, GateVerdict::kUndecided,
                                    GateVerdict::kInconclusive, GateVerdict::kImproved}) {
    for (const GateMetric& metric : metrics) {
      if (metric.verdict == verdict) return verdict;
    }
  }
  return GateVerdict::kOk;
}

RecordedSettings SettingsOf(const std::vector<RunSummary>& runs) {
  std::vector<const RecordedSettings*> of_runs;
  for (const RunSummary& run : runs) of_runs.push_back(&run.settings);
  return JoinSettings(of_runs);
}

}  // namespace

GateReport Judge(const GateSettings& settings, std::vector<RunSummary> base,
                 std::vector<RunSummary> comparison, const std::optional<Anchor>& anchor) {
  GateReport report;
  // Steps of servers are compared by their sizes: other sizes on one side do no harm.
  std::set<std::string> allowed = settings.allowed_mismatches;
  const bool phases_alone = std::ranges::all_of(settings.rules, [](const Rule& rule) {
    return IsPhase(rule.metric.kind) || IsRequest(rule.metric.kind);
  });
  if (phases_alone && !settings.rules.empty()) allowed.insert("shapes");
  report.mismatches = FindMismatches(base, comparison, allowed);
  report.settings = CompareSettings(SettingsOf(base), SettingsOf(comparison));
  const bool comparable = std::ranges::all_of(
      report.mismatches, [](const GateMismatch& mismatch) { return mismatch.allowed; });
  if (!comparable) {
    report.verdict = GateVerdict::kNotComparable;
    SetHeadline(MismatchLine(report.mismatches, settings.warmup.value_or(0)), report);
    return report;
  }
  // Warm-up of servers was recognised by phase and size, and left out before.
  if (!settings.warmup && !phases_alone) {
    report.warmup = LeaveOutWarmup(settings.min_steps, base, comparison);
    if (!report.warmup) report.hint = WarmupHint(settings.min_steps, base, comparison);
  }
  const Judging judging(settings, base, comparison);
  report.operators = OperatorsOf(base, comparison);
  report.added = NewNames(comparison, base);
  report.removed = NewNames(base, comparison);
  for (const Rule& rule : settings.rules) {
    GateMetric judged = judging.Of(rule);
    if (anchor) {
      const auto found = anchor->medians.find(judged.name);
      if (found != anchor->medians.end()) judged.anchor = found->second;
    }
    report.metrics.push_back(std::move(judged));
  }
  if (settings.fail_on_new_op) report.metrics.push_back(NewOps(report.added));
  for (GateMetric& metric : report.metrics) metric.line = MetricLine(metric);
  report.verdict = VerdictOfAll(report.metrics);
  const GateMetric* leading = report.Leading();
  if (leading == nullptr) Fail(ErrorKind::kInternal, "a gate without rules");
  const auto watched = [&](const Metric& metric) { return judging.Watched(metric); };
  Explain(*leading, judging.OfStep(), watched, base, comparison, report);
  AddWatched(judging, base, comparison, report);  // what leads may move
  return report;
}

HistoryRun AsHistoryRun(const GateSettings& settings, std::vector<RunSummary> runs,
                        const GateReport* report) {
  std::vector<RunSummary> same = runs;
  if (!settings.warmup) (void)LeaveOutWarmup(settings.min_steps, runs, same);
  const Judging judging(settings, runs, same);
  std::vector<Metric> metrics = MetricsOf(runs.front());
  for (const Rule& rule : settings.rules) {
    if (std::ranges::find(metrics, rule.metric) == metrics.end()) metrics.push_back(rule.metric);
  }
  HistoryRun history;
  for (const Metric& metric : metrics) {
    const GateMetric own = judging.Watched(metric);
    if (!own.IsMeasured()) continue;
    HistoryRun::Value& value = history.values.emplace_back();
    value = {own.name, own.quantity, own.comparison, std::llround(own.noise), "", ""};
    if (report == nullptr) continue;
    const auto judged = std::ranges::find(report->metrics, own.name, &GateMetric::name);
    if (judged == report->metrics.end()) continue;
    value.verdict = VerdictName(judged->verdict);
    value.limit = judged->limit;
  }
  if (report != nullptr) {
    history.verdict = VerdictName(report->verdict);
    history.exit_code = report->exit_code;
  }
  return history;
}

int GateExitCode(GateVerdict verdict, bool partial, const GatePolicy& policy) {
  constexpr int kRegression = 1, kNotJudged = 4;
  const bool fails = policy.on_inconclusive == GatePolicy::Inconclusive::kFail;
  switch (verdict) {
    case GateVerdict::kNotComparable:
      return kNotJudged;
    case GateVerdict::kInconclusive:
      if (fails) return kNotJudged;
      break;
    case GateVerdict::kUndecided:
      if (policy.strict) {
        if (!partial && !policy.warn_only) return kRegression;
      } else if (fails) {
        return kNotJudged;
      }
      break;
    case GateVerdict::kRegression:
      if (!partial && !policy.warn_only) return kRegression;
      break;
    case GateVerdict::kOk:
    case GateVerdict::kImproved:
      break;
  }
  return partial ? kExitPartial : 0;
}

}  // namespace mpa::gate

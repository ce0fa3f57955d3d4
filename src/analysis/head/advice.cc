// SPDX-License-Identifier: Apache-2.0
// What to do about the head of each graph, and whom to ask.
#include "advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "py_children.h"

namespace mpa::head {
namespace {

constexpr std::string_view kPlatform = "front-end / platform provider";
constexpr std::string_view kPyTorch = "PyTorch Dynamo";
constexpr std::string_view kScript = "script";
constexpr std::string_view kTorchAir = "TorchAir: Ascend technical support";
constexpr std::string_view kGe = "GE: Ascend technical support";

double Us(TimeNs time) { return static_cast<double>(time) / 1e3; }

// The rows of the tables that are about one scope.
struct ScopeRows {
  std::span<const SummaryRow> summary;
  std::span<const ChildRow> children;
};

// The rows of the next scope, which follow one another; takes them from `rows`.
template <typename T>
std::span<const T> TakeScope(std::span<const T>& rows, const std::string& scope) {
  std::size_t count = 0;
  while (count < rows.size() && rows[count].scope == scope) ++count;
  const std::span<const T> taken = rows.first(count);
  rows = rows.subspan(count);
  return taken;
}

// The rules on the steady calls of one graph.
class GraphAdvice {
 public:
  GraphAdvice(const AdviceInput& input, const Scope& scope, const ScopeRows& of_scope,
              std::vector<AdviceRow>& rows)
      : input_(input), limits_(input.thresholds), scope_(scope), rows_(rows) {
    std::set<std::pair<std::int32_t, std::int32_t>> steps;
    std::vector<TimeNs> heads;
    for (const std::size_t i : scope.calls) {
      const Call& call = input.calls[i];
      if (call.phase != Phase::kSteady) continue;
      calls_.push_back(i);
      heads.push_back(call.Head());
      if (call.step >= 0) steps.emplace(call.track, call.step);
    }
    steps_ = static_cast<std::int64_t>(steps.size());
    if (const auto spread = SpreadOf(std::move(heads))) head_ = *spread;
    for (const SummaryRow& row : of_scope.summary) {
      if (row.phase != Phase::kSteady) continue;
      if (row.measure == "head" && row.share_of_step && row.spread.sum > 0) {
        step_time_ = static_cast<double>(row.spread.sum) / *row.share_of_step;
      }
      summary_.push_back(&row);
    }
    for (const ChildRow& row : of_scope.children) children_.push_back(&row);
  }

  void Give() {
    if (calls_.empty()) return;
    AdviseOnPlatform();
    AdviseOnLookup();
    const std::size_t before = rows_.size();
    AdviseOnConversions();
    AdviseOnQueue();
    AdviseOnSync();
    AdviseOnTorchAir(/*causes_known=*/rows_.size() > before || Reloads());
    AdviseOnGe();
    AdviseOnEpilogue();
    AdviseOnEagerRuns();
    AdviseOnOutliers();
  }

 private:
  const SummaryRow* Measured(std::string_view measure) const {
    for (const SummaryRow* row : summary_) {
      if (row->measure == measure) return row;
    }
    return nullptr;
  }
  // All children of a kind, or of one name of it.
  ChildRow Sum(ChildSegment segment, std::string_view kind, std::string_view name = {}) const {
    ChildRow sum;
    for (const ChildRow* row : children_) {
      if (row->segment != segment || row->kind != kind || (!name.empty() && row->name != name)) {
        continue;
      }
      sum.count += row->count;
      sum.total += row->total;
    }
    return sum;
  }
  std::int64_t Count() const { return static_cast<std::int64_t>(calls_.size()); }
  double PerCall(TimeNs total) const { return Us(total) / static_cast<double>(Count()); }
  double PerCallCount(std::int64_t count) const {
    return static_cast<double>(count) / static_cast<double>(Count());
  }

  // Of the head, for one call, in %.
  double ShareOfHead(double us) const { return head_.p50 > 0 ? us / Us(head_.p50) * 100 : 0; }
  bool Matters(double typical_us, TimeNs total) const {
    const bool of_step = step_time_ > 0 && static_cast<double>(total) / step_time_ * 100 >=
                                               limits_.segment_step_share;
    return typical_us > 0 && (ShareOfHead(typical_us) >= limits_.segment_share || of_step);
  }
  bool Matters(std::string_view measure) const {
    const SummaryRow* row = Measured(measure);
    return row != nullptr && Matters(Us(row->spread.p50), row->spread.sum);
  }

  // At most what the part took, and what the device was idle in its segment.
  MaybeNs ExposedPerStep(std::string_view segment, TimeNs part) const {
    const SummaryRow* row = Measured(segment);
    if (steps_ == 0 || row == nullptr || !row->exposed_sum) return std::nullopt;
    return std::min(part, *row->exposed_sum) / steps_;
  }

  void Add(std::string_view rule, std::string_view owner, std::string text, std::string_view metric,
           double value, double threshold, MaybeNs exposed) {
    rows_.push_back({.rule = rule,
                     .severity = Severity::kWarn,
                     .scope = scope_.name,
                     .owner = owner,
                     .text = std::move(text),
                     .metric = metric,
                     .value = value,
                     .threshold = threshold,
                     .exposed_per_step = exposed,
                     .calls = Count()});
  }

  // The longest children of a segment by name: "aten::index 120.0 us".
  std::string Longest(ChildSegment segment) const {
    constexpr std::size_t kMost = 3;
    std::vector<std::string> names;
    for (const ChildRow* row : children_) {
      if (row->segment != segment || row->count == 0 || row->kind.starts_with("of_which")) continue;
      if (names.size() < kMost) {
        names.push_back(fmt::format("{} {:.1f} us", row->name, PerCall(row->total)));
      }
    }
    return names.empty() ? "no events" : fmt::format("{}", fmt::join(names, ", "));
  }

  bool Reloads() const {
    return std::any_of(scope_.calls.begin(), scope_.calls.end(),
                       [&](std::size_t i) { return input_.calls[i].loads_graph; });
  }

  void AdviseOnPlatform() {
    std::vector<TimeNs> values;
    TimeNs total = 0;
    for (const std::size_t i : calls_) {
      const Call& call = input_.calls[i];
      values.push_back(*call.Of(Segment::kPlatform) - call.platform_wait.value_or(0));
      total += values.back();
    }
    const Spread net = *SpreadOf(std::move(values));
    if (!Matters(Us(net.p50), total)) return;
    const ChildRow silent = Sum(ChildSegment::kPlatform, kUnattributed);
    const ChildRow garbage = Sum(ChildSegment::kPlatform, "of_which_gc");
    const SummaryRow* platform = Measured("platform");
    const double silent_share = platform != nullptr && platform->spread.sum > 0
                                    ? Us(silent.total) / Us(platform->spread.sum) * 100
                                    : 0;
    Add("R1", kPlatform,
        fmt::format("{:.1f} us before the model is entered, waiting not counted: {}; {:.0f} % "
                    "without any event{}; look at the loop, the scheduler and the preparation of "
                    "inputs around the call",
                    Us(net.p50), Longest(ChildSegment::kPlatform), silent_share,
                    garbage.count > 0 ? fmt::format("; garbage collected {} times, {:.3f} ms",
                                                    garbage.count, Us(garbage.total) / 1e3)
                                      : ""),
        "platform_net_share_of_head_percent", ShareOfHead(Us(net.p50)), limits_.segment_share,
        ExposedPerStep("platform", total));
  }

  void AdviseOnLookup() {
    const SummaryRow* lookup = Measured("lookup");
    if (lookup == nullptr) return;
    const double p50 = Us(lookup->spread.p50);
    if (!Matters("lookup") && p50 <= limits_.lookup_us) return;
    Add("R2", kPyTorch,
        fmt::format("looking up the compiled code takes {:.1f} us: it grows with the number of "
                    "guards; use torchair's cache_compile (a loaded cache needs neither), "
                    "guard_filter_fn, or after warm-up "
                    "torch.compiler.set_stance(skip_guard_eval_unsafe=True), which is unsafe if "
                    "inputs change",
                    p50),
        "lookup_p50_us", p50, limits_.lookup_us, ExposedPerStep("dynamo", lookup->spread.sum));
  }

  void AdviseOnConversions() {
    const ChildRow built = Sum(ChildSegment::kTorchairPy, kTensorConstruct);
    const ChildRow contiguous = Sum(ChildSegment::kTorchairPy, kContiguous);
    const double n = PerCallCount(built.count);
    const bool builds = n >= limits_.built_tensors || PerCall(built.total) >= limits_.built_us;
    const bool copies = contiguous.count > 0 && PerCall(contiguous.total) >= limits_.contiguous_us;
    if (builds) {
      Add("R5", kScript,
          fmt::format("{:.1f} tensors are built from Python values in each call, {:.1f} us: pass "
                      "tensors and keep them on the device, use fewer int, list and SymInt "
                      "arguments; TorchAir 7.0 and newer build them cheaper",
                      n, PerCall(built.total)),
          "built_tensors_per_call", n, limits_.built_tensors,
          ExposedPerStep("torchair_py", built.total));
    }
    if (copies) {
      const bool mutated = Sum(ChildSegment::kEpilogue, "write_back").count > 0;
      Add("R6", kScript,
          fmt::format("{:.1f} inputs that are not contiguous are copied in each call, {:.1f} us: "
                      "call .contiguous() once outside, avoid transposed or sliced views{}",
                      PerCallCount(contiguous.count), PerCall(contiguous.total),
                      mutated ? "; they are written back behind the graph, which costs again" : ""),
          "contiguous_us_per_call", PerCall(contiguous.total), limits_.contiguous_us,
          ExposedPerStep("torchair_py", contiguous.total));
    }
    const ChildRow python = Sum(ChildSegment::kTorchairPy, kUnattributed);
    const ChildRow inputs = Sum(ChildSegment::kTorchairCpp, "event", "AssembleInputs");
    const TimeNs total = python.total + inputs.total;
    if (builds || copies || !Matters(PerCall(total), total)) return;
    Add("R7", kScript,
        fmt::format("{:.1f} us of Python without events and of AssembleInputs: many inputs; use "
                    "experimental_config.frozen_parameter for weights, "
                    "torch._dynamo.mark_static_address() where the versions support it, fewer "
                    "inputs and outputs, or a newer TorchAir; its text log tells the number of "
                    "inputs, the capture does not",
                    PerCall(total)),
        "inputs_share_of_head_percent", ShareOfHead(PerCall(total)), limits_.segment_share,
        ExposedPerStep("torchair_py", python.total));
  }

  void AdviseOnQueue() {
    const ChildRow drain = Sum(ChildSegment::kTorchairCpp, kQueueDrain);
    if (drain.count == 0) return;
    std::vector<std::string> names;
    for (const ChildRow* row : children_) {
      if (row->kind == kQueueDrain) names.push_back(row->name);
    }
    constexpr std::size_t kMost = 5;
    if (names.size() > kMost) names.resize(kMost);
    Add("R8", kScript,
        fmt::format("the graph waits for {} queued eager operators ({}): compile them into the "
                    "graph or move them; no defect of TorchAir",
                    drain.count, fmt::join(names, ", ")),
        "queue_drain_us_per_call", PerCall(drain.total), 0,
        ExposedPerStep("torchair_cpp", drain.total));
  }

  void AdviseOnSync() {
    const ChildRow inputs = Sum(ChildSegment::kTorchairCpp, kOfWhichSync);
    const ChildRow outputs = Sum(ChildSegment::kEpilogue, kOfWhichSync);
    if (inputs.count + outputs.count == 0) return;
    const TimeNs total = inputs.total + outputs.total;
    Add("R9", kScript,
        fmt::format("{} copies or waits for inputs and {} for outputs, {:.1f} us a call: tensors "
                    "of the host go into or out of the graph; keep them on the device, or use CANN "
                    "8.2.RC1 or newer for static graphs",
                    inputs.count, outputs.count, PerCall(total)),
        "sync_us_per_call", PerCall(total), 0,
        ExposedPerStep(inputs.count > 0 ? "torchair_cpp" : "ge", total));
  }

  void AdviseOnTorchAir(bool causes_known) {
    if (causes_known) return;
    for (const char* measure : {"torchair_py", "torchair_cpp"}) {
      if (!Matters(measure)) continue;
      const SummaryRow* row = Measured(measure);
      Add("R14", kTorchAir,
          fmt::format("{} takes {:.1f} us and no cause in the script is seen; send these tables",
                      measure, Us(row->spread.p50)),
          "share_of_head_percent", ShareOfHead(Us(row->spread.p50)), limits_.segment_share,
          ExposedPerStep(measure, row->spread.sum));
    }
  }

  bool AllOf(Engine engine) const {
    return std::all_of(calls_.begin(), calls_.end(),
                       [&](std::size_t i) { return input_.calls[i].engine == engine; });
  }

  void AdviseOnGe() {
    const SummaryRow* exec = Measured("ge_exec");
    if (exec == nullptr) return;
    const double p50 = Us(exec->spread.p50);
    const double share = ShareOfHead(p50);
    const MaybeNs exposed = ExposedPerStep("ge", exec->spread.sum);
    const ChildRow copy = Sum(ChildSegment::kGe, "event", "InputCopy");
    const bool refreshes = AllOf(Engine::kGeStatic) && Matters(PerCall(copy.total), copy.total);
    if (AllOf(Engine::kGeDynamic) && Matters("ge_exec")) {
      const ChildRow launches = Sum(ChildSegment::kGe, "launch");
      Add("R11", kScript,
          fmt::format(
              "the host dispatches {:.0f} operators a call at {:.2f} us each: make the "
              "graph static (mark_static, gears), use "
              "experimental_config.tiling_schedule_optimize, "
              "static_model_ops_lower_limit or several GE workers "
              "(MAX_RUNTIME_CORE_NUMBER); collect with --ge-api of msprof to see InferShape "
              "and Tiling",
              PerCallCount(launches.count),
              launches.count > 0 ? Us(exec->spread.sum) / static_cast<double>(launches.count)
                                 : 0.0),
          "ge_exec_share_of_head_percent", share, limits_.segment_share, exposed);
    } else if (refreshes) {
      Add("R12", kScript,
          fmt::format("refreshing the arguments takes {:.1f} us: keep addresses stable, use "
                      "frozen_parameter",
                      PerCall(copy.total)),
          "input_copy_share_of_head_percent", ShareOfHead(PerCall(copy.total)),
          limits_.segment_share, ExposedPerStep("ge", copy.total));
    } else if (Matters("ge_exec")) {
      Add("R13", kGe, fmt::format("GE executes {:.1f} us on the host; send these tables", p50),
          "ge_exec_share_of_head_percent", share, limits_.segment_share, exposed);
    }
  }

  void AdviseOnEpilogue() {
    const SummaryRow* exec = Measured("ge_exec");
    const SummaryRow* cpp = Measured("epilogue_cpp");
    const SummaryRow* py = Measured("epilogue_py");
    if (exec == nullptr || (cpp == nullptr && py == nullptr)) return;
    const TimeNs epilogue =
        (cpp != nullptr ? cpp->spread.p50 : 0) + (py != nullptr ? py->spread.p50 : 0);
    if (epilogue <= exec->spread.p50) return;
    const ChildRow outputs = Sum(ChildSegment::kEpilogue, "of_which_outputs", "aten::set_");
    Add("R15", kScript,
        fmt::format("{:.1f} us of the time behind the start of GE are handling of outputs, {:.1f} "
                    "us are GE: about {:.0f} outputs; look for outputs on the host, inputs that "
                    "are changed, views; nothing for GE's support",
                    Us(epilogue), Us(exec->spread.p50), PerCallCount(outputs.count)),
        "epilogue_us", Us(epilogue), Us(exec->spread.p50),
        ExposedPerStep("ge", epilogue * Count()));
  }

  void AdviseOnEagerRuns() {
    if (!AllOf(Engine::kEagerFx)) return;
    Add("R16", kScript,
        "the graph runs operator by operator: check run_eagerly, force_eager and the limit of "
        "captures; its time is not GE's",
        "eager_calls", static_cast<double>(Count()), 1, std::nullopt);
  }

  void AdviseOnOutliers() {
    const double ratio = head_.p50 > 0 ? Us(head_.p90) / Us(head_.p50) : 0;
    if (ratio <= limits_.outlier_ratio) return;
    std::vector<std::string> outliers;
    constexpr std::size_t kMost = 5;
    for (const std::size_t i : calls_) {
      const Call& call = input_.calls[i];
      const double limit = limits_.outlier_ratio * static_cast<double>(head_.p50);
      if (static_cast<double>(call.Head()) <= limit || outliers.size() == kMost) continue;
      const auto grown = std::max_element(
          kAllSegments.begin(), kAllSegments.end(),
          [&](Segment a, Segment b) { return call.Of(a).value_or(0) < call.Of(b).value_or(0); });
      constexpr std::string_view kNames[] = {"platform", "dynamo", "torchair_py", "torchair_cpp",
                                             "ge"};
      outliers.push_back(fmt::format("call {} {:.1f} us, {}, device {}", i, Us(call.Head()),
                                     kNames[Index(*grown)], DeviceText(call)));
    }
    Add("R17", kPlatform,
        fmt::format("some calls are stretched: {}; the cause is not known, trust the p50",
                    fmt::join(outliers, "; ")),
        "head_p90_to_p50", ratio, limits_.outlier_ratio, std::nullopt);
  }

  static std::string_view DeviceText(const Call& call) {
    if (!call.idle) return "unknown";
    return 2 * *call.idle < *call.first_kernel - call.w0 ? "busy" : "idle";
  }

  const AdviceInput& input_;
  const Thresholds& limits_;
  const Scope& scope_;
  std::vector<AdviceRow>& rows_;
  std::vector<std::size_t> calls_;  // steady ones
  std::vector<const SummaryRow*> summary_;
  std::vector<const ChildRow*> children_;
  Spread head_;
  double step_time_ = 0;  // ns of all steps with such calls; 0: no steps
  std::int64_t steps_ = 0;
};

// Of all steady calls: the idle time they leave the device, in % of the steps.
std::optional<double> ExposedShareOfStep(const AdviceInput& input) {
  for (const SummaryRow& row : input.summary) {
    if (row.scope != "all" || row.phase != Phase::kSteady || row.measure != "head") continue;
    if (!row.exposed_sum || !row.share_of_step || row.spread.sum == 0) return std::nullopt;
    const double steps = static_cast<double>(row.spread.sum) / *row.share_of_step;
    return static_cast<double>(*row.exposed_sum) / steps * 100;
  }
  return std::nullopt;
}

}  // namespace

std::string_view NameOf(Severity severity) {
  constexpr std::string_view kNames[] = {"info", "warn", "high"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::vector<AdviceRow> GiveAdvice(const AdviceInput& input) {
  std::vector<AdviceRow> rows;
  AdviseOnCapture(input, rows);
  std::span<const SummaryRow> summary = input.summary;
  std::span<const ChildRow> children = input.children;
  for (const Scope& scope : input.scopes) {
    const ScopeRows of_scope{TakeScope(summary, scope.name), TakeScope(children, scope.name)};
    if (&scope != &input.scopes.front()) GraphAdvice(input, scope, of_scope, rows).Give();
  }
  const auto exposed = ExposedShareOfStep(input);
  const double limit = input.thresholds.exposed_step_share;
  if (exposed && *exposed < limit) {
    for (AdviceRow& row : rows) row.severity = Severity::kInfo;
    rows.insert(rows.begin(), {.rule = "HIDDEN",
                               .severity = Severity::kInfo,
                               .scope = "all",
                               .owner = "nobody",
                               .text = "head overhead is hidden by device work; not the bottleneck",
                               .metric = "exposed_share_of_step_percent",
                               .value = *exposed,
                               .threshold = limit,
                               .exposed_per_step = {},
                               .calls = static_cast<std::int64_t>(input.scopes[0].calls.size())});
    return rows;
  }
  // What alone could give back a part of the step that matters comes first, what costs the device
  // nothing last.
  for (AdviceRow& row : rows) {
    if (!row.exposed_per_step) continue;
    const auto gain = static_cast<double>(*row.exposed_per_step);
    const bool much = input.step_time && gain >= static_cast<double>(*input.step_time) *
                                                     input.thresholds.segment_step_share / 100;
    row.severity = much ? Severity::kHigh : gain > 0 ? Severity::kWarn : Severity::kInfo;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const AdviceRow& a, const AdviceRow& b) {
    return std::pair{a.severity, a.exposed_per_step} > std::pair{b.severity, b.exposed_per_step};
  });
  return rows;
}

}  // namespace mpa::head

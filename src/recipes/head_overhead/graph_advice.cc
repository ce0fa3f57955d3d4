// SPDX-License-Identifier: Apache-2.0
// Advice on a graph: the platform, PyTorch, TorchAir and its causes in the script, GE, the handling
// of outputs, stretched calls.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "advice.h"
#include "mpa/base/time.h"

namespace mpa::head {
namespace {

// Of two times, what is known.
MaybeNs Plus(MaybeNs a, MaybeNs b) { return a && b ? MaybeNs(*a + *b) : a ? a : b; }

// What a rule is about: in all its calls the time of the host, and of it the idle time of the
// device; empty where that is unknown.
struct Loss {
  std::string_view part;
  TimeNs cost = 0;
  MaybeNs gain{};
};
Loss LossIn(Measure part, const ChildRow& row) { return {NameOf(part), row.total, row.exposed}; }
Loss LossIn(Measure part, const SummaryRow& row) {
  return {NameOf(part), row.spread.sum, row.exposed_sum};
}

// The steady calls of one graph, what was measured in them, and the advice on them.
class SteadyCalls {
 public:
  SteadyCalls(const AdviceInput& input, const Scope& scope, std::span<const SummaryRow> summary,
              std::span<const ChildRow> children, std::vector<AdviceRow>& rows)
      : input_(input), limits_(input.thresholds), scope_(scope), children_(children), rows_(rows) {
    std::set<std::pair<std::int32_t, std::int32_t>> steps;
    for (const std::size_t i : scope.calls) {
      const Call& call = input.calls[i];
      if (call.phase != Phase::kSteady) continue;
      calls_.push_back(&call);
      if (call.step >= 0) steps.emplace(call.track, call.step);
    }
    steps_ = static_cast<std::int64_t>(steps.size());
    for (const SummaryRow& row : summary) {
      if (row.phase == Phase::kSteady) measured_[Index(row.measure)] = &row;
    }
    const SummaryRow* head = Measured(Measure::kHead);
    if (head == nullptr) return;
    head_ = head->spread;
    if (head->share_of_step && head_.sum > 0) {
      step_time_ = static_cast<double>(head_.sum) / *head->share_of_step;
    }
  }

 protected:
  const SummaryRow* Measured(Measure measure) const { return measured_[Index(measure)]; }
  // All children of a kind, or of one name of it.
  ChildRow Sum(Measure part, std::string_view kind, std::string_view name = {}) const {
    ChildRow sum;
    for (const ChildRow& row : children_) {
      if (row.part != part || row.kind != kind || (!name.empty() && row.name != name)) continue;
      sum.count += row.count;
      sum.total += row.total;
      sum.exposed = Plus(sum.exposed, row.exposed);
    }
    return sum;
  }
  double PerCall(TimeNs total) const { return InUs(total) / static_cast<double>(calls_.size()); }
  // "3" or "2.5".
  std::string CountPerCall(std::int64_t count) const {
    std::string text =
        fmt::format("{:.1f}", static_cast<double>(count) / static_cast<double>(calls_.size()));
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
  }

  // Of the head, for one call, in %.
  double ShareOfHead(double us) const { return head_.p50 > 0 ? us / InUs(head_.p50) * 100 : 0; }
  bool Matters(double typical_us, TimeNs total) const {
    const bool of_step = step_time_ > 0 && static_cast<double>(total) / step_time_ * 100 >=
                                               limits_.segment_step_share;
    return typical_us > 0 && (ShareOfHead(typical_us) >= limits_.segment_share || of_step);
  }
  bool Matters(Measure measure) const {
    const SummaryRow* row = Measured(measure);
    return row != nullptr && Matters(InUs(row->spread.p50), row->spread.sum);
  }
  bool AllOf(Engine engine) const {
    return std::ranges::all_of(calls_, [&](const Call* call) { return call->engine == engine; });
  }

  void Add(std::string_view rule, std::string_view owner, std::string text, std::string_view metric,
           double value, double threshold, const Loss& loss) {
    AdviceRow& row =
        AddAdvice(rule, owner, std::move(text), metric, value, threshold, calls_.size(), rows_);
    row.scope = scope_.name;
    row.part = loss.part;
    row.cost = loss.cost;
    row.gain = loss.gain;
    if (loss.gain && steps_ > 0) row.exposed_per_step = *loss.gain / steps_;
  }

  // The longest children of a part by name: "aten::index 120.0 us".
  std::string Longest(Measure part) const {
    constexpr std::size_t kMax = 3;
    std::vector<std::string> names;
    for (const ChildRow& row : children_) {
      if (row.part != part || row.count == 0 || row.kind.starts_with("of_which")) continue;
      if (names.size() < kMax) {
        names.push_back(fmt::format("{} {:.1f} us", row.name, PerCall(row.total)));
      }
    }
    return names.empty() ? "no events" : fmt::format("{}", fmt::join(names, ", "));
  }

  // Whether a graph is loaded or captured behind a steady call.
  bool LoadsAgain() const {
    bool steady = false;
    for (const std::size_t i : scope_.calls) {
      const Call& call = input_.calls[i];
      if (steady && call.loads_graph) return true;
      steady = steady || call.phase == Phase::kSteady;
    }
    return false;
  }

  const AdviceInput& input_;
  const Thresholds& limits_;
  const Scope& scope_;
  std::span<const ChildRow> children_;
  std::vector<AdviceRow>& rows_;
  std::vector<const Call*> calls_;  // steady ones
  std::array<const SummaryRow*, kMeasures> measured_{};
  CallSpread head_;
  double step_time_ = 0;  // ns of all steps with such calls; 0: no steps
  std::int64_t steps_ = 0;
};

std::string_view DeviceText(const Call& call) {
  const MaybeNs idle = call.IdleOf(Measure::kHead);
  if (!idle) return "unknown";
  return 2 * *idle < *call.first_kernel - call.frontend_begin ? "busy" : "idle";
}

// The rules.
class GraphAdvice : SteadyCalls {
 public:
  using SteadyCalls::SteadyCalls;

  void Give() {
    if (calls_.empty()) return;
    AdviseOnPlatform("platform_time", Measure::kPlatform, Measure::kPlatformWait,
                     "look at the loop, the scheduler and the preparation of inputs around the"
                     " call");
    AdviseOnPlatform("serving_time", Measure::kServing, Measure::kServingWait,
                     "look at its scheduler, its preparation of inputs and its sampling");
    AdviseOnLookup();
    if (AllOf(Engine::kEagerFx)) {
      AdviseOnEagerRuns();
      AdviseOnOutliers();
      return;
    }
    const std::size_t before = rows_.size();
    AdviseOnConversions();
    AdviseOnQueue();
    AdviseOnSync();
    AdviseOnTorchAir(/*causes_known=*/rows_.size() > before || LoadsAgain());
    AdviseOnGe();
    AdviseOnEpilogue();
    AdviseOnOutliers();
  }

 private:
  // What comes before the model: the script's, or a serving framework's.
  void AdviseOnPlatform(std::string_view rule, Measure part, Measure wait, std::string_view where) {
    std::vector<TimeNs> values;
    Loss loss{NameOf(part), 0, {}};
    for (const Call* call : calls_) {
      if (!call->Of(part)) return;
      values.push_back(*call->Of(part) - *call->Of(wait));
      loss.cost += values.back();
      loss.gain = Plus(loss.gain, Since(call->IdleOf(part), call->IdleOf(wait)));
    }
    const CallSpread net = *SpreadOf(std::move(values));
    if (!Matters(InUs(net.p50), loss.cost)) return;
    const ChildRow silent = Sum(part, kUnattributed);
    const ChildRow garbage = Sum(part, "of_which_gc");
    const SummaryRow* measured = Measured(part);
    const double silent_share = measured != nullptr && measured->spread.sum > 0
                                    ? InUs(silent.total) / InUs(measured->spread.sum) * 100
                                    : 0;
    Add(rule, InfoOf(part).owner,
        fmt::format("{:.1f} us before the model is entered, waiting not counted: {}; {:.0f} %"
                    " without any event{}; {}",
                    InUs(net.p50), Longest(part), silent_share,
                    garbage.count > 0
                        ? fmt::format("; garbage collected {} times, {:.3f} ms in all calls",
                                      garbage.count, InUs(garbage.total) / 1e3)
                        : "",
                    where),
        fmt::format("{}_net_share_of_head_percent", NameOf(part)), ShareOfHead(InUs(net.p50)),
        limits_.segment_share, loss);
  }

  void AdviseOnLookup() {
    const SummaryRow* lookup = Measured(Measure::kLookup);
    if (lookup == nullptr) return;
    const double p50 = InUs(lookup->spread.p50);
    if (!Matters(Measure::kLookup) && p50 <= limits_.lookup_us) return;
    Add("dynamo_lookup", kPyTorch,
        fmt::format("looking up the compiled code takes {:.1f} us: it grows with the number of"
                    " guards; use torchair's cache_compile (a loaded cache needs no lookup),"
                    " guard_filter_fn, or after warm-up"
                    " torch.compiler.set_stance(skip_guard_eval_unsafe=True), which is unsafe if"
                    " inputs change",
                    p50),
        "lookup_p50_us", p50, limits_.lookup_us, LossIn(Measure::kDynamo, *lookup));
  }

  void AdviseOnConversions() {
    const ChildRow built = Sum(Measure::kTorchairPy, kTensorConstruct);
    const ChildRow contiguous = Sum(Measure::kTorchairPy, kContiguous);
    const double n = static_cast<double>(built.count) / static_cast<double>(calls_.size());
    const bool builds = n >= limits_.built_tensors || PerCall(built.total) >= limits_.built_us;
    const bool copies = contiguous.count > 0 && PerCall(contiguous.total) >= limits_.contiguous_us;
    if (builds) {
      Add("tensors_built", kScript,
          fmt::format("{} tensors are built from Python values in each call, {:.1f} us: pass"
                      " tensors and keep them on the device, use fewer int, list and SymInt"
                      " arguments; TorchAir 7.0 and newer build them faster",
                      CountPerCall(built.count), PerCall(built.total)),
          "built_tensors_per_call", n, limits_.built_tensors, LossIn(Measure::kTorchairPy, built));
    }
    if (copies) {
      const bool mutated = Sum(Measure::kEpilogue, "write_back").count > 0;
      Add("non_contiguous_inputs", kScript,
          fmt::format(
              "{} inputs that are not contiguous are copied in each call, {:.1f} us: call"
              " .contiguous() once outside, avoid transposed or sliced views{}",
              CountPerCall(contiguous.count), PerCall(contiguous.total),
              mutated ? "; they are written back after the graph, which costs time again" : ""),
          "contiguous_us_per_call", PerCall(contiguous.total), limits_.contiguous_us,
          LossIn(Measure::kTorchairPy, contiguous));
    }
    const ChildRow python = Sum(Measure::kTorchairPy, kUnattributed);
    const ChildRow inputs = Sum(Measure::kTorchairCpp, "event", "AssembleInputs");
    const TimeNs total = python.total + inputs.total;
    if (builds || copies || !Matters(PerCall(total), total)) return;
    Add("many_inputs", kScript,
        fmt::format("{:.1f} us of Python without events and of AssembleInputs: many inputs; use"
                    " experimental_config.frozen_parameter for weights,"
                    " torch._dynamo.mark_static_address() where the versions support it, fewer"
                    " inputs and outputs, or a newer TorchAir; its text log shows the number of"
                    " inputs, the capture does not",
                    PerCall(total)),
        "inputs_share_of_head_percent", ShareOfHead(PerCall(total)), limits_.segment_share,
        {NameOf(Measure::kTorchairPy), total, Plus(python.exposed, inputs.exposed)});
  }

  void AdviseOnQueue() {
    const ChildRow drain = Sum(Measure::kTorchairCpp, kQueueDrain);
    if (drain.count == 0) return;
    std::vector<std::string> names;
    for (const ChildRow& row : children_) {
      if (row.kind == kQueueDrain) names.push_back(row.name);
    }
    constexpr std::size_t kMax = 5;
    if (names.size() > kMax) names.resize(kMax);
    Add("queued_operators", kScript,
        fmt::format(
            "{} queued eager operators delay a call, {:.1f} us ({}): compile them into the graph or"
            " move them; this is not a defect of TorchAir",
            CountPerCall(drain.count), PerCall(drain.total), fmt::join(names, ", ")),
        "queue_drain_us_per_call", PerCall(drain.total), 0, LossIn(Measure::kTorchairCpp, drain));
  }

  void AdviseOnSync() {
    const ChildRow inputs = Sum(Measure::kTorchairCpp, kOfWhichSync);
    const ChildRow outputs = Sum(Measure::kEpilogue, kOfWhichSync);
    if (inputs.count + outputs.count == 0) return;
    const TimeNs total = inputs.total + outputs.total;
    const Measure part = inputs.total >= outputs.total ? Measure::kTorchairCpp : Measure::kGe;
    Add("host_tensors", kScript,
        fmt::format("{} copies or waits for inputs and {} for outputs in a call, {:.1f} us: tensors"
                    " of the host go into or out of the graph; keep them on the device, or use CANN"
                    " 8.2.RC1 or newer for static graphs",
                    CountPerCall(inputs.count), CountPerCall(outputs.count), PerCall(total)),
        "sync_us_per_call", PerCall(total), 0,
        {NameOf(part), total, Plus(inputs.exposed, outputs.exposed)});
  }

  void AdviseOnTorchAir(bool causes_known) {
    if (causes_known) return;
    for (const Measure part : {Measure::kTorchairPy, Measure::kTorchairCpp}) {
      if (!Matters(part)) continue;
      const SummaryRow* row = Measured(part);
      Add("torchair_time", kTorchAir,
          fmt::format("{} takes {:.1f} us with no visible cause in the script; send these tables",
                      InfoOf(part).title, InUs(row->spread.p50)),
          "share_of_head_percent", ShareOfHead(InUs(row->spread.p50)), limits_.segment_share,
          LossIn(part, *row));
    }
  }

  void AdviseOnGe() {
    const SummaryRow* exec = Measured(Measure::kGeExec);
    if (exec == nullptr) return;
    const double p50 = InUs(exec->spread.p50);
    const double share = ShareOfHead(p50);
    const Loss loss = LossIn(Measure::kGe, *exec);
    const ChildRow copy = Sum(Measure::kGe, "event", "InputCopy");
    const bool refreshes = AllOf(Engine::kGeStatic) && Matters(PerCall(copy.total), copy.total);
    if (AllOf(Engine::kGeDynamic) && Matters(Measure::kGeExec)) {
      const std::int64_t launches =
          Sum(Measure::kGe, kLaunch).count + Sum(Measure::kGe, kOfWhichLaunch).count;
      Add("operator_dispatch", kScript,
          fmt::format(
              "the host dispatches {} operators a call at {:.2f} us each: make the"
              " graph static (mark_static, gears), use"
              " experimental_config.tiling_schedule_optimize,"
              " static_model_ops_lower_limit or several GE workers"
              " (MAX_RUNTIME_CORE_NUMBER); collect with --ge-api of msprof to see InferShape"
              " and Tiling",
              CountPerCall(launches),
              launches > 0 ? InUs(exec->spread.sum) / static_cast<double>(launches) : 0.0),
          "ge_exec_share_of_head_percent", share, limits_.segment_share, loss);
    } else if (refreshes) {
      Add("argument_refresh", kScript,
          fmt::format("refreshing the arguments takes {:.1f} us a call: keep addresses stable, use"
                      " frozen_parameter",
                      PerCall(copy.total)),
          "input_copy_share_of_head_percent", ShareOfHead(PerCall(copy.total)),
          limits_.segment_share, LossIn(Measure::kGe, copy));
    } else if (Matters(Measure::kGeExec)) {
      Add("ge_execution", kGe,
          fmt::format("GE executes {:.1f} us on the host; send these tables", p50),
          "ge_exec_share_of_head_percent", share, limits_.segment_share, loss);
    }
  }

  void AdviseOnEpilogue() {
    const SummaryRow* exec = Measured(Measure::kGeExec);
    const SummaryRow* cpp = Measured(Measure::kEpilogueCpp);
    const SummaryRow* py = Measured(Measure::kEpiloguePy);
    if (exec == nullptr || (cpp == nullptr && py == nullptr)) return;
    const TimeNs epilogue =
        (cpp != nullptr ? cpp->spread.p50 : 0) + (py != nullptr ? py->spread.p50 : 0);
    if (epilogue <= exec->spread.p50) return;
    const ChildRow outputs = Sum(Measure::kEpilogue, "of_which_outputs", "aten::set_");
    Loss loss{NameOf(Measure::kGe), 0, {}};
    for (const Call* call : calls_) {
      loss.cost += call->Of(Measure::kEpilogue).value_or(0);
      loss.gain =
          Plus(loss.gain, Since(call->IdleOf(Measure::kGe), call->IdleOf(Measure::kGeExec)));
    }
    Add("output_handling", kScript,
        fmt::format("{:.1f} us of the time after the start of GE are output handling, {:.1f} us are"
                    " GE: about {} outputs a call; look for outputs on the host, changed inputs,"
                    " and views; this is nothing for GE's support",
                    InUs(epilogue), InUs(exec->spread.p50), CountPerCall(outputs.count)),
        "epilogue_us", InUs(epilogue), InUs(exec->spread.p50), loss);
  }

  void AdviseOnEagerRuns() {
    const SummaryRow* run = Measured(Measure::kTorchairPy);
    Add("eager_graph", kScript,
        "the graph runs operator by operator: check run_eagerly, force_eager and the limit of"
        " captures; this time is not GE's",
        "eager_calls", static_cast<double>(calls_.size()), 1,
        run != nullptr ? LossIn(Measure::kTorchairPy, *run) : Loss());
  }

  void AdviseOnOutliers() {
    const double ratio = head_.p50 > 0 ? InUs(head_.p90) / InUs(head_.p50) : 0;
    if (ratio <= limits_.outlier_ratio) return;
    Loss stretched;  // of no part, and whether the device waited longer is not known
    std::vector<std::string> outliers;
    constexpr std::size_t kMax = 5;
    for (const Call* call : calls_) {
      const double limit = limits_.outlier_ratio * static_cast<double>(head_.p50);
      if (static_cast<double>(call->Head()) <= limit) continue;
      stretched.cost += call->Head() - head_.p50;
      if (outliers.size() == kMax) continue;
      const auto parts = call->Parts();
      const auto grown = std::ranges::max_element(parts, [&](Measure a, Measure b) {
        return call->Of(a).value_or(0) < call->Of(b).value_or(0);
      });
      outliers.push_back(fmt::format("call {} {:.1f} us, {}, device {}", call->id,
                                     InUs(call->Head()), InfoOf(*grown).title, DeviceText(*call)));
    }
    Add("stretched_calls", kPlatform,
        fmt::format("some calls are stretched: {}; the cause is unknown, trust the p50",
                    fmt::join(outliers, "; ")),
        "head_p90_to_p50", ratio, limits_.outlier_ratio, stretched);
  }
};

}  // namespace

void AdviseOnGraph(const AdviceInput& input, const Scope& scope,
                   std::span<const SummaryRow> summary, std::span<const ChildRow> children,
                   std::vector<AdviceRow>& rows) {
  GraphAdvice(input, scope, summary, children, rows).Give();
}

}  // namespace mpa::head

// SPDX-License-Identifier: Apache-2.0
// Advice on a graph, up to its C++: the platform, PyTorch, conversions, queues.
#include "graph_advice.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "call_children.h"

namespace mpa::head {
namespace {

// Of two times, what is known.
MaybeNs Plus(MaybeNs a, MaybeNs b) { return a && b ? MaybeNs(*a + *b) : a ? a : b; }

}  // namespace

std::string CountText(double count) {
  std::string text = fmt::format("{:.1f}", count);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

GraphAdvice::GraphAdvice(const AdviceInput& input, const Scope& scope, const ScopeRows& of_scope,
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

void GraphAdvice::Add(std::string_view rule, std::string_view owner, std::string text,
                      std::string_view metric, double value, double threshold, const Loss& loss) {
  rows_.push_back(
      {.rule = std::string(rule),
       .severity = Severity::kWarn,
       .scope = scope_.name,
       .owner = std::string(owner),
       .text = std::move(text),
       .metric = std::string(metric),
       .value = value,
       .threshold = threshold,
       .part = std::string(loss.part),
       .cost = loss.cost,
       .gain = loss.gain,
       .exposed_per_step = loss.gain && steps_ > 0 ? MaybeNs(*loss.gain / steps_) : std::nullopt,
       .is_compilation = false,
       .calls = Count()});
}

ChildRow GraphAdvice::Sum(ChildSegment segment, std::string_view kind,
                          std::string_view name) const {
  ChildRow sum;
  for (const ChildRow* row : children_) {
    if (row->segment != segment || row->kind != kind || (!name.empty() && row->name != name)) {
      continue;
    }
    sum.count += row->count;
    sum.total += row->total;
    sum.exposed = Plus(sum.exposed, row->exposed);
  }
  return sum;
}

std::string GraphAdvice::Longest(ChildSegment segment) const {
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

void GraphAdvice::Give() {
  if (calls_.empty()) return;
  AdviseOnPlatform();
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

bool GraphAdvice::LoadsAgain() const {
  bool steady = false;
  for (const std::size_t i : scope_.calls) {
    const Call& call = input_.calls[i];
    if (steady && call.loads_graph) return true;
    steady = steady || call.phase == Phase::kSteady;
  }
  return false;
}

void GraphAdvice::AdviseOnPlatform() {
  std::vector<TimeNs> values;
  Loss loss{kPlatformPart.measure};
  for (const std::size_t i : calls_) {
    const Call& call = input_.calls[i];
    values.push_back(*call.Of(Segment::kPlatform) - call.platform_wait.value_or(0));
    loss.cost += values.back();
    if (const MaybeNs exposed = call.ExposedOf(Segment::kPlatform)) {
      loss.gain = Plus(loss.gain, *exposed - call.exposed_wait.value_or(0));
    }
  }
  const Spread net = *SpreadOf(std::move(values));
  if (!Matters(Us(net.p50), loss.cost)) return;
  const ChildRow silent = Sum(ChildSegment::kPlatform, kUnattributed);
  const ChildRow garbage = Sum(ChildSegment::kPlatform, "of_which_gc");
  const SummaryRow* platform = Measured("platform");
  const double silent_share = platform != nullptr && platform->spread.sum > 0
                                  ? Us(silent.total) / Us(platform->spread.sum) * 100
                                  : 0;
  Add("platform_time", kPlatform,
      fmt::format("{:.1f} us before the model is entered, waiting not counted: {}; {:.0f} % "
                  "without any event{}; look at the loop, the scheduler and the preparation of "
                  "inputs around the call",
                  Us(net.p50), Longest(ChildSegment::kPlatform), silent_share,
                  garbage.count > 0
                      ? fmt::format("; garbage collected {} times, {:.3f} ms in all calls",
                                    garbage.count, Us(garbage.total) / 1e3)
                      : ""),
      "platform_net_share_of_head_percent", ShareOfHead(Us(net.p50)), limits_.segment_share, loss);
}

void GraphAdvice::AdviseOnLookup() {
  const SummaryRow* lookup = Measured("lookup");
  if (lookup == nullptr) return;
  const double p50 = Us(lookup->spread.p50);
  if (!Matters("lookup") && p50 <= limits_.lookup_us) return;
  Add("dynamo_lookup", kPyTorch,
      fmt::format("looking up the compiled code takes {:.1f} us: it grows with the number of "
                  "guards; use torchair's cache_compile (a loaded cache needs neither), "
                  "guard_filter_fn, or after warm-up "
                  "torch.compiler.set_stance(skip_guard_eval_unsafe=True), which is unsafe if "
                  "inputs change",
                  p50),
      "lookup_p50_us", p50, limits_.lookup_us, LossIn(kDynamoPart, *lookup));
}

void GraphAdvice::AdviseOnConversions() {
  const ChildRow built = Sum(ChildSegment::kTorchairPy, kTensorConstruct);
  const ChildRow contiguous = Sum(ChildSegment::kTorchairPy, kContiguous);
  const double n = PerCallCount(built.count);
  const bool builds = n >= limits_.built_tensors || PerCall(built.total) >= limits_.built_us;
  const bool copies = contiguous.count > 0 && PerCall(contiguous.total) >= limits_.contiguous_us;
  if (builds) {
    Add("tensors_built", kScript,
        fmt::format("{} tensors are built from Python values in each call, {:.1f} us: pass "
                    "tensors and keep them on the device, use fewer int, list and SymInt "
                    "arguments; TorchAir 7.0 and newer build them cheaper",
                    CountText(n), PerCall(built.total)),
        "built_tensors_per_call", n, limits_.built_tensors, LossIn(kPythonPart, built));
  }
  if (copies) {
    const bool mutated = Sum(ChildSegment::kEpilogue, "write_back").count > 0;
    Add("non_contiguous_inputs", kScript,
        fmt::format("{} inputs that are not contiguous are copied in each call, {:.1f} us: "
                    "call .contiguous() once outside, avoid transposed or sliced views{}",
                    CountText(PerCallCount(contiguous.count)), PerCall(contiguous.total),
                    mutated ? "; they are written back behind the graph, which costs again" : ""),
        "contiguous_us_per_call", PerCall(contiguous.total), limits_.contiguous_us,
        LossIn(kPythonPart, contiguous));
  }
  const ChildRow python = Sum(ChildSegment::kTorchairPy, kUnattributed);
  const ChildRow inputs = Sum(ChildSegment::kTorchairCpp, "event", "AssembleInputs");
  const TimeNs total = python.total + inputs.total;
  if (builds || copies || !Matters(PerCall(total), total)) return;
  Add("many_inputs", kScript,
      fmt::format("{:.1f} us of Python without events and of AssembleInputs: many inputs; use "
                  "experimental_config.frozen_parameter for weights, "
                  "torch._dynamo.mark_static_address() where the versions support it, fewer "
                  "inputs and outputs, or a newer TorchAir; its text log shows the number of "
                  "inputs, the capture does not",
                  PerCall(total)),
      "inputs_share_of_head_percent", ShareOfHead(PerCall(total)), limits_.segment_share,
      {kPythonPart.measure, total, Plus(python.exposed, inputs.exposed)});
}

void GraphAdvice::AdviseOnQueue() {
  const ChildRow drain = Sum(ChildSegment::kTorchairCpp, kQueueDrain);
  if (drain.count == 0) return;
  std::vector<std::string> names;
  for (const ChildRow* row : children_) {
    if (row->kind == kQueueDrain) names.push_back(row->name);
  }
  constexpr std::size_t kMost = 5;
  if (names.size() > kMost) names.resize(kMost);
  Add("queued_operators", kScript,
      fmt::format("{} queued eager operators hold a call up, {:.1f} us ({}): compile them into the "
                  "graph or move them; no defect of TorchAir",
                  CountText(PerCallCount(drain.count)), PerCall(drain.total),
                  fmt::join(names, ", ")),
      "queue_drain_us_per_call", PerCall(drain.total), 0, LossIn(kCppPart, drain));
}

void GraphAdvice::AdviseOnSync() {
  const ChildRow inputs = Sum(ChildSegment::kTorchairCpp, kOfWhichSync);
  const ChildRow outputs = Sum(ChildSegment::kEpilogue, kOfWhichSync);
  if (inputs.count + outputs.count == 0) return;
  const TimeNs total = inputs.total + outputs.total;
  const Part& part = inputs.total >= outputs.total ? kCppPart : kGePart;
  Add("host_tensors", kScript,
      fmt::format("{} copies or waits for inputs and {} for outputs in a call, {:.1f} us: tensors "
                  "of the host go into or out of the graph; keep them on the device, or use CANN "
                  "8.2.RC1 or newer for static graphs",
                  CountText(PerCallCount(inputs.count)), CountText(PerCallCount(outputs.count)),
                  PerCall(total)),
      "sync_us_per_call", PerCall(total), 0,
      {part.measure, total, Plus(inputs.exposed, outputs.exposed)});
}

// Advice on a graph: TorchAir itself, GE, the handling of outputs, stretched calls.

void GraphAdvice::AdviseOnTorchAir(bool causes_known) {
  if (causes_known) return;
  for (const Part& part : {kPythonPart, kCppPart}) {
    if (!Matters(part.measure)) continue;
    const SummaryRow* row = Measured(part.measure);
    Add("torchair_time", kTorchAir,
        fmt::format("{} takes {:.1f} us and no cause in the script is seen; send these tables",
                    part.title, Us(row->spread.p50)),
        "share_of_head_percent", ShareOfHead(Us(row->spread.p50)), limits_.segment_share,
        LossIn(part, *row));
  }
}

void GraphAdvice::AdviseOnGe() {
  const SummaryRow* exec = Measured("ge_exec");
  if (exec == nullptr) return;
  const double p50 = Us(exec->spread.p50);
  const double share = ShareOfHead(p50);
  const Loss loss = LossIn(kGePart, *exec);
  const ChildRow copy = Sum(ChildSegment::kGe, "event", "InputCopy");
  const bool refreshes = AllOf(Engine::kGeStatic) && Matters(PerCall(copy.total), copy.total);
  if (AllOf(Engine::kGeDynamic) && Matters("ge_exec")) {
    const std::int64_t launches =
        Sum(ChildSegment::kGe, kLaunch).count + Sum(ChildSegment::kGe, kOfWhichLaunch).count;
    Add("operator_dispatch", kScript,
        fmt::format("the host dispatches {} operators a call at {:.2f} us each: make the "
                    "graph static (mark_static, gears), use "
                    "experimental_config.tiling_schedule_optimize, "
                    "static_model_ops_lower_limit or several GE workers "
                    "(MAX_RUNTIME_CORE_NUMBER); collect with --ge-api of msprof to see InferShape "
                    "and Tiling",
                    CountText(PerCallCount(launches)),
                    launches > 0 ? Us(exec->spread.sum) / static_cast<double>(launches) : 0.0),
        "ge_exec_share_of_head_percent", share, limits_.segment_share, loss);
  } else if (refreshes) {
    Add("argument_refresh", kScript,
        fmt::format("refreshing the arguments takes {:.1f} us a call: keep addresses stable, use "
                    "frozen_parameter",
                    PerCall(copy.total)),
        "input_copy_share_of_head_percent", ShareOfHead(PerCall(copy.total)), limits_.segment_share,
        LossIn(kGePart, copy));
  } else if (Matters("ge_exec")) {
    Add("ge_execution", kGe,
        fmt::format("GE executes {:.1f} us on the host; send these tables", p50),
        "ge_exec_share_of_head_percent", share, limits_.segment_share, loss);
  }
}

void GraphAdvice::AdviseOnEpilogue() {
  const SummaryRow* exec = Measured("ge_exec");
  const SummaryRow* cpp = Measured("epilogue_cpp");
  const SummaryRow* py = Measured("epilogue_py");
  if (exec == nullptr || (cpp == nullptr && py == nullptr)) return;
  const TimeNs epilogue =
      (cpp != nullptr ? cpp->spread.p50 : 0) + (py != nullptr ? py->spread.p50 : 0);
  if (epilogue <= exec->spread.p50) return;
  const ChildRow outputs = Sum(ChildSegment::kEpilogue, "of_which_outputs", "aten::set_");
  Loss loss{kGePart.measure, 0, {}};
  for (const std::size_t i : calls_) {
    const Call& call = input_.calls[i];
    loss.cost += call.epilogue_cpp.value_or(0) + call.epilogue_py.value_or(0);
    const MaybeNs all = call.ExposedOf(Segment::kGe);
    if (all && call.exposed_ge_exec) {
      loss.gain = loss.gain.value_or(0) + *all - *call.exposed_ge_exec;
    }
  }
  Add("output_handling", kScript,
      fmt::format("{:.1f} us of the time behind the start of GE are handling of outputs, {:.1f} "
                  "us are GE: about {} outputs a call; look for outputs on the host, inputs that "
                  "are changed, views; nothing for GE's support",
                  Us(epilogue), Us(exec->spread.p50), CountText(PerCallCount(outputs.count))),
      "epilogue_us", Us(epilogue), Us(exec->spread.p50), loss);
}

void GraphAdvice::AdviseOnEagerRuns() {
  const SummaryRow* run = Measured(kPythonPart.measure);
  Add("eager_graph", kScript,
      "the graph runs operator by operator: check run_eagerly, force_eager and the limit of "
      "captures; its time is not GE's",
      "eager_calls", static_cast<double>(Count()), 1,
      run != nullptr ? LossIn(kPythonPart, *run) : Loss());
}

void GraphAdvice::AdviseOnOutliers() {
  const double ratio = head_.p50 > 0 ? Us(head_.p90) / Us(head_.p50) : 0;
  if (ratio <= limits_.outlier_ratio) return;
  Loss stretched;  // of no part, and whether the device waited longer is not known
  std::vector<std::string> outliers;
  constexpr std::size_t kMost = 5;
  for (const std::size_t i : calls_) {
    const Call& call = input_.calls[i];
    const double limit = limits_.outlier_ratio * static_cast<double>(head_.p50);
    if (static_cast<double>(call.Head()) <= limit) continue;
    stretched.cost += call.Head() - head_.p50;
    if (outliers.size() == kMost) continue;
    const auto grown = std::max_element(
        kAllSegments.begin(), kAllSegments.end(),
        [&](Segment a, Segment b) { return call.Of(a).value_or(0) < call.Of(b).value_or(0); });
    outliers.push_back(fmt::format("call {} {:.1f} us, {}, device {}", i, Us(call.Head()),
                                   PartOf(call, *grown).title, DeviceText(call)));
  }
  Add("stretched_calls", kPlatform,
      fmt::format("some calls are stretched: {}; the cause is not known, trust the p50",
                  fmt::join(outliers, "; ")),
      "head_p90_to_p50", ratio, limits_.outlier_ratio, stretched);
}

std::string_view GraphAdvice::DeviceText(const Call& call) {
  if (!call.idle) return "unknown";
  return 2 * *call.idle < *call.first_kernel - call.w0 ? "busy" : "idle";
}

}  // namespace mpa::head

// SPDX-License-Identifier: Apache-2.0
// Advice on a graph: TorchAir itself, GE, the handling of outputs, stretched calls.
#include <fmt/format.h>

#include "graph_advice.h"

namespace mpa::head {

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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string_view>

#include "call.h"
#include "mpa/base/language.h"
#include "mpa/base/threshold.h"

/// Every kind of advice, and the threshold from which on it is given. The thresholds are proposals;
/// no measurement backs them.
namespace mpa::head {

inline constexpr double kMost = std::numeric_limits<double>::max();
inline constexpr Threshold kSegmentShare{
    "segment_share", 20, 0, kMost, ToTranslate("% of the head: a segment matters from there")},
    kSegmentStepShare{"segment_step_share", 5, 0, kMost, ToTranslate("the same in % of the step")},
    kExposedStepShare{"exposed_step_share", 1, 0, kMost,
                      ToTranslate("% of the step: below, device work hides the head")},
    kLookupUs{"lookup_us", 300, 0, kMost, ToTranslate("p50 of Dynamo's lookup")},
    kCallsPerRegion{"calls_per_region", 4, 0, kMost,
                    ToTranslate("more are a model compiled in pieces")},
    kBuiltTensors{"built_tensors", 8, 0, kMost, ToTranslate("tensors built in each call")},
    kBuiltUs{"built_us", 50, 0, kMost, ToTranslate("us to build them in each call")},
    kContiguousUs{"contiguous_us", 20, 0, kMost, ToTranslate("us to copy inputs in each call")},
    kOutlierRatio{"outlier_ratio", 5, 0, kMost, ToTranslate("p90 of the head to its p50")};
inline constexpr const Threshold* kThresholds[] = {
    &kSegmentShare, &kSegmentStepShare, &kExposedStepShare, &kLookupUs,    &kCallsPerRegion,
    &kBuiltTensors, &kBuiltUs,          &kContiguousUs,     &kOutlierRatio};
// Fixed: --thresholds does not list them.
inline constexpr Threshold kAnyTime{"", 0, 0, 0, ""}, kOnce{"", 1, 1, 1, ""};

/// A kind of advice.
struct Rule {
  std::string_view id, owner;  ///< the owner is whom to ask
  std::string_view metric;     ///< what is measured, and compared with `threshold`
  const Threshold& threshold;
  std::string_view text;  ///< what was measured, for each "{}", and what to do
};

inline constexpr std::string_view kPlatform = InfoOf(Measure::kPlatform).owner,
                                  kPyTorch = "PyTorch Dynamo", kScript = ToTranslate("script"),
                                  kTorchAir = ToTranslate("TorchAir: Ascend technical support"),
                                  kGe = ToTranslate("GE: Ascend technical support");

// On all calls of a rank.
inline constexpr Rule kCaptureLater{
    "capture_later", kScript, "steady_calls", kOnce,
    ToTranslate(
        "all {} calls compile, so the numbers are the cost of compiling; capture later: at least 3"
        " steps of warm-up, with skip_first and warmup of schedule()")},
    kRecompilation{
        "recompilation", kPyTorch, "recompilations", kOnce,
        ToTranslate("compiled again during the capture: {}; frames: {}; mark dynamic dimensions,"
                    " pad inputs, or use gears")},
    kGraphPieces{
        "graph_pieces", kScript, "calls_per_region", kCallsPerRegion,
        ToTranslate("{} calls of graphs {} at {:.1f} us each cost {:.1f} us: {}; compile with"
                    " fullgraph=True to see why, and move what breaks the graph out of it")},
    kGraphReload{
        "graph_reload", kScript, "reloads", kOnce,
        ToTranslate("a graph is loaded or captured again ({}): {}; changed addresses, limits of"
                    " streams or cores, or too many shapes for the limit of captures")},
    kUnexplainedPart{
        "unexplained_part", "", "share_of_device_idle_percent", kAnyTime,
        ToTranslate("{} {:.1f} us a call in {}, and no rule names the cause: HEAD_CHILD shows"
                    " what fills this part")},
    kHidden{"hidden", ToTranslate("nobody"), "exposed_share_of_step_percent", kExposedStepShare,
            ToTranslate("device work hides the head overhead; it is not the bottleneck")};

// On the steady calls of one graph.
inline constexpr std::string_view kBeforeTheModel = ToTranslate(
    "{:.1f} us before the model is entered, waiting not counted: {}; {:.0f} % without any event{};"
    " {}");
inline constexpr Rule kPlatformTime{"platform_time", kPlatform,
                                    "platform_net_share_of_head_percent", kSegmentShare,
                                    kBeforeTheModel},
    kServingTime{"serving_time", InfoOf(Measure::kServing).owner,
                 "serving_net_share_of_head_percent", kSegmentShare, kBeforeTheModel},
    kDynamoLookup{
        "dynamo_lookup", kPyTorch, "lookup_p50_us", kLookupUs,
        ToTranslate(
            "looking up the compiled code takes {:.1f} us: it grows with the number of guards; use"
            " torchair's cache_compile (a loaded cache needs no lookup), guard_filter_fn, or after"
            " warm-up torch.compiler.set_stance(skip_guard_eval_unsafe=True), which is unsafe if"
            " inputs"
            " change")},
    kTensorsBuilt{
        "tensors_built", kScript, "built_tensors_per_call", kBuiltTensors,
        ToTranslate(
            "{} tensors are built from Python values in each call, {:.1f} us: pass tensors"
            " and keep them on the device, use fewer int, list and SymInt arguments; TorchAir"
            " 7.0 and newer build them faster")},
    kNonContiguousInputs{
        "non_contiguous_inputs", kScript, "contiguous_us_per_call", kContiguousUs,
        ToTranslate("{} inputs that are not contiguous are copied in each call, {:.1f} us:"
                    " call .contiguous() once outside, avoid transposed or sliced views{}")},
    kManyInputs{
        "many_inputs", kScript, "inputs_share_of_head_percent", kSegmentShare,
        ToTranslate(
            "{:.1f} us of Python without events and of AssembleInputs: many inputs; use"
            " experimental_config.frozen_parameter for weights, torch._dynamo.mark_static_address()"
            " where the versions support it, fewer inputs and outputs, or a newer TorchAir; its"
            " text"
            " log shows the number of inputs, the capture does not")},
    kQueuedOperators{
        "queued_operators", kScript, "queue_drain_us_per_call", kAnyTime,
        ToTranslate("{} queued eager operators delay a call, {:.1f} us ({}): compile them into"
                    " the graph or move them; this is not a defect of TorchAir")},
    kHostTensors{
        "host_tensors", kScript, "sync_us_per_call", kAnyTime,
        ToTranslate("{} copies or waits for inputs and {} for outputs in a call, {:.1f} us: tensors"
                    " of the host go into or out of the graph; keep them on the device, or use CANN"
                    " 8.2.RC1 or newer for static graphs")},
    kTorchAirTime{
        "torchair_time", kTorchAir, "share_of_head_percent", kSegmentShare,
        ToTranslate("{} takes {:.1f} us with no visible cause in the script; send these tables")},
    kOperatorDispatch{
        "operator_dispatch", kScript, "ge_exec_share_of_head_percent", kSegmentShare,
        ToTranslate(
            "the host dispatches {} operators a call at {:.2f} us each: make the graph static"
            " (mark_static, gears), use experimental_config.tiling_schedule_optimize,"
            " static_model_ops_lower_limit or several GE workers (MAX_RUNTIME_CORE_NUMBER); collect"
            " with --ge-api of msprof to see InferShape and Tiling")},
    kArgumentRefresh{
        "argument_refresh", kScript, "input_copy_share_of_head_percent", kSegmentShare,
        ToTranslate("refreshing the arguments takes {:.1f} us a call: keep addresses stable, use"
                    " frozen_parameter")},
    kGeExecution{"ge_execution", kGe, "ge_exec_share_of_head_percent", kSegmentShare,
                 ToTranslate("GE executes {:.1f} us on the host; send these tables")},
    kOutputHandling{
        "output_handling", kScript, "epilogue_us", kAnyTime,
        ToTranslate("{:.1f} us of the time after the start of GE are output handling, {:.1f} us"
                    " are GE: about {} outputs a call; look for outputs on the host, changed"
                    " inputs, and views; this is nothing for GE's support")},
    kEagerGraph{
        "eager_graph", kScript, "eager_calls", kOnce,
        ToTranslate(
            "the graph runs operator by operator: check run_eagerly, force_eager and the limit"
            " of captures; this time is not GE's")},
    kStretchedCalls{
        "stretched_calls", kPlatform, "head_p90_to_p50", kOutlierRatio,
        ToTranslate("some calls are stretched: {}; the cause is unknown, trust the p50")};

}  // namespace mpa::head

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "mpa/base/language.h"
#include "mpa/base/time.h"

namespace mpa::head {

using MaybeNs = std::optional<TimeNs>;

/// From `begin` to `end`, unknown where one of them is.
inline MaybeNs Since(MaybeNs end, MaybeNs begin) {
  return end && begin ? MaybeNs(*end - *begin) : std::nullopt;
}

/// By which event a call is known.
enum class CallKind : std::uint8_t {
  kCompilerInference,  ///< npu_fx_compiler inference
  kCachedInference,    ///< cache_compiler inference
  kGraphRun,           ///< TorchNpuGraphBase::Run alone
  kGraphExecution,     ///< the execution of the graph alone
  kAclGraphReplay,     ///< acl_graph_replay or fx_run_eagerly alone
  kRuntimeOnly,        ///< a call of the runtime alone: only its start is known
};

enum class Engine : std::uint8_t { kGeStatic, kGeDynamic, kGe, kAclGraph, kEagerFx, kUnknown };
enum class Phase : std::uint8_t { kSteady, kCompile };
/// How the first kernel was found; the last way is a guess.
enum class KernelSource : std::uint8_t { kNone, kLaunch, kIteration, kModelFifo, kTime };

/// What has to be known of a call to judge its numbers.
enum class Flag : std::uint16_t {
  kNoEntry = 1u << 0,
  kPythonFromRegion = 1u << 1,
  kNoPyAnchor = 1u << 2,
  kGeFromCann = 1u << 3,
  kGeFromAssemble = 1u << 4,
  kNoRun = 1u << 5,
  kGapClipped = 1u << 6,
  kClockSkew = 1u << 7,
  kDeviceBound = 1u << 8,
  kPartialHead = 1u << 9,
  kPartialTail = 1u << 10,
};
struct FlagInfo {
  Flag flag;
  std::string_view name, meaning;  ///< for tables, and for people
};
inline constexpr FlagInfo kFlags[] = {
    {Flag::kNoEntry, "NO_PYTORCH_EVENT",
     ToTranslate("no event of PyTorch; its time counts as the platform's")},
    {Flag::kPythonFromRegion, "TORCHAIR_FROM_REGION",
     ToTranslate(
         "TorchAir has no event of its own and is taken to begin with the compiled region")},
    {Flag::kNoPyAnchor, "NO_PYTHON_EVENT",
     ToTranslate("no event of TorchAir's Python part; its time counts as the platform's")},
    {Flag::kGeFromCann, "GE_FROM_CANN",
     ToTranslate("GE is taken to begin with its first CANN call, a little late")},
    {Flag::kGeFromAssemble, "GE_FROM_ASSEMBLE",
     ToTranslate("GE is taken to begin where the outputs are bound, too early")},
    {Flag::kNoRun, "NO_CPP_EVENT",
     ToTranslate("no event of TorchAir's C++ part; its time counts as the Python part's")},
    {Flag::kGapClipped, "GAP_CLIPPED", ToTranslate("a long wait before the call is left out")},
    {Flag::kClockSkew, "CLOCK_SKEW",
     ToTranslate("the clocks of host and device disagree, the first kernel is unknown")},
    {Flag::kDeviceBound, "DEVICE_WAS_BUSY",
     ToTranslate("the device was busy, so the host did not delay the first kernel")},
    {Flag::kPartialHead, "CUT_AT_BEGIN",
     ToTranslate("cut off by the start of the capture, in no sum")},
    {Flag::kPartialTail, "CUT_AT_END",
     ToTranslate("cut off by the end of the capture, in no sum")}};

std::string_view NameOf(CallKind kind);
std::string_view NameOf(Engine engine);
std::string_view NameOf(Phase phase);
std::string_view NameOf(KernelSource source);

/// What is measured of a call: parts of its time, and times to the first kernel.
enum class Measure : std::uint8_t {
  kPlatform,
  kPlatformWait,  ///< of the platform's time: waiting for the device
  kServing,       ///< a serving framework before the call; unknown where no event is one's
  kServingWait,   ///< of its time: waiting for the device
  kDynamo,
  kLookup,  ///< parts of Dynamo's time
  kDynamoCompile,
  kRegionOther,
  kFrontend,  ///< platform, serving framework and Dynamo
  kTorchairPy,
  kTorchairCpp,
  kGe,      ///< from the start of GE to the end of the call
  kReplay,  ///< the same of a captured graph, where nothing is GE's
  kGeExec,  ///< parts of GE's time
  kEpilogueCpp,
  kEpiloguePy,
  kLag,  ///< from the end of the call to a later first kernel
  kHead,
  kCompile,  ///< of the head: compiling and loading
  kHeadNet,  ///< the head without that
  kFirstTaskLatency,
  kFirstKernelLatency,
  kHeadToFirstKernel,
  kEpilogue,  ///< its C++ and its Python, for those who look inside
};
constexpr std::size_t Index(Measure measure) { return static_cast<std::size_t>(measure); }

/// The name of a measure in tables, and of parts of the head for people. Parts have an owner.
struct MeasureInfo {
  std::string_view name, title{}, owner{};
};
inline constexpr MeasureInfo kMeasureInfos[] = {
    {"platform", ToTranslate("platform"), ToTranslate("serving framework / script")},
    {"platform_wait"},
    {"serving", ToTranslate("serving framework"), "serving framework"},
    {"serving_wait"},
    {"dynamo", "dynamo", "PyTorch"},
    {"lookup"},
    {"dynamo_compile"},
    {"region_other"},
    {"frontend"},
    {"torchair_py", "torchair python", "TorchAir"},
    {"torchair_cpp", "torchair C++", "TorchAir"},
    {"ge", ToTranslate("GE and epilogue"), "GE, TorchAir (epilogue)"},
    {"aclgraph", ToTranslate("aclgraph replay"), ToTranslate("TorchAir, CANN runtime")},
    {"ge_exec"},
    {"epilogue_cpp"},
    {"epilogue_py"},
    {"lag"},
    {"head"},
    {"compile"},
    {"head_net"},
    {"first_task_latency"},
    {"first_kernel_latency"},
    {"head_to_first_kernel"},
    {"epilogue"}};
inline constexpr std::size_t kMeasures = std::size(kMeasureInfos);
constexpr const MeasureInfo& InfoOf(Measure measure) { return kMeasureInfos[Index(measure)]; }
constexpr std::string_view NameOf(Measure measure) { return InfoOf(measure).name; }
/// The parts of the head in order; a call has one of the last two.
inline constexpr Measure kParts[] = {Measure::kPlatform,   Measure::kServing,     Measure::kDynamo,
                                     Measure::kTorchairPy, Measure::kTorchairCpp, Measure::kGe,
                                     Measure::kReplay};

/// A call of a compiled graph. Times are nanoseconds; empty is unknown, never 0.
struct Call {
  CallKind kind = CallKind::kCompilerInference;
  Engine engine = Engine::kUnknown;
  Phase phase = Phase::kSteady;
  KernelSource task_source = KernelSource::kNone, kernel_source = KernelSource::kNone;
  std::uint16_t flags = 0;
  std::int64_t id = -1;      ///< its position
  std::int64_t parent = -1;  ///< position of the call it is nested in
  std::int32_t step = -1;    ///< id of its step
  std::int32_t track = -1;
  std::int64_t pid = -1, tid = -1, device = -1;
  std::string graph;                      ///< its name
  std::int64_t frame = -1, variant = -1;  ///< i and j of its region i/j
  std::int32_t calls_of_region = 0;       ///< calls of the same run of its region
  bool in_nested_region = false;          ///< the region runs within another one
  bool loads_graph = false;               ///< it loads or captures its graph

  // Boundaries. Of kRuntimeOnly only `ge_begin` is known.
  TimeNs frontend_begin = 0;         ///< the front end's time begins
  TimeNs entered = 0;                ///< the compiled model is entered
  TimeNs python_begin = 0;           ///< TorchAir's Python begins
  MaybeNs cpp_begin;                 ///< TorchAir's C++ begins
  MaybeNs ge_begin;                  ///< GE begins
  TimeNs end = 0;                    ///< the call ends
  MaybeNs first_task, first_kernel;  ///< when they start; the task may refresh arguments only

  struct Time {
    MaybeNs total;
    MaybeNs idle;  ///< of it the device is idle, up to the first kernel
  };
  std::array<Time, kMeasures> times;

  std::int64_t tensors_built = 0, contiguous = 0, clones = 0, copies = 0, launches = 0;

  bool Has(Flag flag) const { return (flags & static_cast<std::uint16_t>(flag)) != 0; }
  void Set(Flag flag) { flags |= static_cast<std::uint16_t>(flag); }
  /// No part of it is GE's: the last part is the replay of a captured graph.
  bool Replays() const { return engine == Engine::kAclGraph; }
  bool KnowsHead() const { return kind != CallKind::kRuntimeOnly; }
  TimeNs Head() const { return end - frontend_begin; }
  /// Part of sums and statistics: nested and cut off calls are not, nor those of the runtime only.
  bool Counts() const {
    return KnowsHead() && parent < 0 && !Has(Flag::kPartialHead) && !Has(Flag::kPartialTail);
  }
  MaybeNs Of(Measure measure) const { return times[Index(measure)].total; }
  MaybeNs IdleOf(Measure measure) const { return times[Index(measure)].idle; }
  /// The parts of its head, in order.
  std::array<Measure, 6> Parts() const {
    return {Measure::kPlatform,    Measure::kServing,
            Measure::kDynamo,      Measure::kTorchairPy,
            Measure::kTorchairCpp, Replays() ? Measure::kReplay : Measure::kGe};
  }
};
inline constexpr std::size_t kPartsOfCall = std::tuple_size_v<decltype(Call().Parts())>;

/// "NO_PYTORCH_EVENT|GE_FROM_CANN".
std::string FlagText(const Call& call);

}  // namespace mpa::head

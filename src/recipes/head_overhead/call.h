// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"

namespace mpa::head {

using MaybeNs = std::optional<TimeNs>;

/// From `begin` to `end`, unknown where one of them is.
inline MaybeNs Since(MaybeNs end, MaybeNs begin) {
  return end && begin ? MaybeNs(*end - *begin) : std::nullopt;
}

/// By which event a call is known.
enum class CallKind : std::uint8_t {
  kA1,  ///< npu_fx_compiler inference
  kA2,  ///< cache_compiler inference
  kA3,  ///< TorchNpuGraphBase::Run alone
  kA4,  ///< the execution of the graph alone
  kA5,  ///< acl_graph_replay or fx_run_eagerly alone
  kA6,  ///< a call of the runtime alone: only its start is known
};

enum class Engine : std::uint8_t { kGeStatic, kGeDynamic, kGe, kAclGraph, kEagerFx, kUnknown };
enum class Phase : std::uint8_t { kSteady, kCompile };
/// How the first kernel was found; the last way is a guess.
enum class KernelSource : std::uint8_t { kNone, kLaunch, kIteration, kModelFifo, kTime };

/// What has to be known of a call to judge its numbers.
enum class Flag : std::uint16_t {
  kNoEntry = 1u << 0,         ///< no event of PyTorch: its time is in the platform's
  kT1FromRegion = 1u << 1,    ///< TorchAir's start is that of the compiled region
  kNoPyAnchor = 1u << 2,      ///< TorchAir's Python time is unknown, it is in the platform's
  kT3FromCann = 1u << 3,      ///< GE begins at its first runtime call: a little late
  kT3FromAssemble = 1u << 4,  ///< GE begins where the outputs are bound: early
  kNoRun = 1u << 5,           ///< TorchAir's Python time holds its C++ time
  kGapClipped = 1u << 6,      ///< a long wait before the call is left out
  kClockSkew = 1u << 7,       ///< the clocks of host and device disagree
  kDeviceBound = 1u << 8,     ///< the device was busy: its first kernel was not late by the host
  kPartialHead = 1u << 9,     ///< cut by the begin of the capture, not in statistics
  kPartialTail = 1u << 10,    ///< cut by the end of the capture, not in statistics
};
inline constexpr int kFlags = 11;

std::string_view NameOf(CallKind kind);
std::string_view NameOf(Engine engine);
std::string_view NameOf(Phase phase);
std::string_view NameOf(KernelSource source);
std::string_view NameOf(Flag flag);
/// For people: "no event of PyTorch, its time is in the platform's".
std::string_view MeaningOf(Flag flag);

/// The parts of the time of a call, in order.
enum class Segment : std::uint8_t { kPlatform, kDynamo, kTorchairPy, kTorchairCpp, kGe };
inline constexpr std::size_t kSegments = 5;
inline constexpr std::array<Segment, kSegments> kAllSegments = {
    Segment::kPlatform, Segment::kDynamo, Segment::kTorchairPy, Segment::kTorchairCpp,
    Segment::kGe};
constexpr std::size_t Index(Segment segment) { return static_cast<std::size_t>(segment); }

/// A call of a compiled graph. Times are nanoseconds; empty is unknown, never 0.
struct Call {
  CallKind kind = CallKind::kA1;
  Engine engine = Engine::kUnknown;
  Phase phase = Phase::kSteady;
  KernelSource task_source = KernelSource::kNone, kernel_source = KernelSource::kNone;
  std::uint16_t flags = 0;
  std::int64_t parent = -1;  ///< position of the call it is nested in
  std::int32_t step = -1;    ///< id of its step
  std::int32_t track = -1;
  std::int64_t pid = -1, tid = -1, device = -1;
  std::size_t graph = 0;                  ///< position of its graph's name
  std::int64_t frame = -1, variant = -1;  ///< i and j of its region i/j
  std::int32_t calls_of_region = 0;       ///< calls of the same run of its region
  bool in_nested_region = false;          ///< the region runs within another one
  bool loads_graph = false;               ///< it loads or captures its graph

  // Boundaries. Of A6 only t3 is known.
  TimeNs w0 = 0;  ///< the front end's time begins
  TimeNs e0 = 0;  ///< the compiled model is entered
  TimeNs t1 = 0;  ///< TorchAir's Python begins
  MaybeNs t2;     ///< TorchAir's C++ begins
  MaybeNs t3;     ///< GE begins
  TimeNs t4 = 0;  ///< the call ends

  std::array<MaybeNs, kSegments> segments;
  MaybeNs platform_wait;                         ///< of the platform's time: waiting for the device
  MaybeNs lookup, dynamo_compile, region_other;  ///< parts of Dynamo's time
  MaybeNs ge_exec, epilogue_cpp, epilogue_py;    ///< parts of GE's time
  TimeNs compile = 0;

  MaybeNs first_task, first_kernel;  ///< when they start; the task may refresh arguments only
  MaybeNs idle;                      ///< of the device, from w0 to the first kernel
  std::array<MaybeNs, kSegments> exposed;
  MaybeNs exposed_lag;  ///< idle between the end of the call and the first kernel
  /// Likewise, of parts of segments and of what compiles.
  MaybeNs exposed_wait, exposed_lookup, exposed_ge_exec, exposed_compile;

  std::int64_t tensors_built = 0, contiguous = 0, clones = 0, copies = 0, launches = 0;

  bool Has(Flag flag) const { return (flags & static_cast<std::uint16_t>(flag)) != 0; }
  void Set(Flag flag) { flags |= static_cast<std::uint16_t>(flag); }
  /// No part of it is GE's: the last segment is the replay of a captured graph.
  bool Replays() const { return engine == Engine::kAclGraph; }
  bool KnowsHead() const { return kind != CallKind::kA6; }
  TimeNs Head() const { return t4 - w0; }
  /// Part of sums and statistics: nested, cut off and A6 calls are not.
  bool Counts() const {
    return KnowsHead() && parent < 0 && !Has(Flag::kPartialHead) && !Has(Flag::kPartialTail);
  }
  MaybeNs Of(Segment segment) const { return segments[Index(segment)]; }
  MaybeNs ExposedOf(Segment segment) const { return exposed[Index(segment)]; }
};

/// "NO_PYTORCH_EVENT|GE_FROM_CANN".
std::string FlagText(const Call& call);

/// A part of the head for people.
struct Part {
  std::string_view measure;  ///< in SummaryRow
  std::string_view title, owner;
};
inline constexpr Part kPlatformPart{"platform", "platform", "serving framework / script"};
inline constexpr Part kDynamoPart{"dynamo", "dynamo", "PyTorch"};
inline constexpr Part kPythonPart{"torchair_py", "torchair python", "TorchAir"};
inline constexpr Part kCppPart{"torchair_cpp", "torchair C++", "TorchAir"};
inline constexpr Part kGePart{"ge", "GE and epilogue", "GE, TorchAir (epilogue)"};
/// Of aclgraph: the last segment has nothing of GE.
inline constexpr Part kReplayPart{"aclgraph", "aclgraph replay", "TorchAir, CANN runtime"};
inline constexpr Part kParts[] = {kPlatformPart, kDynamoPart, kPythonPart,
                                  kCppPart,      kGePart,     kReplayPart};

/// What the segment of the call is to people.
inline const Part& PartOf(const Call& call, Segment segment) {
  return segment == Segment::kGe && call.Replays() ? kReplayPart : kParts[Index(segment)];
}

}  // namespace mpa::head

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/on_demand.h"
#include "mpa/base/text.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/launches.h"
#include "mpa/model/queue_index.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// "aclrtMemcpy" for "AscendCL@aclrtMemcpy".
inline std::string_view WithoutLevel(std::string_view name) {
  const std::size_t level = name.find('@');
  return level == std::string_view::npos ? name : name.substr(level + 1);
}

/// True for a call that looks up, compiles and launches an operator in one, in any of its versions:
/// aclopCompileAndExecute, aclopCompileAndExecuteV2.
inline bool IsOpCompileAndExecute(std::string_view name) {
  return WithoutLevel(name).starts_with("aclopCompileAndExecute");
}

/// True for a call that starts a whole graph.
inline bool StartsGraph(std::string_view name) {
  return ContainsAny(name, {"ModelExecute", "aclmdlRIExecute", "aclmdlExecute", "GraphLaunch"});
}

/// True for a rank that runs functions of torch.compile, with the kernels that it generates, or
/// graphs that were captured or compiled. Looks at operators, calls of the runtime and kernels.
bool RunsCompiledCode(const RankTrace& trace);

/// The call of the runtime that launched a piece of device work, on the clock of the host.
struct LaunchCall {
  TimeNs begin = 0, end = 0;
  std::int32_t track = -1;
  std::int32_t row = -1;  ///< of the host calls; -1: only a moment within the call is known
};

/// Finds calls by the connection that device work carries. Refers to the rank, which must outlive
/// it.
class LaunchCalls {
 public:
  explicit LaunchCalls(const RankTrace& trace);
  std::optional<LaunchCall> Find(std::int64_t connection) const;
  /// The last call before `time` that started a whole graph.
  std::optional<LaunchCall> LastGraph(TimeNs time) const;
  /// False when the capture has no calls of the runtime, only moments of them or nothing at all.
  bool HasCalls() const { return !trace_.host_calls.Empty(); }

 private:
  using Numbered = std::pair<std::int64_t, std::uint32_t>;  // connection and row
  LaunchCall Call(std::uint32_t row) const;

  const RankTrace& trace_;
  std::vector<Numbered> calls_, stamps_;
  std::vector<std::uint32_t> graphs_;  // rows of calls by start
};

/// How the host brought a piece of work to the device, on the clock of the host: a thread asked for
/// it until `asked`, another one took it up at `taken`, and its call launched it until `launched`.
struct LaunchChain {
  TimeNs asked = 0, taken = 0, launched = 0;
  std::int32_t asking_track = -1, launching_track = -1;
  TimeNs call_begin = 0;
  std::int32_t queued = -1;  ///< row of the queued work that launched; -1: none, or not looked for
  bool complete = false;     ///< the call of the runtime is known, not only who asked for it
};

/// Finds the chains of device work. Refers to the rank, which must outlive it.
class LaunchChains {
 public:
  explicit LaunchChains(const RankTrace& trace);
  /// `begin`: that of the item on the clock of the host.
  std::optional<LaunchChain> Find(const DeviceItem& item, TimeNs begin) const;
  const LaunchCalls& calls() const { return calls_; }

  /// Without the call: the operator that launched, and what it asked the queue for first.
  std::optional<LaunchChain> FromOperator(std::int64_t link) const;

 private:
  std::optional<LaunchChain> FromCall(const LaunchCall& call) const;

  const RankTrace& trace_;
  LaunchCalls calls_;
  QueueIndex queue_;
  LaunchIndex launches_;
  OnDemand<Nesting> ops_;                 // most work has a call of the runtime
  std::vector<std::uint32_t> by_demand_;  // rows of the queued work by asking thread and time
};

/// A kernel, a copy or an operation of communication with what on the host brought it to the
/// device. Rows are -1 where the capture does not say.
struct Dispatch {
  DeviceItem work;
  std::int64_t op = -1;    ///< row of the host operators: the innermost that launched the work
  std::int64_t call = -1;  ///< row of the host calls: the one that handed it to the device
};

/// In order of start. Needs the tables of FindDeviceItems(), host calls and launches.
std::vector<Dispatch> FindDispatches(const RankTrace& trace);

}  // namespace mpa

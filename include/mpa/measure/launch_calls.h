// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/text.h"
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

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// What a graph launches, as its capture records it.
struct CapturedNode {
  enum class Kind : std::uint8_t { kKernel, kCopy };
  TimeNs time = 0;  ///< start of the call that was captured
  std::int32_t track = -1;
  Kind kind{};
  StringId kernel{};  ///< empty where the call does not name it
};

/// A graph as it was captured: its kernels in order, and the operators and modules that launched
/// them. What launched nothing is left out, and so is what was around the capture.
struct CapturedGraph {
  std::string name;         ///< of the range around its capture: "capture_32_FULL"; may be empty
  std::int64_t batch = -1;  ///< for so many tokens; -1: unknown
  std::int32_t track = -1;  ///< thread that captured it
  std::int64_t process = -1;
  std::vector<CapturedNode> nodes;  ///< in order of time
  HostOps ops;                      ///< with the calls of the runtime
  PythonCalls modules, functions;
};

/// The graphs that one trace captured. Texts and tracks are its own.
struct CapturedGraphs {
  std::string source;  ///< name of the trace
  StringPool strings;
  std::vector<std::int64_t> thread_of_track;
  std::vector<CapturedGraph> graphs;  ///< in order of time
};

/// The graphs that were captured in a trace: what was called between the begin and the end of the
/// capture of a stream and has no work on the device. Needs host operators, launches, named
/// launches and device work; Python calls if they are to be kept.
CapturedGraphs FindCapturedGraphs(const RankTrace& trace);

/// The batch in the name of a range around the capture of a graph, "capture_32_FULL"; -1: another.
std::int64_t BatchOfCapture(std::string_view range);

/// How many tokens the step of a server takes in which a range with this name runs, or else how many
/// requests (see ReadServingName()); -1: the name does not say.
std::int64_t TokensOfStep(std::string_view range);

}  // namespace mpa

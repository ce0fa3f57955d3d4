// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "mpa/measure/accounting.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/path_tree.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// The frames of a call stack as captures write it, the outermost first.
std::vector<std::string_view> FramesOfStack(std::string_view stack);

/// The call paths of a rank: Python functions and operators, from the outermost to the innermost.
/// The call stack of an operator stands for the functions where these are not recorded themselves.
/// Step marks are not frames. Refers to the rank, which must outlive it.
class CallPaths {
 public:
  static constexpr std::int32_t kNone = PathTreeBuilder::kRoot;  ///< nothing is recorded there

  explicit CallPaths(const RankTrace& trace);

  // Paths are nodes of tree().
  /// The one that ends with the operator.
  std::int32_t OfOp(std::size_t op) { return NodeOf(trace_.python_calls.Size() + op); }
  /// The one that is open at a time of the host on a thread.
  std::int32_t At(std::int32_t track, TimeNs time);
  /// The one that ends with what the host did in a piece of free time; `offset` as in HostClock.
  std::int32_t OfHost(const Piece& piece, TimeNs offset);

  PathTreeBuilder& tree() { return tree_; }

 private:
  friend PathTree HostPaths(const RankTrace& trace);

  // A row of a table of the host.
  struct Source {
    PieceTable table{};
    std::int32_t row = -1;
  };
  // What holds for all within a span.
  struct Around {
    std::int32_t node = kUnknown;
    StringId stack{};           // that the frames so far come from
    std::int32_t depth = 0;     // in spans
    bool has_function = false;  // a Python function is around
  };
  static constexpr std::int32_t kUnknown = -2;

  CallPaths(const RankTrace& trace, std::vector<Source> sources);
  static std::vector<Source> FunctionsAndOps(const RankTrace& trace);
  static std::vector<Source> AllOfHost(const RankTrace& trace);
  static std::vector<NestSpan> SpansOfSources(const RankTrace& trace,
                                              const std::vector<Source>& sources);

  std::int32_t NodeOf(std::size_t span);
  Around Within(const Around& outer, const Source& source);
  std::int32_t FrameOf(const Source& source);
  std::int32_t AddStack(std::int32_t node, StringId before, StringId stack);

  const RankTrace& trace_;
  std::vector<Source> sources_;  // by span
  Nesting nesting_;
  std::vector<Around> around_;                                                   // by span
  std::map<std::tuple<std::int32_t, StringId, StringId>, std::int32_t> stacks_;  // see AddStack()
  std::vector<std::int32_t> frames_, python_frames_;                             // by text
  std::vector<std::int32_t> roots_;  // by thread; empty: threads are not frames
  PathTreeBuilder tree_;
};

/// True if Python functions or call stacks are recorded.
bool HasPythonFrames(const RankTrace& trace);

/// The time that the threads which issue work spent in each call path itself, with calls of the
/// runtime as frames. A thread is the outermost frame. Time between its first and its last record
/// in which nothing is recorded is a frame, so the paths of a thread add up to that span.
PathTree HostPaths(const RankTrace& trace);

}  // namespace mpa

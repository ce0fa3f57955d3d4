// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/measure/captured_graph.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// A kernel, a collective or a copy that a graph launched.
struct ReplayedWork {
  enum class Table : std::uint8_t { kKernels, kCommunications, kTasks };
  Table table{};
  std::uint32_t row = 0;
  TimeNs start = 0;
  std::int64_t stream = -1;  ///< -1: unknown
};

/// A call that launched a captured graph.
struct Replay {
  std::uint32_t launch = 0;                ///< row of the launches
  std::uint32_t call = 0;                  ///< row of the host operators
  std::int64_t tokens = -1;                ///< of the step around it, see TokensOfStep()
  std::vector<ReplayedWork> kernels = {};  ///< with collectives, in order of start
  std::vector<ReplayedWork> copies = {};   ///< likewise
};

/// The replays of captured graphs in order of time, those that launched kernels. Needs host
/// operators, launches and device work.
std::vector<Replay> FindReplays(const RankTrace& trace);

/// How much of a replay a captured graph explains.
struct GraphMatch {
  std::size_t graph = 0;      ///< position in the captured graphs
  std::int64_t kernels = 0;   ///< of the replay
  std::int64_t captured = 0;  ///< kernels of the graph
  /// Kernels of the same name in the same place, counted from the begin, or from the end behind
  /// launches that one of both lacks; of graphs on several streams, whose kernels overtake each
  /// other, the n-th of each name.
  std::int64_t matched = 0;
  bool by_count = false;  ///< the capture names no kernels, and there are as many of them

  /// There are as many, and nine in ten are the same. Or one has a few launches in a row that the
  /// other lacks, one in a hundred at most, and all others are the same.
  bool Explains() const {
    if (kernels == captured) return 10 * matched >= 9 * kernels;
    constexpr std::int64_t kOneIn = 100, kFewest = 20;
    const std::int64_t fewer = std::min(kernels, captured);
    const std::int64_t apart = std::max(kernels, captured) - fewer;
    return matched == fewer && fewer >= kFewest &&
           apart <= std::max<std::int64_t>(1, fewer / kOneIn);
  }
};

/// Explains the replays of a rank by captured graphs: their operators and modules become operators
/// and modules of the rank, within the time of the call that launches the graph, and each kernel
/// that has its own name in its place of the captured graph gets a launch there. The times keep the
/// order and the nesting of the capture; they say nothing else.
class GraphExplainer {
 public:
  /// Fills the table of the replays. Refers to the rank, which must outlive it.
  explicit GraphExplainer(RankTrace& trace);
  ~GraphExplainer();
  GraphExplainer(const GraphExplainer&) = delete;
  GraphExplainer& operator=(const GraphExplainer&) = delete;

  const std::vector<Replay>& Replays() const { return replays_; }
  /// Graphs to choose from in addition to the others.
  void Add(CapturedGraphs graphs);

  /// What became of a replay.
  struct Outcome {
    std::optional<GraphMatch> match;  ///< the best; empty: there are no graphs
    bool explained = false;
    bool too_short = false;  ///< the call that launches takes fewer ns than the graph has operators
    /// Graphs for several batches match and nothing says for which it ran, or none holds the tokens
    /// of the step: the kernels are right, the shapes may be others.
    bool batch_is_unsure = false;
  };
  /// Explains the replays that are not explained yet. Of graphs that match equally well the one
  /// captured for the smallest batch that holds the tokens of the step is taken; of those of one
  /// batch (the pieces of a model that is captured in pieces) the next after the last.
  void Explain();
  /// Of each replay.
  const std::vector<Outcome>& Outcomes() const { return outcomes_; }
  const CapturedGraph& Graph(std::size_t graph) const;
  std::string_view SourceOf(std::size_t graph) const;

 private:
  class Impl;
  std::vector<Replay> replays_;
  std::vector<Outcome> outcomes_;
  std::unique_ptr<Impl> impl_;
};

/// Tells functions of Python that ran when a graph was captured: within the call that launches the
/// graph, in which no Python runs.
class ReplayedCalls {
 public:
  explicit ReplayedCalls(const RankTrace& trace) {
    const GraphReplays& replays = trace.graph_replays;
    for (std::size_t i = 0; i < replays.Size(); ++i)
      ends_[{replays.track[i], replays.start[i]}] = replays.start[i] + replays.dur[i];
  }
  bool Contain(std::int32_t track, TimeNs begin, TimeNs end) const {
    const auto behind = ends_.lower_bound({track, begin});
    if (behind == ends_.begin()) return false;
    const auto& [place, replay_end] = *std::prev(behind);
    return place.first == track && end < replay_end;
  }

 private:
  std::map<std::pair<std::int32_t, TimeNs>, TimeNs> ends_;  // by thread and start
};

}  // namespace mpa

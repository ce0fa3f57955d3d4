// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "mpa/recipe/part_bytes.h"

namespace mpa::recipes::graph_replays {

/// A place in the layers of a graph, or outside of them: the kernels that run there.
struct Place {
  std::string part;           ///< "before", "layer" or "after"
  std::int64_t position = 0;  ///< in its part, from 1 on
  std::string kernel;         ///< the one that runs there most often
  std::int64_t others = 0;    ///< names of other kernels that run there
  std::string op, module;     ///< what launched it in the captured graph; empty: unknown
  std::int64_t kernels = 0;   ///< in all replays
  TimeNs total = 0;           ///< of these, each without the time that an earlier kernel ran on
  TimeNs bubble = 0;          ///< idle time before these, likewise summed
};

/// A captured or compiled graph of a rank with what its replays have in common.
struct Graph {
  std::string name;    ///< of the captured graph, or "model 7"; may be empty
  std::string source;  ///< file that explains it; empty: it is not explained
  std::int64_t replays = 0, kernels = 0, matched = 0;
  bool by_count = false;
  std::int64_t layers = 0;  ///< 0: nothing repeats
  std::int64_t pattern = 0, layers_in_pattern = 0;
  double median_span = 0;  ///< ns from the first kernel to the end of the last
  // Of all replays; they add up to the spans. Of kernels that overlap the earlier one counts.
  TimeNs attention = 0, matrix = 0, communication = 0, copies = 0, other = 0, bubbles = 0;
  std::vector<Place> places;

  TimeNs Span() const { return attention + matrix + communication + copies + other + bubbles; }
};

/// The graphs of a rank, those that took most time first.
struct Part {
  std::vector<Graph> graphs;
};

Part FindGraphs(const RankTrace& trace);

}  // namespace mpa::recipes::graph_replays

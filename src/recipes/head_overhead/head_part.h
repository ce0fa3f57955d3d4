// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advice.h"
#include "call.h"
#include "call_children.h"
#include "mpa/report/timeline.h"
#include "summary.h"

namespace mpa::head {

/// What a capture holds, for the header and for the answer that there is no compiled graph.
struct CaptureFacts {
  std::string source, level;
  std::size_t framework_events = 0, runtime_calls = 0, device_runs = 0;
  std::vector<std::int64_t> threads;  ///< with framework events
  std::size_t steps = 0;
  std::int64_t overhangs = 0;  ///< events that last longer than the event around them
  std::int64_t too_deep = 0;   ///< events that were left out, see HostForest::TooDeep()
  bool has_ge_api = false;     ///< InferShape and Tiling of GE were collected
  bool of_gpu = false;
};
CaptureFacts FactsOf(const RankTrace& trace, const HostForest& forest);

/// What the head of a rank's calls comes to.
struct HeadPart {
  CaptureFacts facts;
  Phase phase = Phase::kSteady;  ///< that the screen and the children are about
  std::vector<Call> calls;
  std::vector<std::string> graphs;  ///< names, by Call::graph
  std::vector<StepRow> steps;
  std::vector<SummaryRow> summary;
  std::vector<ChildRow> children;
  std::vector<AdviceRow> advice;
  std::optional<Timeline> picture;  ///< of a call, if one was asked for
};

}  // namespace mpa::head

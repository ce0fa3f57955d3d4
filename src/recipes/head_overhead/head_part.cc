// SPDX-License-Identifier: Apache-2.0
#include "head_part.h"

#include <algorithm>

namespace mpa::head {

CaptureFacts FactsOf(const RankTrace& trace, const HostForest& forest) {
  CaptureFacts facts{.source = trace.source,
                     .level = trace.profiler_level,
                     .framework_events = trace.host_ops.Size(),
                     .runtime_calls = trace.host_calls.Size(),
                     .device_runs = trace.device_runs.Size(),
                     .threads = {},
                     .steps = trace.steps.Size(),
                     .overhangs = forest.Overhangs(),
                     .too_deep = forest.TooDeep(),
                     .has_ge_api = false,
                     .of_gpu = trace.device == DeviceKind::kGpu};
  std::vector<bool> seen(trace.tracks.Size(), false);
  for (const std::int32_t track : trace.host_ops.track)
    seen[static_cast<std::size_t>(track)] = true;
  for (std::size_t track = 0; track < seen.size(); ++track) {
    if (seen[track]) facts.threads.push_back(trace.tracks.tid[track]);
  }
  std::sort(facts.threads.begin(), facts.threads.end());
  for (const StringId name : trace.host_calls.name) {
    const std::string_view text = trace.strings.View(name);
    facts.has_ge_api = facts.has_ge_api || text == "Node@InferShape" || text == "Node@Tiling" ||
                       text.starts_with("Node@Compatible");
  }
  return facts;
}

}  // namespace mpa::head

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "call.h"
#include "device_timeline.h"
#include "runtime_calls.h"

namespace mpa::head {

/// What the search for the first kernel has to know of a call.
struct KernelSearch {
  std::int64_t pid = -1;
  const DeviceTimeline* device = nullptr;
  MaybeNs t3;                          ///< none before it
  std::vector<std::size_t> launches;   ///< rows of the runtime's launches by the call
  std::optional<std::size_t> execute;  ///< row of its first Model@ModelExecute
};

struct FirstKernel {
  MaybeNs task{}, kernel{};
  KernelSource task_source = KernelSource::kNone, kernel_source = KernelSource::kNone;
  bool skewed = false;  ///< device work before its cause: the clocks disagree
};

/// Finds the first device task and the first kernel of every call: by its launches, the iteration
/// of its model, the order of executions and bursts of the model, or else by time alone.
std::vector<FirstKernel> FindFirstKernels(const RankTrace& trace, const RuntimeCalls& runtime,
                                          const std::vector<KernelSearch>& calls);

}  // namespace mpa::head

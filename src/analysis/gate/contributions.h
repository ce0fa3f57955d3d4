// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/analysis/gate/run_summary.h"
#include "mpa/report/gate_report.h"

namespace mpa::gate {

/// What made the step longer or shorter.
struct Contributions {
  /// Of the step, or of the whole capture where it has no steps: kernels by type, exposed
  /// communication by kind, free time; the largest change first. The last one is the remainder, and
  /// all add up to the difference. Parts that did not change are left out.
  std::vector<GatePart> parts;
  std::vector<GatePart> operators;          ///< of the framework, by the device work they launched
  std::vector<std::string> added, removed;  ///< types of kernels and operators of one side alone
};
Contributions Explain(const std::vector<RunSummary>& base,
                      const std::vector<RunSummary>& comparison);

/// The parts that are the cause of a change of `metric`: none where nothing explains it.
std::vector<GatePart> PartsOf(const Metric& metric, const Contributions& contributions,
                              const std::vector<RunSummary>& base,
                              const std::vector<RunSummary>& comparison);

}  // namespace mpa::gate

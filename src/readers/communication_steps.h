// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

#include "mpa/model/rank_trace.h"

namespace mpa::readers {

/// The summary of the step of that name, which is added if there is none. Captures have few steps.
inline CommunicationStep& SummaryOf(const std::string& name, RankTrace& trace) {
  auto& steps = trace.communication_summary;
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const CommunicationStep& step) { return step.step == name; });
  if (found != steps.end()) return *found;
  steps.push_back(
      {.step = name, .p2p = {}, .collective = {}, .p2p_matrix = {}, .collective_matrix = {}});
  return steps.back();
}

}  // namespace mpa::readers

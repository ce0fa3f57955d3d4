// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "mpa/model/rank_trace.h"

namespace mpa::readers {

/// The number of a step in summaries of communication: 50 of "step50"; -1 of "step", which a run
/// without step() has.
inline std::int32_t StepOfName(std::string_view name) {
  const std::size_t digits = name.find_first_of("0123456789");
  std::int32_t step = -1;
  if (digits != std::string_view::npos) {
    std::from_chars(name.data() + digits, name.data() + name.size(), step);
  }
  return step;
}

/// The summary of the step of that name, which is added if there is none. Captures have few steps.
inline CommunicationStep& SummaryOf(const std::string& name, RankTrace& trace) {
  auto& steps = trace.communication_summary;
  const auto found = std::ranges::find(steps, name, &CommunicationStep::step);
  if (found != steps.end()) return *found;
  steps.push_back(
      {.step = name, .p2p = {}, .collective = {}, .p2p_matrix = {}, .collective_matrix = {}});
  return steps.back();
}

}  // namespace mpa::readers

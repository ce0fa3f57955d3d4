// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

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

}  // namespace mpa::readers

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpa/model/rank_trace.h"

/// The values of an operator's inputs other than tensors (strides, flags), which traces of GPUs
/// record as "Concrete Inputs". Few recipes need them, so they have no column of their own: where a
/// reader is asked for kOpValues, HostOps::types has them in a second line.
namespace mpa {

/// The bit is counted from the top, as Tables counts from the bottom.
constexpr Tables kOpValues = Tables::kOpDetails | static_cast<Tables>(1ull << 62);

inline bool WantsOpValues(Tables wanted) { return (wanted & kOpValues) == kOpValues; }

struct OpTypes {
  std::string_view types;   ///< "['float', 'ScalarList']"
  std::string_view values;  ///< "['', '[1, 1]']"; empty: not recorded, or not asked for
};

inline OpTypes SplitOpTypes(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {text, {}};
  return {text.substr(0, end), text.substr(end + 1)};
}

}  // namespace mpa

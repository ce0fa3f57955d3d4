// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace mpa {

/// The name of `value` among `names`, which are those of all values of its enumeration up to
/// `kLast`, in their order.
template <auto kLast, std::size_t kCount>
constexpr std::string_view EnumName(decltype(kLast) value,
                                    const std::string_view (&names)[kCount]) {
  static_assert(kCount == static_cast<std::size_t>(kLast) + 1, "one name for each value");
  return names[static_cast<std::size_t>(value)];
}

}  // namespace mpa

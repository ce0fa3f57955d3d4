// SPDX-License-Identifier: Apache-2.0
// Bytes that travel compressed: texts within the program, entries of workbooks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mpa {

struct Packed {
  /// As RFC 1951 says, without a header.
  std::string_view deflated;
  /// Bytes that come out.
  std::size_t size = 0;
};

/// None if other than `size` bytes come out. Throws Error (kResource) without memory.
std::optional<std::string> Unpacked(const Packed& packed);

}  // namespace mpa

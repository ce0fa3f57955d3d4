// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace mpa {

/// The number by which the profiler names a communication group in communication.json and
/// analysis.db: two rolling hashes over the characters of its id, with 29 and 131. Operators carry
/// its last three digits ("hcom_allReduce__210_0_1").
constexpr std::uint64_t GroupHash(std::string_view id) {
  std::uint32_t high = 0, low = 0;
  for (const char c : id) {
    const auto code = static_cast<std::uint32_t>(static_cast<unsigned char>(c));
    high = high * 29 + code;
    low = low * 131 + code;
  }
  return std::uint64_t{high} << 32 | low;
}

}  // namespace mpa

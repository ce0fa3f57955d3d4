// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>

namespace mpa::bench {

/// Numbers that are the same in every run.
class Numbers {
 public:
  std::uint32_t Below(std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(engine_);
  }

 private:
  std::mt19937 engine_{1};
};

/// The start of event number `index`, as captures write it.
inline std::string MicrosText(std::uint64_t index) {
  return fmt::format("{}.{:03}", 1736408883000000 + index * 17, index * 37 % 1000);
}

}  // namespace mpa::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mpa::test {

/// Takes an input apart, from its front. Behind its end everything is 0.
class Bytes {
 public:
  explicit Bytes(std::string_view input) : input_(input) {}

  bool empty() const { return input_.empty(); }
  std::uint8_t Byte() {
    if (input_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(input_.front());
    input_.remove_prefix(1);
    return byte;
  }
  std::int64_t Int64() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | Byte();
    return static_cast<std::int64_t>(value);
  }
  std::string_view Text() {
    const std::string_view text = input_.substr(0, Byte());
    input_.remove_prefix(text.size());
    return text;
  }

 private:
  std::string_view input_;
};

}  // namespace mpa::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <utility>

namespace mpa::writers {

/// fmt::print without its exception: whoever closes the stream asks it for failures, once.
template <typename... Args>
void Print(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  (void)std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace mpa::writers

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace mpa {

/// The language of what people read: screens, pages, sheets.
enum class Language : std::uint8_t { kEnglish, kChinese };

/// A text in every language.
struct Wording {
  std::string_view english, chinese = {};  ///< empty: the same
  std::string_view In(Language language) const {
    return language == Language::kEnglish || chinese.empty() ? english : chinese;
  }
};

}  // namespace mpa

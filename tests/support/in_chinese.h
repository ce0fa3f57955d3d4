// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpa/base/language.h"

namespace mpa {

/// The language of the process while it lives.
class LanguageFor {
 public:
  explicit LanguageFor(Language language) : before_(CurrentLanguage()) { SetLanguage(language); }
  ~LanguageFor() { SetLanguage(before_); }
  LanguageFor(const LanguageFor&) = delete;
  LanguageFor& operator=(const LanguageFor&) = delete;

 private:
  const Language before_;
};

/// What `make` returns in a Chinese process.
template <typename Make>
auto InChinese(Make make) {
  const LanguageFor chinese(Language::kChinese);
  return make();
}

/// True for texts that the table has, and for those that need none: "with_stack=True".
inline bool HasChinese(std::string_view text) {
  return text.find(' ') == std::string_view::npos ||
         InChinese([&] { return Translated(text) != text; });
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpa {

/// The language of what people read: screens, pages, workbooks' summaries, help, messages. Names of
/// columns, keys and the values of machine output are the same in all of them.
enum class Language : std::uint8_t { kEnglish, kChinese };

/// Process-wide; the default is English. Set before work begins, and by tests between runs.
void SetLanguage(Language language);
Language CurrentLanguage();

/// What the environment asks for: the first of LC_ALL, LC_MESSAGES and LANG that is set.
struct EnvironmentLanguage {
  Language language = Language::kEnglish;
  /// "LANG=zh_CN.GBK": asks for Chinese in an encoding that the program does not write; else empty.
  std::string unwritable{};
};
EnvironmentLanguage LanguageOfEnvironment();

/// A text of the program in the language of the process, from the one table (chinese.po); as it is
/// where the table lacks it.
std::string_view Translated(std::string_view english);

/// As fmt::format, with the form in the language of the process. A form in the table may have its
/// fields in another order: "{1}：{0}".
template <typename... Args>
std::string Say(fmt::format_string<Args...> form, Args&&... args) {
  const fmt::string_view english = form;
  if (CurrentLanguage() == Language::kEnglish)
    return fmt::vformat(english, fmt::make_format_args(args...));
  const std::string_view text = Translated({english.data(), english.size()});
  return fmt::vformat(fmt::string_view(text.data(), text.size()), fmt::make_format_args(args...));
}

/// Marks a text of a table that is translated where it is shown, for scripts/texts.py.
constexpr const char* ToTranslate(const char* english) { return english; }

/// The table of texts, English first, in the order of the file.
std::vector<std::pair<std::string, std::string>> TextTable();

}  // namespace mpa

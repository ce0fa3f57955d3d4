// SPDX-License-Identifier: Apache-2.0
// The one table of texts, as gettext writes it: msgid and msgstr, each on a line.
#include "mpa/base/language.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "embedded/base.h"
#include "mpa/base/packed.h"

namespace mpa {
namespace {

Language current = Language::kEnglish;

// The text between the quotes of a line: msgid "a \"b\"".
std::string Unquoted(std::string_view line) {
  const std::size_t first = line.find('"'), last = line.rfind('"');
  std::string text;
  for (std::size_t i = first + 1; i < last; ++i) {
    if (line[i] == '\\' && i + 1 < last) {
      ++i;
      text += line[i] == 'n' ? '\n' : line[i];
    } else {
      text += line[i];
    }
  }
  return text;
}

// English to Chinese; both live as long as the process.
const std::unordered_map<std::string_view, std::string_view>& Chinese() {
  static const auto texts = [] {
    static const std::vector<std::pair<std::string, std::string>> table = TextTable();
    std::unordered_map<std::string_view, std::string_view> found(table.size());
    for (const auto& [english, chinese] : table) found.emplace(english, chinese);
    return found;
  }();
  return texts;
}

}  // namespace

void SetLanguage(Language language) {
  current = language;
  // Now: where memory runs out, the last words are looked up, too.
  if (language == Language::kChinese) (void)Chinese();
}

Language CurrentLanguage() { return current; }

EnvironmentLanguage LanguageOfEnvironment() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(name);
    const std::string_view text = value == nullptr ? "" : value;
    if (text.empty()) continue;
    if (!text.starts_with("zh")) return {};
    const std::size_t dot = text.find('.');
    std::string encoding;
    for (const char c : dot == std::string_view::npos ? "utf8" : text.substr(dot + 1)) {
      if (c == '@') break;
      if (c != '-') encoding += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    if (encoding == "utf8") return {.language = Language::kChinese};
    return {.unwritable = fmt::format("{}={}", name, text)};
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> TextTable() {
  std::vector<std::pair<std::string, std::string>> table;
  std::string english;
  const std::string texts = Unpacked(embedded::kChineseTexts).value();
  for (std::string_view rest = texts; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.starts_with("msgid ")) english = Unquoted(line);
    if (line.starts_with("msgstr ") && !english.empty())
      table.emplace_back(std::move(english), Unquoted(line));
  }
  return table;
}

std::string_view Translated(std::string_view english) {
  if (current == Language::kEnglish) return english;
  const auto found = Chinese().find(english);
  return found == Chinese().end() ? english : found->second;
}

}  // namespace mpa

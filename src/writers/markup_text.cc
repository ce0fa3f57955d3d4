// SPDX-License-Identifier: Apache-2.0
#include "markup_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"

namespace mpa::writers {

std::string Escaped(std::string_view text, Escapes escapes) {
  std::string escaped;
  for (const char c : text) {
    const auto* const escape = std::ranges::find(escapes, c, [](const auto& e) { return e.first; });
    if (escape == escapes.end()) {
      escaped += c;
    } else {
      escaped += escape->second;
    }
  }
  return escaped;
}

std::string EscapedHtml(std::string_view text) {
  return Escaped(Printable(text), {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}});
}

// The empty icon keeps browsers from asking for one.
std::string HtmlDocument(std::string_view title, std::string_view style, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>{}</style>\n</head>\n"
      "<body>\n{}</body>\n</html>\n",
      CurrentLanguage() == Language::kChinese ? "zh-CN" : "en", EscapedHtml(title), style, body);
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  const std::string valid = ValidUtf8(text);
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view character = rest.substr(0, Utf8Length(rest));
    const char32_t code = CodePoint(character);
    rest.remove_prefix(character.size());
    if (code == '"' || code == '\\') {
      quoted += '\\';
      quoted += character;
    } else if (code == '\n') {
      quoted += "\\n";
    } else if (code == '\t') {
      quoted += "\\t";
    } else if (IsHidden(code)) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    } else {
      quoted += character;
    }
  }
  return quoted + '"';
}

std::string QuotedList(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + Quoted(text);
  return '[' + list + ']';
}

std::string EscapedMarkdown(std::string_view text) {
  std::string escaped;
  for (const char c : ValidUtf8(text)) {
    if (c == '\n' || c == '\r' || c == '\t') {
      escaped += ' ';
    } else if (c == '>' && escaped.ends_with('-')) {
      escaped += c;  // an arrow: without < nothing begins that it could end
    } else if (std::string_view("&<>|\\`*[]").find(c) != std::string_view::npos) {
      escaped += fmt::format("&#{};", static_cast<int>(c));
    } else {
      escaped += c;
    }
  }
  return Printable(escaped);
}

}  // namespace mpa::writers

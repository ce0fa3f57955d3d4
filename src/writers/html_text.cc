// SPDX-License-Identifier: Apache-2.0
#include "html_text.h"

#include <fmt/format.h>

#include "mpa/base/printable.h"

namespace mpa::writers {

std::string EscapedHtml(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// The empty icon keeps browsers from asking for one.
std::string HtmlDocument(std::string_view language, std::string_view title, std::string_view style,
                         std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>{}</style>\n</head>\n"
      "<body>\n{}</body>\n</html>\n",
      EscapedHtml(language), EscapedHtml(title), style, body);
}

}  // namespace mpa::writers

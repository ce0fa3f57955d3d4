// SPDX-License-Identifier: Apache-2.0
#include "markdown_text.h"

#include <fmt/format.h>

#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"

namespace mpa::writers {

std::string EscapedMarkdown(std::string_view text) {
  std::string escaped;
  for (const char c : ValidUtf8(text)) {
    if (c == '\n' || c == '\r' || c == '\t') {
      escaped += ' ';
    } else if (std::string_view("&<>|\\`*[]").find(c) != std::string_view::npos) {
      escaped += fmt::format("&#{};", static_cast<int>(c));
    } else {
      escaped += c;
    }
  }
  return Printable(escaped);
}

}  // namespace mpa::writers

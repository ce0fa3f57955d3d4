// SPDX-License-Identifier: Apache-2.0
#include "json_text.h"

#include <fmt/format.h>

#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"

namespace mpa::writers {

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

}  // namespace mpa::writers

// SPDX-License-Identifier: Apache-2.0
// Makes the hidden characters of names visible.
#include "mpa/base/printable.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/base/utf8.h"

namespace mpa {
namespace {

bool IsSeen(char c) { return c >= 0x20 && c < 0x7f; }  // only of ASCII

// Whether the break at the beginning of `text` stays one.
bool IsKept(std::string_view text, Breaks breaks) {
  if (breaks == Breaks::kEscape) return false;
  return text[0] == '\n' || text[0] == '\t' || text.starts_with("\r\n");
}

}  // namespace

bool IsHidden(char32_t character) {
  const auto within = [&](char32_t first, char32_t last) {
    return first <= character && character <= last;
  };
  return character < 0x20 || within(0x7f, 0x9f) || character == 0x061c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

std::string Printable(std::string_view text, Breaks breaks) {
  if (std::ranges::all_of(text, IsSeen)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const std::size_t length = Utf8Length(rest);
    const char32_t code = length == 0 ? static_cast<unsigned char>(rest[0]) : CodePoint(rest);
    if (length != 0 && (!IsHidden(code) || IsKept(rest, breaks))) {
      out += rest.substr(0, length);
    } else {
      out += code < 0x100 ? fmt::format("\\x{:02x}", static_cast<unsigned>(code))
                          : fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    }
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string CsvCell(std::string_view text) {
  std::string shown = Printable(text, Breaks::kKeep);
  const bool formula =
      shown.size() > 1 && std::string_view("=+-@\t\r\n").find(shown[0]) != std::string_view::npos;
  if (formula) shown.insert(0, 1, '\'');
  if (shown.find_first_of(",\"\r\n") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (const char c : shown) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string PrintableJson(std::string_view document) {
  std::string out;
  out.reserve(document.size());
  for (std::size_t i = 0; i < document.size();) {
    const std::string_view rest = document.substr(i);
    const std::size_t length = std::max<std::size_t>(Utf8Length(rest), 1);
    const char32_t code = length == 1 ? static_cast<unsigned char>(rest[0]) : CodePoint(rest);
    if (code >= 0x7f && IsHidden(code)) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    } else {
      out += rest.substr(0, length);
    }
    i += length;
  }
  return out;
}

}  // namespace mpa

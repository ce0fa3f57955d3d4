// SPDX-License-Identifier: Apache-2.0
// Texts that a cell of a workbook can hold.
#include "xlsx_text.h"

#include <fmt/format.h>

#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "sheet_values.h"

namespace mpa::writers {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Characters that UTF-8 has and XML has not.
bool IsForbidden(std::string_view character) {
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

// "_x001B_" is how workbooks write an escape character.
bool LooksEscaped(std::string_view text) {
  return text.size() >= 7 && text.starts_with("_x") && text[6] == '_' &&
         text.substr(2, 4).find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::string ForWorkbook(std::string_view given) {
  const std::string text = Printable(ValidUtf8(given), Breaks::kKeep);
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    const std::size_t length = Utf8Length(rest);
    if (IsForbidden(rest.substr(0, length))) {
      clean += kReplacement;
    } else if (LooksEscaped(rest)) {
      clean += "_x005F_";  // an escaped underscore
    } else {
      clean += rest.substr(0, length);
    }
    i += length;
  }
  return clean;
}

// How many bytes of `text`, which is UTF-8, make at most `limit` UTF-16 units; sets `units` to
// their number.
std::size_t BytesOf(std::string_view text, std::size_t limit, std::size_t& units) {
  units = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = Utf8Length(text.substr(i));
    const std::size_t width = length == 4 ? 2 : 1;
    if (units + width > limit) return i;
    units += width;
    i += length;
  }
  return text.size();
}

}  // namespace

std::string FitName(std::string_view text, std::size_t limit) {
  std::string name = ValidUtf8(text);
  std::size_t units = 0;
  name.resize(BytesOf(name, limit, units));
  return name;
}

bool IsPlain(std::string_view text, std::size_t limit) {
  bool seen = true;  // and ASCII
  for (const char c : text) {
    seen &=
        (static_cast<signed char>(c) >= 0x20 && c != 0x7f) || c == '\n' || c == '\r' || c == '\t';
  }
  return seen && text.size() <= limit && text.find("_x") == std::string_view::npos;
}

CellText FitCell(std::string_view text, std::size_t limit) {
  CellText fitted{ForWorkbook(text)};
  if (fitted.text.size() <= limit) return fitted;  // no character has less than a byte
  std::size_t units = 0;
  if (BytesOf(fitted.text, limit, units) == fitted.text.size()) return fitted;
  BytesOf(fitted.text, fitted.text.size(), units);
  const std::string mark =
      fmt::format(" \xE2\x80\xA6 [cut: {} characters]", WithThousands(std::to_string(units)));
  const std::size_t mark_units = mark.size() - 2;  // the ellipsis has three bytes
  std::size_t kept = 0;
  fitted.text.resize(BytesOf(fitted.text, limit - std::min(limit, mark_units), kept));
  fitted.text += mark;
  fitted.cut = true;
  return fitted;
}

}  // namespace mpa::writers

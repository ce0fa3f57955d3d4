// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/columns.h"

#include <algorithm>
#include <utility>

#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"

namespace mpa {
namespace {

constexpr std::string_view kLeftOut = "...";
constexpr std::size_t kUsualColumns = 80;
std::size_t g_columns = kUsualColumns;

// The character at the beginning of a text; a byte that is not UTF-8 stands for itself.
struct FirstCharacter {
  std::size_t bytes = 1, columns = 1;
  char32_t code = 0;
};

// Terminals draw characters of East Asian scripts two columns wide.
bool IsWide(char32_t code) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xac00, 0xd7a3},
      {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
      {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  return std::ranges::any_of(
      kRanges, [&](const auto& range) { return range.first <= code && code <= range.second; });
}

bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

FirstCharacter FirstOf(std::string_view text) {
  const std::size_t bytes = Utf8Length(text);
  if (bytes == 0) return {};
  const char32_t code = CodePoint(text);
  return {bytes, IsWide(code) ? std::size_t{2} : std::size_t{1}, code};
}

// Full stops, commas and closing brackets, which begin no line.
bool EndsPhrase(char32_t code) {
  constexpr std::u32string_view kMarks = U"\u3001\u3002\uff01\uff09\uff0c\uff1a\uff1b\uff1f";
  return kMarks.find(code) != std::u32string_view::npos;
}

bool OpensPhrase(char32_t code) { return code == U'\uff08'; }

// How many bytes stay together: up to the next blank, or to the next wide character, beside which a
// line may be broken.
std::size_t PieceLength(std::string_view text) {
  std::size_t at = 0;
  bool wide = false, open = false;
  while (at < text.size() && text[at] != ' ') {
    const FirstCharacter next = FirstOf(text.substr(at));
    const bool next_is_wide = next.columns == 2;
    if (at > 0 && (wide || next_is_wide) && !open && !EndsPhrase(next.code)) break;
    open = OpensPhrase(next.code);
    wide = next_is_wide;
    at += next.bytes;
  }
  return at;
}

}  // namespace

std::size_t ScreenColumns() { return g_columns; }

void SetScreenColumns(std::size_t columns) { g_columns = std::max(columns, kUsualColumns); }

std::size_t ColumnsOf(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    // Most texts have nothing else.
    const auto ascii =
        static_cast<std::size_t>(std::ranges::find_if_not(text, IsAscii) - text.begin());
    columns += ascii;
    text.remove_prefix(ascii);
    if (text.empty()) break;
    const FirstCharacter first = FirstOf(text);
    columns += first.columns;
    text.remove_prefix(first.bytes);
  }
  return columns;
}

std::vector<std::string> WrappedBehind(std::string first, std::string_view text,
                                       std::size_t indent, std::size_t columns,
                                       std::string_view more) {
  std::vector<std::string> lines;
  std::string line = std::move(first);
  bool empty = true, blank = false;  // `blank`: one stands before the next piece
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view piece = rest.substr(0, PieceLength(rest));
    rest.remove_prefix(piece.size());
    const std::size_t behind = rest.empty() ? 0 : more.size();
    if (!empty && ColumnsOf(line) + (blank ? 1 : 0) + ColumnsOf(piece) + behind > columns) {
      lines.push_back(std::move(line.append(more)));
      line = std::string(indent, ' ');
      empty = true;
    }
    if (!empty && blank) line += ' ';
    line += piece;
    empty = false;
    blank = rest.starts_with(' ');
    if (blank) rest.remove_prefix(1);
  }
  lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> Wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
  return WrappedBehind(std::string(blanks, ' '), text.substr(blanks), indent, columns);
}

std::string CutEnd(std::string_view text, std::size_t columns) {
  if (ColumnsOf(text) <= columns) return std::string(text);
  std::size_t bytes = 0, used = kLeftOut.size();
  for (;;) {
    const FirstCharacter next = FirstOf(text.substr(bytes));
    if (used + next.columns > columns) break;
    used += next.columns;
    bytes += next.bytes;
  }
  return std::string(text.substr(0, bytes)) + std::string(kLeftOut);
}

namespace {

// Blanks and brackets are in signatures, whose parts are no path.
std::string_view SeparatorOf(std::string_view name) {
  if (name.find_first_of(" <(") != std::string_view::npos) return "";
  return name.find('/') != std::string_view::npos ? "/" : "::";
}

}  // namespace

std::string ShortenName(std::string_view name, std::size_t columns) {
  if (ColumnsOf(name) <= columns) return std::string(name);
  const std::string_view separator = SeparatorOf(name);
  for (std::size_t at = 0; !separator.empty();) {
    at = name.find(separator, at + 1);
    if (at == std::string_view::npos) break;
    std::string end = std::string(kLeftOut).append(name.substr(at));
    if (ColumnsOf(end) <= columns) return end;
  }
  return CutEnd(ShortenMiddle(name, columns), columns);
}

std::string PaddedBehind(std::string text, std::size_t columns) {
  return text.append(columns - std::min(columns, ColumnsOf(text)), ' ');
}

std::string PaddedBefore(std::string text, std::size_t columns) {
  return text.insert(0, columns - std::min(columns, ColumnsOf(text)), ' ');
}

std::size_t NameColumns(std::size_t usual) { return usual + ScreenColumns() - kUsualColumns; }

std::string NameCell(std::string_view name, std::size_t usual) {
  const std::size_t columns = NameColumns(usual);
  return PaddedBehind(ShortenName(Printable(name), columns), columns);
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/columns.h"

#include <algorithm>

namespace mpa {
namespace {

constexpr std::string_view kLeftOut = "...";

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// Where the character `number` of the text begins.
std::size_t ByteOf(std::string_view text, std::size_t number) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (BeginsCharacter(text[at]) && number-- == 0) break;
  }
  return at;
}

}  // namespace

std::size_t ColumnsOf(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

std::vector<std::string> Wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::vector<std::string> lines;
  const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
  std::string line(blanks, ' ');
  bool empty = true;
  for (std::string_view rest = text.substr(blanks); !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (!empty && ColumnsOf(line) + 1 + ColumnsOf(word) > columns) {
      lines.push_back(std::move(line));
      line = std::string(indent, ' ');
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  lines.push_back(std::move(line));
  return lines;
}

std::string CutEnd(std::string_view text, std::size_t columns) {
  if (ColumnsOf(text) <= columns) return std::string(text);
  const std::string_view kept = text.substr(0, ByteOf(text, columns - kLeftOut.size()));
  return std::string(kept) + std::string(kLeftOut);
}

std::string CutBeginning(std::string_view text, std::size_t columns) {
  const std::size_t size = ColumnsOf(text);
  if (size <= columns) return std::string(text);
  const std::string_view kept = text.substr(ByteOf(text, size - (columns - kLeftOut.size())));
  return std::string(kLeftOut) + std::string(kept);
}

}  // namespace mpa

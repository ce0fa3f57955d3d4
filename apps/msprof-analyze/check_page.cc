// SPDX-License-Identifier: Apache-2.0
// Wraps and aligns text for the screen.
#include "check_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/base/printable.h"

namespace mpa {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kLabelWidth = 16;

}  // namespace

void Page::Add(std::string first, std::size_t indent, std::string_view text) {
  std::string line = std::move(first);
  line.resize(std::max(line.size(), indent), ' ');
  bool empty = true;
  const std::string printable = Printable(text);
  for (std::string_view rest = printable; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (!empty && line.size() + 1 + word.size() > kWidth) {
      text_ += line + '\n';
      line.assign(indent, ' ');
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  text_ += line + '\n';
}

void Page::AddLabelled(const std::string& label, std::string_view text) {
  if (!text.empty()) Add("  " + label, kLabelWidth, text);
}

void Page::AddColored(const char* code, std::string_view line) {
  const std::string printable = Printable(line);
  text_ += color_ ? fmt::format("\x1b[{}m{}\x1b[0m\n", code, printable) : printable + '\n';
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Wraps and aligns text for the screen.
#include "wrapped_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/base/printable.h"

namespace mpa {

void WrappedText::Fill(std::string line, std::size_t indent, std::string_view text,
                       std::string_view more) {
  bool empty = true;
  const std::string printable = Printable(text);
  for (std::string_view rest = printable; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const std::size_t behind = rest.empty() ? 0 : more.size();
    if (!empty && line.size() + 1 + word.size() + behind > width_) {
      text_ += fmt::format("{}{}\n", line, more);
      line.assign(indent, ' ');
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  text_ += line + '\n';
}

void WrappedText::Add(std::string first, std::size_t indent, std::string_view text) {
  std::string line = std::move(first);
  line.resize(std::max(line.size(), indent), ' ');
  Fill(std::move(line), indent, text, "");
}

void WrappedText::AddLabelled(const std::string& label, std::string_view text) {
  constexpr std::size_t kLabelWidth = 16;
  if (!text.empty()) Add("  " + label, kLabelWidth, text);
}

void WrappedText::AddCommand(std::string_view command) { Fill("  ", 6, command, " \\"); }

void WrappedText::AddColored(const char* code, const std::string& first, std::size_t indent,
                             std::string_view text) {
  const std::size_t begin = text_.size();
  Add(first, indent, text);
  if (!color_) return;
  text_.insert(begin + first.size(), "\x1b[0m");
  text_.insert(begin, fmt::format("\x1b[{}m", code));
}

void WrappedText::AddColored(const char* code, std::string_view line) {
  const std::string printable = Printable(line);
  text_ += color_ ? fmt::format("\x1b[{}m{}\x1b[0m\n", code, printable) : printable + '\n';
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mpa {

/// Text for the screen in lines of at most 100 columns; a word that is longer (a path) has a line
/// of its own. Names from captures can neither steer the terminal nor break the layout.
class Page {
 public:
  explicit Page(bool color) : color_(color) {}

  /// `first`, then `text` in the columns from `indent` on.
  void Add(std::string first, std::size_t indent, std::string_view text);
  /// "  label         text"; nothing for an empty text.
  void AddLabelled(const std::string& label, std::string_view text);
  /// A line in a colour, given as the number of the terminal's escape sequence.
  void AddColored(const char* code, std::string_view line);
  void AddBlank() { text_ += '\n'; }

  const std::string& text() const { return text_; }

 private:
  bool color_;
  std::string text_;
};

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mpa {

/// Columns of a screen whose width is not known.
inline constexpr std::size_t kUsualWidth = 80;

/// Text for the screen in lines of at most `width` columns; a word that is longer (a path) has a
/// line of its own. Names from captures can neither steer the terminal nor break the layout.
class WrappedText {
 public:
  explicit WrappedText(bool color, std::size_t width = kUsualWidth)
      : color_(color), width_(width) {}

  /// `first`, then `text` in the columns from `indent` on.
  void Add(std::string first, std::size_t indent, std::string_view text);
  /// "  label         text"; nothing for an empty text.
  void AddLabelled(const std::string& label, std::string_view text);
  /// A command of a shell, broken with backslashes where it is too long for a line.
  void AddCommand(std::string_view command);
  /// A line in a colour, given as the number of the terminal's escape sequence.
  void AddColored(const char* code, std::string_view line);
  /// As Add(), with `first` in a colour.
  void AddColored(const char* code, const std::string& first, std::size_t indent,
                  std::string_view text);
  void AddBlank() { text_ += '\n'; }

  const std::string& text() const { return text_; }

 private:
  // Adds `text` to the begun `line`; lines that others follow end with `more`.
  void Fill(std::string line, std::size_t indent, std::string_view text, std::string_view more);

  bool color_;
  std::size_t width_;
  std::string text_;
};

}  // namespace mpa

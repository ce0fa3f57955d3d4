// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Text in the columns of a terminal.
namespace mpa {

/// The columns of what a command prints for people: 80, or what SetScreenColumns() said last, if
/// that is more. Process-wide; set before any thread is started.
std::size_t ScreenColumns();
void SetScreenColumns(std::size_t columns);
/// What a command prints at most without --verbose, warnings and notes aside.
inline constexpr std::size_t kScreenLines = 34;

/// How wide a terminal shows the text: a column for each character, two for those of East Asian
/// scripts.
std::size_t ColumnsOf(std::string_view text);

/// `text` in lines of at most `columns`, broken at blanks and beside wide characters; those behind
/// the first begin with `indent` blanks. A word that is longer, such as a path, stays whole.
std::vector<std::string> Wrapped(std::string_view text, std::size_t indent,
                                 std::size_t columns = ScreenColumns());
/// The same behind what the first line begins with. Lines that others follow end with `more`.
std::vector<std::string> WrappedBehind(std::string first, std::string_view text,
                                       std::size_t indent, std::size_t columns,
                                       std::string_view more = "");

/// `text` in at most `columns`, with "..." for what is left out at its end.
std::string CutEnd(std::string_view text, std::size_t columns);

/// A name in at most `columns`: of a path (a/b/c, a::b::c) the outer parts go first, of another
/// name the middle.
std::string ShortenName(std::string_view name, std::size_t columns);

/// `text` with blanks behind it, or before it, up to so many columns; a longer one stays as it is.
std::string PaddedBehind(std::string text, std::size_t columns);
std::string PaddedBefore(std::string text, std::size_t columns);

/// The width of a column of names that is `usual` on a screen of 80 columns: it has what a wider
/// screen adds.
std::size_t NameColumns(std::size_t usual);
/// The name in such a column, with blanks behind it.
std::string NameCell(std::string_view name, std::size_t usual);

}  // namespace mpa

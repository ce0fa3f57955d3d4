// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Text in the columns of a terminal.
namespace mpa {

inline constexpr std::size_t kScreenColumns = 80;
/// What a command prints at most without --verbose, warnings and notes aside.
inline constexpr std::size_t kScreenLines = 34;

/// How wide a terminal shows the text: a column for each character, two for those of East Asian
/// scripts.
std::size_t ColumnsOf(std::string_view text);

/// `text` in lines of at most `columns`, broken at blanks and beside wide characters; those behind
/// the first begin with `indent` blanks. A word that is longer, such as a path, stays whole.
std::vector<std::string> Wrapped(std::string_view text, std::size_t indent,
                                 std::size_t columns = kScreenColumns);

/// `text` in at most `columns`, with "..." for what is left out at its end or its beginning.
std::string CutEnd(std::string_view text, std::size_t columns);
std::string CutBeginning(std::string_view text, std::size_t columns);

}  // namespace mpa

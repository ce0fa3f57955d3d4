// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mpa {

/// How many bytes the character at the beginning of `text` has; 0 when they are not UTF-8 or `text`
/// is empty.
std::size_t Utf8Length(std::string_view text);

/// The character at the beginning of `text`, where Utf8Length() is not 0.
char32_t CodePoint(std::string_view text);

/// How many characters UTF-8 text has.
std::size_t CountCharacters(std::string_view text);

/// `text` in at most so many characters (3 or more): "..." stands in place of its middle.
std::string ShortenMiddle(std::string_view text, std::size_t characters);

/// `text` with U+FFFD in place of every byte that is not part of a UTF-8 character. Names in
/// captures need not be UTF-8, but documents and workbooks with other bytes do not open.
std::string ValidUtf8(std::string_view text);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpa {

/// True for characters that are not seen but steer what shows them: control characters, marks that
/// turn the direction of a text, separators of lines.
bool IsHidden(char32_t character);

/// What becomes of the line feeds and tabs of a text.
enum class Breaks {
  kEscape,  ///< the text is one line
  kKeep,    ///< so are those of "\r\n"; other carriage returns are escaped
};

/// `text` with escapes such as \x1b and \u202e in place of hidden characters, and \xff in place of
/// bytes that are not UTF-8, so that a name from a capture can neither command a terminal nor look
/// like something else. Texts without any come back as they are.
std::string Printable(std::string_view text, Breaks breaks = Breaks::kEscape);

/// A cell of a CSV file (RFC 4180) that shows `text`: quoted where it must be, without hidden
/// characters, and with an apostrophe before what spreadsheet programs would run as a formula.
std::string CsvCell(std::string_view text);

/// A JSON document with \u202e in place of the hidden characters that JSON allows within texts: the
/// same document for programs.
std::string PrintableJson(std::string_view document);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace mpa {

/// True when `stream` is a terminal that understands cursor movement (not TERM=dumb).
bool IsTerminal(std::FILE* stream);

/// True when colour may be written to `stream`: a terminal, and NO_COLOR is not set.
bool UseColor(std::FILE* stream);

/// `text` with every control character replaced by \xNN, so that a name from a capture cannot move
/// the cursor, change colours of the terminal or look like a line of its own.
std::string Printable(std::string_view text);

}  // namespace mpa

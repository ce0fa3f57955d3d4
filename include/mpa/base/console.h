// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>

namespace mpa {

/// True when `stream` is a terminal that understands cursor movement (not TERM=dumb).
bool IsTerminal(std::FILE* stream);

/// True when colour may be written to `stream`: a terminal, and NO_COLOR is not set.
bool UseColor(std::FILE* stream);

/// True when the columns of `stream` are known: those of a terminal, or the environment's COLUMNS.
bool HasScreenWidth(std::FILE* stream);

/// The columns to use for text on `stream`: those that the environment's COLUMNS says, 60
/// at least; else those of a terminal, but from 60 to 120; 80 for anything else.
std::size_t ScreenWidth(std::FILE* stream);

}  // namespace mpa

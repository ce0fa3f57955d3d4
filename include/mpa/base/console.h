// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

namespace mpa {

/// True when `stream` is a terminal that understands cursor movement (not TERM=dumb).
bool IsTerminal(std::FILE* stream);

/// True when colour may be written to `stream`: a terminal, and NO_COLOR is not set.
bool UseColor(std::FILE* stream);

}  // namespace mpa

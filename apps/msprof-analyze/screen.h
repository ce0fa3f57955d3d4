// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpa {

/// Prints lines of a report on stdout. Control characters, which names of a capture may hold, must
/// not steer the terminal and become '?'.
void PrintLines(const std::vector<std::string>& lines);

/// Throws Error (kOutput) when not all that was printed has reached stdout.
void FinishStdout();

}  // namespace mpa

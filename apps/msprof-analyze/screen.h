// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mpa {

/// Prints on stdout. What fails is told by FinishStdout().
void Print(std::string_view text);

/// Prints lines of a report on stdout, as Printable() shows them: names of a capture must not steer
/// the terminal.
void PrintLines(const std::vector<std::string>& lines);

/// Prints `text` in at most five lines of 80 columns; more is cut off.
void PrintWrapped(std::string_view text);

/// Throws Error (kOutput) when not all that was printed has reached stdout.
void FinishStdout();

}  // namespace mpa

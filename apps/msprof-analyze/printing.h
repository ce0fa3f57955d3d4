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

/// `text` in at most five lines; more is cut off.
std::vector<std::string> FewLines(std::string_view text);

/// Throws Error (kOutput) when not all that was printed has reached stdout, unless it is a pipe
/// whose reader has read enough.
void FinishStdout();

}  // namespace mpa

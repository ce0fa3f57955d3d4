// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpa {

/// Appends the notes that are not among those of `to`.
void AppendNew(const std::vector<std::string>& notes, std::vector<std::string>& to);

/// Notes about ranks and captures with one line for each kind: those that differ only in the rank
/// they begin with, or in paths and numbers, become one with their count and the first ranks. The
/// others, and the order, stay.
std::vector<std::string> FoldNotes(const std::vector<std::string>& notes);

/// Logs the notes as warnings: folded, or every one of them with --verbose.
void LogNotes(const std::vector<std::string>& notes);

}  // namespace mpa

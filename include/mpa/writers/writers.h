// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "mpa/report/report.h"

namespace mpa {

/// A bordered text table with centred cells and a title over its whole width, ending in a newline.
std::string FormatTable(const ScreenTable& table);

/// Writes the sheets of the report as one workbook `<stem>.xlsx` in `directory`, or under the stem
/// followed by 01, 02, ... when a file has that name already: no run overwrites another's result.
/// The file appears when it is complete. Returns its path. Throws Error (kOutput).
std::filesystem::path WriteXlsx(const Report& report, const std::filesystem::path& directory,
                                const std::string& stem);

}  // namespace mpa

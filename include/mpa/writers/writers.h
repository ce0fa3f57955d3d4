// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "mpa/report/report.h"

namespace mpa {

/// A bordered text table with centred cells and a title over its whole width, ending in a newline.
std::string FormatTable(const ScreenTable& table);

/// Writes the sheets of the report as one workbook, under a temporary name until it is complete.
/// Throws Error (kOutput).
void WriteXlsx(const Report& report, const std::filesystem::path& path);

}  // namespace mpa

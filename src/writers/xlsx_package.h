// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "zip.h"

namespace mpa::writers {

/// Throws Error (kOutput) when one of the XML files of a workbook breaks off: the library overlooks
/// writes that fail.
void RequireWhole(const std::vector<ZipEntry>& entries);

/// Writes the workbook `path`: the one at `frame`, whose worksheets have headers only, with the
/// further rows of each worksheet in order, as XML. Throws Error (kOutput, kResource).
void PackWorkbook(const std::filesystem::path& frame,
                  const std::vector<std::vector<ZipPiece>>& rows,
                  const std::filesystem::path& path);

}  // namespace mpa::writers

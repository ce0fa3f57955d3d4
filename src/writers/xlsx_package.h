// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "zip.h"

namespace mpa::writers {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePointer = std::unique_ptr<std::FILE, FileCloser>;

/// Compresses the rows of a worksheet as XML, what stands within its <sheetData>, with all idle
/// workers; the pieces do not depend on their number. All of the file has been handed to the
/// system. Throws Error (kOutput, kResource).
std::vector<ZipPiece> CompressRows(std::FILE* rows);

/// Writes the workbook `path`: the one at `frame`, whose worksheets have no rows, with the rows of
/// each worksheet in order. Throws Error (kOutput, kResource).
void PackWorkbook(const std::filesystem::path& frame,
                  const std::vector<std::vector<ZipPiece>>& rows,
                  const std::filesystem::path& path);

}  // namespace mpa::writers

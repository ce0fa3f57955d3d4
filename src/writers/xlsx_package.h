// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

namespace mpa::writers {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// The rows of a worksheet as XML: what stands within its <sheetData>. All of it has been handed to
/// the system.
using RowsFile = std::unique_ptr<std::FILE, FileCloser>;

/// Writes the workbook `path`: the one at `frame`, whose worksheets have no rows, with the rows of
/// each worksheet. All workers compress; the bytes do not depend on their number. Throws Error
/// (kOutput, kResource).
void PackWorkbook(const std::filesystem::path& frame, const std::vector<RowsFile>& rows,
                  const std::filesystem::path& path);

}  // namespace mpa::writers

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// As much of zip archives as it takes to make one out of another.
namespace mpa::writers {

/// A part of an entry's content, compressed for itself.
struct ZipPiece {
  std::string data;
  std::uint32_t crc = 0;
  std::size_t size = 0;  ///< bytes before
};

/// Compresses a part of an entry's content; with `last` its end. Throws Error (kResource).
ZipPiece Deflated(std::string_view text, bool last);

/// Throws Error (kOutput) when one of the XML files of a workbook that was just written breaks off:
/// the library overlooks writes that fail.
void RequireWhole(const std::filesystem::path& workbook);

/// Writes the workbook `path`: the one at `frame`, whose worksheets have headers only, with the
/// further rows of each worksheet in order, as XML. Throws Error (kOutput, kResource).
void PackWorkbook(const std::filesystem::path& frame,
                  const std::vector<std::vector<ZipPiece>>& rows,
                  const std::filesystem::path& path);

}  // namespace mpa::writers

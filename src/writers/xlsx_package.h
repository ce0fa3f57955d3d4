// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/io/output_file.h"

/// As much of zip archives as it takes to make one out of another.
namespace mpa::writers {

/// An entry as it lies in its archive.
struct ZipEntry {
  std::string name;
  std::string header;  ///< in front of the data
  std::string data;
  std::string record;  ///< in the directory at the end
};

/// The entries of a small archive that was just written, in order. Throws Error (kOutput) when it
/// is not whole.
std::vector<ZipEntry> ReadZip(const std::filesystem::path& path);

/// What is compressed in an entry. Throws Error (kOutput).
std::string Inflated(const ZipEntry& entry);

/// A part of an entry's content, compressed for itself.
struct ZipPiece {
  std::string data;
  std::uint32_t crc = 0;
  std::size_t size = 0;  ///< bytes before
};

/// Compresses a part of an entry's content; with `last` its end. Throws Error (kResource).
ZipPiece Deflated(std::string_view text, bool last);

/// Writes an archive.
class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path) : file_(path) {}

  void Copy(const ZipEntry& entry);
  /// Begins an entry with the name and the attributes of another one; its content follows.
  void Begin(const ZipEntry& like);
  void Append(const ZipPiece& piece);
  /// Ends it. Throws Error (kOutput) when it has more bytes than an entry may have.
  void End();
  /// Throws Error (kOutput) when not everything is in the file.
  void Close();

 private:
  void Write(std::string_view bytes);

  io::TextFile file_;
  std::uint64_t written_ = 0;
  std::string directory_;
  std::size_t entries_ = 0;
  ZipEntry open_;                                       // without data
  std::uint64_t begin_ = 0, data_size_ = 0, size_ = 0;  // of the open entry
  std::uint32_t crc_ = 0;
};

/// Throws Error (kOutput) when one of the XML files of a workbook breaks off: the library overlooks
/// writes that fail.
void RequireWhole(const std::vector<ZipEntry>& entries);

/// Writes the workbook `path`: the one at `frame`, whose worksheets have headers only, with the
/// further rows of each worksheet in order, as XML. Throws Error (kOutput, kResource).
void PackWorkbook(const std::filesystem::path& frame,
                  const std::vector<std::vector<ZipPiece>>& rows,
                  const std::filesystem::path& path);

}  // namespace mpa::writers

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mpa::io {

/// A CSV file with a header line, read row by row. Columns are found by name, because their set
/// varies with profiling level and version. Cells come unquoted and without blanks or tabs around
/// them; a row that is too short has empty cells at its end.
class CsvFile {
 public:
  /// Throws Error (kInput) when the file cannot be opened or has no header line. With `max_bytes`
  /// only so much of the file is read, for a look at its first rows; the last may be cut.
  explicit CsvFile(const std::filesystem::path& path,
                   std::size_t max_bytes = std::string_view::npos);
  ~CsvFile();

  /// The column headed `name`, if there is one.
  std::optional<std::size_t> Find(std::string_view name) const;
  /// The same, but throws Error (kCorrupt) naming the file and the column that is missing.
  std::size_t Require(std::string_view name) const;

  const std::vector<std::string>& headers() const { return headers_; }

  /// Moves to the next row; false at the end. Cells of the previous row become invalid. Throws
  /// Error (kCorrupt) for a row of many megabytes, or a row with too many lines.
  bool Next();
  /// A cell of the current row; empty for a column that the file does not have.
  std::string_view operator[](std::optional<std::size_t> column) const;

  /// True when the current row has fewer cells than the header: it broke off.
  bool broke_off() const { return cell_count_ < headers_.size(); }
  /// True when the current row repeats the header.
  bool IsHeader() const;
  /// "kernel_details.csv:812", the place of the current row.
  std::string Place() const;

 private:
  struct Lines;
  bool SplitRow();
  std::size_t UnquoteCell(std::size_t at, std::string& cell, bool& in_quotes) const;

  std::filesystem::path path_;
  std::unique_ptr<Lines> lines_;
  std::vector<std::string> headers_;
  std::vector<std::string_view> cells_;  // of the row, or of what was unquoted
  std::deque<std::string> unquoted_;
  std::size_t cell_count_ = 0;
  std::string row_;
  std::size_t row_line_ = 0;
};

}  // namespace mpa::io

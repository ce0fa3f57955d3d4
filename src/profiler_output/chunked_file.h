// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/io/output_file.h"

namespace mpa::profiler_output {

/// Appends the rows [begin, end) of a table to `out`. Called by several threads at once.
using FormatRows = std::function<void(std::size_t begin, std::size_t end, std::string& out)>;

/// A text file whose rows are formatted in parallel and written in order. Holds a few thousand rows
/// at a time.
class ChunkedFile {
 public:
  /// Throws Error (kOutput) that names the file.
  explicit ChunkedFile(const std::filesystem::path& path) : file_(path) {}

  void Write(std::string_view text);
  /// The rows 0..count-1.
  void WriteRows(std::size_t count, const FormatRows& format);
  /// Leaves out the next `bytes` bytes: the separator before the first of a list.
  void DropNext(std::size_t bytes) { drop_ = bytes; }
  /// Throws Error (kOutput) when not all of the text is in the file.
  void Close() { file_.Close(); }

 private:
  io::TextFile file_;
  std::size_t drop_ = 0;
};

}  // namespace mpa::profiler_output

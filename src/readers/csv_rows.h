// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpa/io/csv_file.h"
#include "mpa/model/issues.h"

namespace mpa::readers {

/// Moves to the next row; false at the end. A truncated row is left out and counted: its last cell
/// may be cut as well.
inline bool NextRow(io::CsvFile& csv, Issues& issues) {
  while (csv.Next()) {
    if (!csv.broke_off()) return true;
    issues.Count("row left out, it has fewer cells than the header", csv.Place());
  }
  return false;
}

/// False for a cell in which the profiler had nothing to write.
inline bool IsRecorded(std::string_view cell) { return !cell.empty() && cell != "N/A"; }

}  // namespace mpa::readers

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "mpa/base/language.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/model/issues.h"
#include "mpa/model/rank_trace.h"

namespace mpa::readers {

/// Moves to the next row; false at the end. A truncated row is left out and counted: its last cell
/// may be cut as well. So is a header between the rows: tables were joined.
inline bool NextRow(io::CsvFile& csv, Issues& issues) {
  while (csv.Next()) {
    if (csv.IsHeader()) {
      issues.Count(Promise::kOnceEach,
                   "the header stands in the table twice, two tables were joined; parse again",
                   csv.Place());
      continue;
    }
    if (!csv.broke_off()) return true;
    issues.Count("row left out, it has fewer cells than the header", csv.Place());
  }
  return false;
}

/// The same, for tables that may hold several devices: that of the trace is read, else the first.
/// `column` says the device.
inline bool NextRowOfDevice(io::CsvFile& csv, std::optional<std::size_t> column, RankTrace& trace) {
  while (NextRow(csv, trace.issues)) {
    const std::int64_t device = io::ParseInt(csv[column]).value_or(-1);
    if (trace.device_id < 0) trace.device_id = device;
    if (device < 0 || device == trace.device_id) return true;
    trace.issues.Count(Promise::kOneDevice,
                       "row of another device left out, the table holds several",
                       Say("{}: device {} in place of {}", csv.Place(), device, trace.device_id));
  }
  return false;
}

/// Counts the columns that the table lacks: what they hold is unknown.
inline void CountMissing(const io::CsvFile& csv, std::span<const std::string_view> columns,
                         Issues& issues) {
  for (const std::string_view column : columns) {
    if (csv.Find(column)) continue;
    issues.Count(Promise::kColumnsThere,
                 Say("the column \"{}\" is missing, what it holds is unknown; parse again", column),
                 csv.Place());
  }
}
inline void CountMissing(const io::CsvFile& csv, std::initializer_list<std::string_view> columns,
                         Issues& issues) {
  CountMissing(csv, std::span(columns.begin(), columns.size()), issues);
}

/// False for a cell in which the profiler had nothing to write.
inline bool IsRecorded(std::string_view cell) { return !cell.empty() && cell != "N/A"; }

}  // namespace mpa::readers

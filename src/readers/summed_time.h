// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "csv_rows.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/model/issues.h"

namespace mpa::readers {

/// A time of the current row that the profiler summed up, which may be slightly below 0; 0 if none
/// was recorded. Times longer than any capture also become 0, and are counted.
inline TimeNs SummedTime(const io::CsvFile& csv, std::optional<std::size_t> column,
                         Issues& issues) {
  const std::string_view cell = csv[column];
  const std::optional<TimeNs> time = io::NsFromMicros(cell);
  if (time && IsDuration(*time < 0 ? -*time : *time)) return *time;
  if (IsRecorded(cell)) {
    issues.Count("invalid time, taken as 0", csv.Place());
  }
  return 0;
}

}  // namespace mpa::readers

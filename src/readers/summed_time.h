// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/model/issues.h"

namespace mpa::readers {

/// A time of the current row that the profiler summed up, which may be a little below 0; 0 where
/// the cell holds none. So is a time that no capture can last, and counted.
inline TimeNs SummedTime(const io::CsvFile& csv, std::optional<std::size_t> column,
                         Issues& issues) {
  const TimeNs time = io::NsFromMicros(csv[column]).value_or(0);
  if (IsDuration(time < 0 ? -time : time)) return time;
  issues.Count("time taken as 0, no capture lasts that long", csv.Place());
  return 0;
}

}  // namespace mpa::readers

// SPDX-License-Identifier: Apache-2.0
// step_trace_time.csv: the profiler's own division of each step's time.
#include <limits>

#include "csv_rows.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/readers/reader.h"
#include "summed_time.h"

namespace mpa::readers {
namespace {

void ReadStepTimes(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  io::CsvFile csv(file.path);
  const auto step = csv.Require("Step");
  const auto computing = csv.Require("Computing");
  const auto exposed = csv.Require("Communication(Not Overlapped)");
  const auto communication = csv.Require("Communication");
  const auto free = csv.Require("Free");
  const auto overlapped = csv.Find("Overlapped");
  const auto stage = csv.Find("Stage");
  const auto bubble = csv.Find("Bubble");
  const auto without_receive = csv.Find("Communication(Not Overlapped and Exclude Receive)");
  const auto preparing = csv.Find("Preparing");
  const auto time = [&](std::size_t column) { return SummedTime(csv, column, trace.issues); };
  const auto time_or_0 = [&](const auto& column) { return column ? time(*column) : 0; };
  while (NextRow(csv, trace.issues)) {
    // A run without step() has one row with an empty step.
    const auto id = io::ScaledDecimal(csv[step], 0);
    const bool known = id && *id >= 0 && *id <= std::numeric_limits<std::int32_t>::max();
    trace.step_times.Append({.step = known ? static_cast<std::int32_t>(*id) : -1,
                             .computing = time(computing),
                             .exposed_communication = time(exposed),
                             .communication = time(communication),
                             .free = time(free),
                             .overlapped = time_or_0(overlapped),
                             .stage = time_or_0(stage),
                             .bubble = time_or_0(bubble),
                             .exposed_without_receive = time_or_0(without_receive),
                             .preparing = time_or_0(preparing)});
  }
}

}  // namespace

Reader StepTraceTimeCsv() {
  return {"step_trace_time.csv", FileKind::kStepTraceTime, Tables::kStepTimes, ReadStepTimes};
}

}  // namespace mpa::readers

// SPDX-License-Identifier: Apache-2.0
// msosrt_trace_<process>_<name>.csv: slow calls of the C library and of its threads, which a
// library recorded that was loaded before them (MSOSRT).
#include "csv_rows.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {
namespace {

void ReadSystemCallsCsv(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  io::CsvFile csv(file.path);
  const auto process = csv.Require("Pid");
  const auto thread = csv.Require("Tid");
  const auto function = csv.Require("Function");
  const auto start = csv.Require("StartTime(ns)");
  const auto dur = csv.Require("Duration(ns)");
  while (NextRow(csv, trace.issues)) {
    const auto begins = io::ParseInt(csv[start]), lasts = io::ParseInt(csv[dur]);
    const bool has_times = begins && lasts && *begins >= 0 && *lasts >= 0 && IsTime(*begins) &&
                           IsDuration(*lasts) && IsTime(*begins + *lasts);
    const auto of_thread = io::ParseInt(csv[thread]);
    if (!has_times || !of_thread || csv[function].empty()) {
      trace.issues.Count("system call left out, its name, thread or time is invalid", csv.Place());
      continue;
    }
    trace.system_calls.Append({.start = *begins,
                               .dur = *lasts,
                               .process = io::ParseInt(csv[process]).value_or(-1),
                               .thread = *of_thread,
                               .name = trace.strings.Intern(csv[function])});
  }
}

}  // namespace

Reader SystemCallsCsv() {
  return {"MSOSRT's system calls", FileKind::kSystemCalls, Tables::kSystemCalls,
          ReadSystemCallsCsv};
}

}  // namespace mpa::readers

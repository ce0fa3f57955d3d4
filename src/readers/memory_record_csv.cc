// SPDX-License-Identifier: Apache-2.0
// memory_record.csv: device memory over time.
#include "csv_rows.h"
#include "megabytes.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {
namespace {

std::int64_t SizeOrNone(std::optional<std::int64_t> bytes) {
  return bytes && IsMemorySize(*bytes) ? *bytes : -1;
}

void ReadMemoryRecord(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  io::CsvFile csv(file.path);
  const auto reserved = csv.Require("Total Reserved(MB)");
  const auto allocated = csv.Find("Total Allocated(MB)");
  const auto time = csv.Find("Timestamp(us)");
  const auto component = csv.Find("Component");
  while (NextRow(csv, trace.issues)) {
    if (!IsRecorded(csv[reserved])) continue;  // rows of components that report only allocations
    const auto bytes = BytesFromMebibytes(csv[reserved]);
    if (!bytes || !IsMemorySize(*bytes)) {
      trace.issues.Count("memory sample left out, invalid size", csv.Place());
      continue;
    }
    trace.memory_samples.Append(
        {.time = io::NsFromMicros(csv[time]).value_or(-1),
         .component = trace.strings.Intern(csv[component]),
         .reserved_bytes = *bytes,
         .allocated_bytes = SizeOrNone(BytesFromMebibytes(csv[allocated]))});
  }
}

}  // namespace

Reader MemoryRecordCsv() {
  return {"memory_record.csv", FileKind::kMemoryRecord, Tables::kMemorySamples, ReadMemoryRecord};
}

}  // namespace mpa::readers

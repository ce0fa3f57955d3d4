// SPDX-License-Identifier: Apache-2.0
// npu_module_mem.csv: memory that the parts of CANN reserve, over time.
#include "counter_builder.h"
#include "counter_names.h"
#include "csv_rows.h"
#include "megabytes.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {
namespace {

// "NPU:3".
std::int64_t DeviceIn(std::string_view cell) {
  const std::size_t colon = cell.rfind(':');
  return io::ParseInt(cell.substr(colon == std::string_view::npos ? 0 : colon + 1)).value_or(-1);
}

void ReadModuleMemory(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  io::CsvFile csv(file.path);
  const auto component = csv.Require("Component");
  const auto time = csv.Require("Timestamp(us)");
  const auto reserved = csv.Require("Total Reserved(MB)");
  const auto device = csv.Find("Device");
  std::int64_t own = trace.device_id;
  CounterBuilder builder(trace);
  while (NextRow(csv, trace.issues)) {
    const std::int64_t of_row = DeviceIn(csv[device]);
    if (own < 0) own = of_row;
    if (of_row >= 0 && of_row != own) continue;
    if (!IsRecorded(csv[reserved])) continue;
    const auto at = io::NsFromMicros(csv[time]);
    const auto bytes = BytesFromMebibytes(csv[reserved]);
    if (!at || !bytes) {
      trace.issues.Count("sample of a counter left out, invalid time or value", csv.Place());
      continue;
    }
    builder.Add(kModuleMemory, csv[component], *at, static_cast<double>(*bytes));
  }
  builder.Finish();
}

}  // namespace

Reader ModuleMemoryCsv() {
  return {"npu_module_mem.csv", FileKind::kHardwareTable, Tables::kCounters, ReadModuleMemory};
}

}  // namespace mpa::readers

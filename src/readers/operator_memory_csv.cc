// SPDX-License-Identifier: Apache-2.0
// operator_memory.csv: every allocation of an operator.
#include "csv_rows.h"
#include "megabytes.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {
namespace {

void ReadAllocations(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  io::CsvFile csv(file.path);
  const auto name = csv.Require("Name");
  const auto size = csv.Require("Size(KB)");
  const auto allocated = csv.Require("Allocation Time(us)");
  const auto released = csv.Find("Release Time(us)");
  while (NextRow(csv, trace.issues)) {
    const auto bytes = BytesFromKibibytes(csv[size]);
    if (!bytes || !IsMemorySize(*bytes)) {
      trace.issues.Count("allocation left out, invalid size", csv.Place());
      continue;
    }
    // Empty and N/A: allocated before, or released after the collection.
    trace.allocations.Append({.name = trace.strings.Intern(csv[name]),
                              .bytes = *bytes,
                              .allocated = io::NsFromMicros(csv[allocated]).value_or(-1),
                              .released = io::NsFromMicros(csv[released]).value_or(-1)});
  }
}

}  // namespace

Reader OperatorMemoryCsv() {
  return {"operator_memory.csv", FileKind::kOperatorMemory, Tables::kAllocations, ReadAllocations};
}

}  // namespace mpa::readers

// SPDX-License-Identifier: Apache-2.0
// op_statistic.csv: kernel times summed by operator type and core type.
#include "csv_rows.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/readers/reader.h"
#include "summed_time.h"

namespace mpa::readers {
namespace {

std::int64_t CountOf(const io::CsvFile& csv, std::size_t column, Issues& issues) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  const std::optional<std::int64_t> count = io::ParseInt(csv[column]);
  if (count && *count >= 0 && *count <= kMost) return *count;
  issues.Count("invalid count, taken as 0", csv.Place());
  return 0;
}

void ReadOpStatistic(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  io::CsvFile csv(file.path);
  const auto type = csv.Require("OP Type");
  const auto core = csv.Find("Core Type");
  const auto device = csv.Find("Device_id");
  const auto count = csv.Require("Count");
  const auto total = csv.Require("Total Time(us)");
  const auto min = csv.Find("Min Time(us)");
  const auto avg = csv.Find("Avg Time(us)");
  const auto max = csv.Find("Max Time(us)");
  const auto time = [&](std::optional<std::size_t> column) {
    return SummedTime(csv, column, trace.issues);
  };
  while (NextRowOfDevice(csv, device, trace)) {
    trace.kernel_statistics.Append({.op_type = trace.strings.Intern(csv[type]),
                                    .core = trace.strings.Intern(csv[core]),
                                    .count = CountOf(csv, count, trace.issues),
                                    .total = time(total),
                                    .min = time(min),
                                    .avg = time(avg),
                                    .max = time(max)});
  }
}

}  // namespace

Reader OpStatisticCsv() {
  return {"op_statistic.csv", FileKind::kOpStatistic, Tables::kKernelStatistics, ReadOpStatistic};
}

}  // namespace mpa::readers

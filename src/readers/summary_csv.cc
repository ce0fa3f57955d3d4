// SPDX-License-Identifier: Apache-2.0
// The small tables that the profiler's parser sums up or lists beside the timeline: steps, types of
// kernels, memory over time, allocations.
#include <limits>
#include <optional>
#include <string_view>

#include "csv_rows.h"
#include "megabytes.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {
namespace {

// A time of the current row that the profiler summed up, which may be slightly below 0; 0 if none
// was recorded. Times longer than any capture also become 0, and are counted.
TimeNs SummedTime(const io::CsvFile& csv, std::optional<std::size_t> column, Issues& issues) {
  const std::string_view cell = csv[column];
  const std::optional<TimeNs> time = io::NsFromMicros(cell);
  if (time && IsDuration(*time < 0 ? -*time : *time)) return *time;
  if (IsRecorded(cell)) {
    issues.Count("invalid time, taken as 0", csv.Place());
  }
  return 0;
}

// step_trace_time.csv: the profiler's own division of each step's time.

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
  CountMissing(csv,
               {"Overlapped", "Stage", "Bubble",
                "Communication(Not Overlapped and Exclude Receive)", "Preparing"},
               trace.issues);
  while (NextRow(csv, trace.issues)) {
    // A run without step() has one row with an empty step.
    const auto id = io::ScaledDecimal(csv[step], 0);
    const bool known = id && *id >= 0 && *id <= std::numeric_limits<std::int32_t>::max();
    StepTimes::Row row{.step = known ? static_cast<std::int32_t>(*id) : -1,
                       .computing = time(computing),
                       .exposed_communication = time(exposed),
                       .communication = time(communication),
                       .free = time(free),
                       .preparing = preparing ? time(*preparing) : -1};
    // Of some that a damaged header lacks the others tell.
    row.overlapped = overlapped ? time(*overlapped) : row.communication - row.exposed_communication;
    row.bubble = bubble            ? time(*bubble)
                 : without_receive ? row.exposed_communication - time(*without_receive)
                                   : 0;
    row.exposed_without_receive =
        without_receive ? time(*without_receive) : row.exposed_communication - row.bubble;
    row.stage =
        stage ? time(*stage) : row.computing + row.exposed_communication + row.free - row.bubble;
    trace.step_times.Append(row);
  }
}

// op_statistic.csv: kernel times summed by operator type and core type.

void ReadOpStatistic(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  io::CsvFile csv(file.path);
  const auto type = csv.Require("OP Type");
  const auto core = csv.Find("Core Type");
  const auto device = csv.Find("Device_id");
  const auto count = csv.Require("Count");
  const auto total = csv.Require("Total Time(us)");
  const auto min = csv.Require("Min Time(us)");
  const auto max = csv.Require("Max Time(us)");
  while (NextRowOfDevice(csv, device, trace)) {
    constexpr std::int64_t kMaxKernels = 1'000'000'000'000;
    const std::int64_t kernels = io::ParseInt(csv[count]).value_or(-1);
    const auto time = [&](std::size_t column) {
      return io::NsFromMicros(csv[column]).value_or(-1);
    };
    const TimeNs sum = time(total), shortest = time(min), longest = time(max);
    if (kernels < 1 || kernels > kMaxKernels || !IsDuration(sum) || !IsDuration(shortest) ||
        !IsDuration(longest)) {
      trace.issues.Count("sums of a type of kernels left out, invalid count or time", csv.Place());
      continue;
    }
    trace.kernel_statistics.Append({.op_type = trace.strings.Intern(csv[type]),
                                    .core = trace.strings.Intern(csv[core]),
                                    .count = kernels,
                                    .total = sum,
                                    .min = shortest,
                                    .max = longest});
  }
}

// memory_record.csv: device memory over time.

std::int64_t SizeOrNone(std::optional<std::int64_t> bytes) {
  return bytes && IsSize(*bytes) ? *bytes : -1;
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
    if (!bytes || !IsSize(*bytes)) {
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

// operator_memory.csv: every allocation of an operator.

void ReadAllocations(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  io::CsvFile csv(file.path);
  const auto name = csv.Require("Name");
  const auto size = csv.Require("Size(KB)");
  const auto allocated = csv.Require("Allocation Time(us)");
  const auto released = csv.Find("Release Time(us)");
  while (NextRow(csv, trace.issues)) {
    const auto bytes = BytesFromKibibytes(csv[size]);
    if (!bytes || !IsSize(*bytes)) {
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

Reader StepTraceTimeCsv() {
  return {"step_trace_time.csv", FileKind::kStepTraceTime, Tables::kStepTimes, ReadStepTimes};
}

Reader OpStatisticCsv() {
  return {"op_statistic.csv", FileKind::kOpStatistic, Tables::kKernelStatistics, ReadOpStatistic};
}

Reader MemoryRecordCsv() {
  return {"memory_record.csv", FileKind::kMemoryRecord, Tables::kMemorySamples, ReadMemoryRecord};
}

Reader OperatorMemoryCsv() {
  return {"operator_memory.csv", FileKind::kOperatorMemory, Tables::kAllocations, ReadAllocations};
}

}  // namespace mpa::readers

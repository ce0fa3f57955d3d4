// SPDX-License-Identifier: Apache-2.0
// The memory tables: operator_memory.csv, memory_record.csv, npu_module_mem.csv.
#include <algorithm>
#include <numeric>

#include "csv_text.h"
#include "mpa/raw/enumerations.h"
#include "mpa/raw/summaries.h"
#include "text_files.h"

namespace mpa::profiler_output {
namespace {

void PutBytes(std::int64_t bytes, double unit, CsvRow& row) {
  row.Cell(Decimal{static_cast<double>(bytes) / unit});
}

/// Empty for -1.
void PutMegabytes(std::int64_t bytes, CsvRow& row) {
  if (bytes < 0) {
    row.Cell();
  } else {
    PutBytes(bytes, kBytesPerMegabyte, row);
  }
}

/// Empty for -1.
void PutTime(TimeNs time, CsvRow& row) {
  if (time < 0) {
    row.Cell();
  } else {
    row.Time(time);
  }
}

/// From the allocation to `end`; empty when that is not known.
void PutLifetime(const raw::AllocationLife& life, TimeNs end, CsvRow& row) {
  if (end < 0 || life.allocated < 0) {
    row.Cell();
  } else if (life.cann) {
    row.Cell(ShortMicros{static_cast<double>(end - life.allocated)});
  } else {
    row.Time(end - life.allocated);
  }
}

void PutDevice(std::int64_t device, CsvRow& row) { row.Cell("NPU:", device); }

void AppendLife(const raw::AllocationLife& life, const StringPool& strings, std::string& out) {
  CsvRow row(out);
  const std::string_view name = strings.View(life.name);
  if (life.cann) {
    row.Text("cann::" + std::string(name));
  } else {
    row.Text(name);
  }
  PutBytes(life.bytes, kBytesPerKilobyte, row);
  PutTime(life.allocated, row);
  PutTime(life.released, row);
  PutTime(life.active_released, row);
  PutLifetime(life, life.released, row);
  PutLifetime(life, life.active_released, row);
  for (const std::int64_t bytes :
       {life.allocated_total, life.reserved_total, life.active_total, life.released_total,
        life.released_reserved, life.released_active}) {
    PutMegabytes(bytes, row);
  }
  if (life.cann) {
    row.Cell();
  } else {
    row.Cell(life.stream);
  }
  PutDevice(life.device, row);
}

void AppendRecord(const raw::MemoryRecord& record, std::string& out) {
  CsvRow row(out);
  row.Text(record.component);
  PutTime(record.time, row);
  for (const std::int64_t bytes : {record.allocated, record.reserved, record.active}) {
    PutMegabytes(bytes, row);
  }
  if (record.has_stream) {
    row.Cell(record.stream);
  } else {
    row.Cell();
  }
  PutDevice(record.device, row);
}

}  // namespace

void WriteOperatorMemory(const raw::Session& session, const std::filesystem::path& path) {
  const std::vector<raw::AllocationLife> lives = raw::AllocationLives(session);
  if (lives.empty()) return;
  WriteTextTable(
      path,
      "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
      "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
      "Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),"
      "Release Total Active(MB),Stream Ptr,Device Type\r\n",
      lives.size(),
      [&](std::size_t i, std::string& out) { AppendLife(lives[i], session.strings, out); });
}

void WriteMemoryRecord(const raw::Session& session, const std::filesystem::path& path) {
  const std::vector<raw::MemoryRecord> records = raw::MemoryRecords(session);
  if (records.empty()) return;
  WriteTextTable(
      path,
      "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,"
      "Device Type\r\n",
      records.size(), [&](std::size_t i, std::string& out) { AppendRecord(records[i], out); });
}

void WriteModuleMemory(const raw::Session& session, const std::filesystem::path& path) {
  const raw::ModuleMemory& samples = session.module_memory;
  if (samples.Empty()) return;
  std::vector<std::size_t> rows(samples.Size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return samples.module[a] != samples.module[b] ? samples.module[a] < samples.module[b]
                                                  : samples.time[a] < samples.time[b];
  });
  WriteTextTable(path, "Device_id,Component,Timestamp(us),Total Reserved(MB),Device\r\n",
                 rows.size(), [&](std::size_t i, std::string& out) {
                   const std::size_t sample = rows[i];
                   const std::string_view name =
                       raw::NameOf(raw::Modules(), samples.module[sample]);
                   CsvRow row(out);
                   row.Cell(samples.device[sample]);
                   row.Text(name.empty() ? "UNKNOWN" : name);
                   row.Time(samples.time[sample]);
                   PutBytes(samples.reserved[sample], kBytesPerMegabyte, row);
                   PutDevice(samples.device[sample], row);
                 });
}

}  // namespace mpa::profiler_output

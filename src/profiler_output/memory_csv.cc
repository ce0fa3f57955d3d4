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

Decimal Bytes(std::int64_t bytes, double unit) { return {static_cast<double>(bytes) / unit}; }

// Cells of what is not known, -1, are empty.
std::optional<Decimal> MegabytesIn(std::int64_t bytes) {
  if (bytes < 0) return {};
  return Bytes(bytes, kBytesPerMegabyte);
}

std::optional<Stamp> TimeIn(TimeNs time) {
  if (time < 0) return {};
  return Stamp{time};
}

/// From the allocation to `end`.
void PutLifetime(const raw::AllocationLife& life, TimeNs end, CsvRow& row) {
  const bool known = end >= 0 && life.allocated >= 0;
  if (known && life.cann) {
    row.Cell(ShortMicros{static_cast<double>(end - life.allocated)});
  } else {
    row.Cells(known ? std::optional(Stamp{end - life.allocated}) : std::nullopt);
  }
}

std::string Device(std::int64_t device) { return "NPU:" + std::to_string(device); }

void AppendLife(const raw::AllocationLife& life, const StringPool& strings, std::string& out) {
  CsvRow row(out);
  const std::string_view name = strings.View(life.name);
  row.Text(life.cann ? "cann::" + std::string(name) : name);
  row.Cells(Bytes(life.bytes, kBytesPerKilobyte), TimeIn(life.allocated), TimeIn(life.released),
            TimeIn(life.active_released));
  PutLifetime(life, life.released, row);
  PutLifetime(life, life.active_released, row);
  row.Cells(MegabytesIn(life.allocated_total), MegabytesIn(life.reserved_total),
            MegabytesIn(life.active_total), MegabytesIn(life.released_total),
            MegabytesIn(life.released_reserved), MegabytesIn(life.released_active),
            life.cann ? std::nullopt : std::optional(life.stream), Device(life.device));
}

void AppendRecord(const raw::MemoryRecord& record, std::string& out) {
  CsvRow(out).Cells(record.component, TimeIn(record.time), MegabytesIn(record.allocated),
                    MegabytesIn(record.reserved), MegabytesIn(record.active),
                    record.has_stream ? std::optional(record.stream) : std::nullopt,
                    Device(record.device));
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
  WriteTextTable(
      path, "Device_id,Component,Timestamp(us),Total Reserved(MB),Device\r\n", rows.size(),
      [&](std::size_t i, std::string& out) {
        const std::size_t sample = rows[i];
        const std::string_view name = raw::NameOf(raw::Modules(), samples.module[sample]);
        CsvRow(out).Cells(
            samples.device[sample], name.empty() ? "UNKNOWN" : name, Stamp{samples.time[sample]},
            Bytes(samples.reserved[sample], kBytesPerMegabyte), Device(samples.device[sample]));
      });
}

}  // namespace mpa::profiler_output

// SPDX-License-Identifier: Apache-2.0
// Memory in a profiler database: samples of devices and modules, operators, allocators.
#include <algorithm>
#include <optional>
#include <string_view>

#include "mpa/raw/summaries.h"
#include "profiler_database.h"

namespace mpa::profiler_output {
namespace {

using Number = std::optional<std::int64_t>;

// -1 stands for what is not known.
Number Known(std::int64_t number) { return number < 0 ? Number() : number; }

Number Difference(std::int64_t from, std::int64_t to) {
  return from < 0 || to < 0 ? Number() : to - from;
}

void WriteDeviceSamples(const raw::DeviceMemory& memory, DatabaseStrings& strings,
                        DatabaseWriter& database) {
  if (memory.Empty()) return;
  database.WriteTable(
      "NPU_MEM", "type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, deviceId INTEGER",
      [&](TableWriter& table) {
        const std::int64_t app = strings.Id("app"), device = strings.Id("device");
        for (std::size_t i = 0; i < memory.Size(); ++i) {
          table.Add(memory.whole_device[i] != 0 ? device : app, memory.ddr[i], memory.hbm[i],
                    memory.time[i], memory.device[i]);
        }
      });
}

void WriteModuleSamples(const raw::ModuleMemory& memory, DatabaseWriter& database) {
  database.WriteRows(
      "NPU_MODULE_MEM",
      "moduleId INTEGER, timestampNs INTEGER, totalReserved NUMERIC, deviceId INTEGER", memory,
      [&](std::size_t i, TableWriter& table) {
        table.Add(memory.module[i], memory.time[i], memory.reserved[i], memory.device[i]);
      });
}

void WriteOpMemory(const raw::Session& session, DatabaseStrings& strings,
                   DatabaseWriter& database) {
  const raw::OpMemory& memory = session.op_memory;
  if (memory.Empty()) return;
  database.WriteTable(
      "NPU_OP_MEM",
      "operatorName INTEGER, addr INTEGER, type INTEGER, size INTEGER, timestampNs INTEGER, "
      "globalTid INTEGER, totalAllocate NUMERIC, totalReserve NUMERIC, component INTEGER, "
      "deviceId INTEGER",
      [&](TableWriter& table) {
        const std::int64_t allocate = strings.Id("allocate"), release = strings.Id("release");
        const std::int64_t component = strings.Id("GE");
        for (std::size_t i = 0; i < memory.Size(); ++i) {
          const bool is_release = memory.bytes[i] < 0;
          const auto bytes = static_cast<std::uint64_t>(memory.bytes[i]);
          table.Add(strings.Id(memory.name[i]), memory.address[i], is_release ? release : allocate,
                    is_release ? -bytes : bytes, memory.time[i],
                    GlobalThread(session.info.process, memory.thread[i]), memory.allocated[i],
                    memory.reserved[i], component, memory.device[i]);
        }
      });
}

// The database has the allocators only: samples of devices and modules are in tables of their own.
bool IsAllocator(std::string_view component) {
  return component == "PTA" || component == "GE" || component == "PTA+GE" ||
         component == "WORKSPACE";
}

void WriteAllocators(const raw::Session& session, DatabaseStrings& strings,
                     DatabaseWriter& database) {
  std::vector<raw::MemoryRecord> records = raw::MemoryRecords(session);
  std::erase_if(records, [](const auto& record) { return !IsAllocator(record.component); });
  if (records.empty()) return;
  database.WriteTable(
      "MEMORY_RECORD",
      "component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER, "
      "totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER",
      [&](TableWriter& table) {
        for (const raw::MemoryRecord& record : records) {
          Number stream;
          if (record.has_stream) stream = static_cast<std::int64_t>(record.stream);
          // CANN does not tell active memory; it counts as none here.
          table.Add(strings.Id(record.component), record.time, Known(record.allocated),
                    Known(record.reserved), std::max<std::int64_t>(record.active, 0), stream,
                    record.device);
        }
      });
}

void WriteAllocations(const raw::Session& session, DatabaseStrings& strings,
                      DatabaseWriter& database) {
  const std::vector<raw::AllocationLife> lives = raw::AllocationLives(session);
  if (lives.empty()) return;
  database.WriteTable(
      "OP_MEMORY",
      "name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, "
      "activeReleaseTime INTEGER, duration INTEGER, activeDuration INTEGER, "
      "allocationTotalAllocated INTEGER, allocationTotalReserved INTEGER, "
      "allocationTotalActive INTEGER, releaseTotalAllocated INTEGER, "
      "releaseTotalReserved INTEGER, releaseTotalActive INTEGER, streamPtr INTEGER, "
      "deviceId INTEGER",
      [&](TableWriter& table) {
        for (const raw::AllocationLife& life : lives) {
          Number stream;
          if (!life.cann) stream = static_cast<std::int64_t>(life.stream);
          table.Add(strings.Id(life.name), life.bytes, Known(life.allocated), Known(life.released),
                    Known(life.active_released), Difference(life.allocated, life.released),
                    Difference(life.allocated, life.active_released), Known(life.allocated_total),
                    Known(life.reserved_total), Known(life.active_total),
                    Known(life.released_total), Known(life.released_reserved),
                    Known(life.released_active), stream, life.device);
        }
      });
}

}  // namespace

void WriteMemory(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database) {
  WriteDeviceSamples(session.device_memory, strings, database);
  WriteModuleSamples(session.module_memory, database);
  WriteOpMemory(session, strings, database);
  WriteAllocators(session, strings, database);
  WriteAllocations(session, strings, database);
}

}  // namespace mpa::profiler_output

// SPDX-License-Identifier: Apache-2.0
// NPU_OP_MEM: memory that operators of CANN took and gave back. Databases of the framework's
// exporter have the same rows in OP_MEMORY and MEMORY_RECORD, beside those of the framework; in
// databases of msprof this table stands alone.
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/base/stable_sort.h"
#include "mpa/measure/memory_copies.h"
#include "profiler_db_tables.h"

namespace mpa::readers {
namespace {

constexpr const char* kTable = "NPU_OP_MEM";

struct OpMemoryRow {
  TimeNs time = 0;
  StringId name{};
  std::int64_t address = 0, bytes = 0;
  bool releases = false;
  std::int64_t allocated = -1, reserved = -1;
};

std::vector<OpMemoryRow> RowsOfTable(DbInput& input) {
  std::vector<OpMemoryRow> rows;
  rows.reserve(input.database.ApproximateRows(kTable));
  std::optional<std::int64_t> device = input.own_device;
  if (!device && input.trace.device_id >= 0) device = input.trace.device_id;
  const auto read = [&](const io::Row& row) {
    // Without a known device that of the first row is read.
    const std::optional<std::int64_t> of_row = row.Int(7);
    if (!device) device = of_row;
    if (of_row && device && *of_row != *device) return;
    const std::string_view type = input.trace.strings.View(input.strings.Text(row, 3));
    const std::int64_t bytes = row.IntOr(2, -1), time = TimeOrNone(row, 4);
    if (!IsSize(bytes) || time < 0 || (type != "allocate" && type != "release")) {
      CountRow(input, "allocation left out, invalid size", kTable);
      return;
    }
    const auto size = [&](int column) {
      const std::int64_t value = row.IntOr(column, -1);
      return IsSize(value) ? value : -1;
    };
    rows.push_back({time, input.strings.Text(row, 0), row.IntOr(1, 0), bytes, type == "release",
                    size(5), size(6)});
  };
  ScanTable(input.database, kTable,
            "operatorName, addr, size, type, timestampNs, totalAllocate, totalReserve, deviceId",
            read);
  StableSort(rows, {}, &OpMemoryRow::time);
  return rows;
}

// An address is given back by the next release of it.
void AddAllocations(const std::vector<OpMemoryRow>& rows, Allocations& allocations) {
  std::unordered_map<std::int64_t, std::size_t> open;
  for (const OpMemoryRow& row : rows) {
    const auto found = open.find(row.address);
    if (!row.releases) {
      open[row.address] = allocations.Size();
      allocations.Append(
          {.name = row.name, .bytes = row.bytes, .allocated = row.time, .released = -1});
    } else if (found != open.end()) {
      allocations.released[found->second] = row.time;
      open.erase(found);
    }
  }
}

void AddTotals(const std::vector<OpMemoryRow>& rows, RankTrace& trace) {
  const StringId component = trace.strings.Intern("GE");
  for (const OpMemoryRow& row : rows) {
    if (row.reserved < 0) continue;
    trace.memory_samples.Append({.time = row.time,
                                 .component = component,
                                 .reserved_bytes = row.reserved,
                                 .allocated_bytes = row.allocated});
  }
}

}  // namespace

void ReadOperatorMemory(DbInput& input) {
  const bool wants_lives =
      Intersects(input.wanted, Tables::kAllocations) && !input.database.HasTable("OP_MEMORY");
  const bool wants_totals =
      Intersects(input.wanted, Tables::kMemorySamples) && !input.database.HasTable("MEMORY_RECORD");
  if (!input.database.HasTable(kTable) || (!wants_lives && !wants_totals)) return;
  const std::vector<OpMemoryRow> rows = RowsOfTable(input);
  if (wants_lives) AddAllocations(rows, input.trace.allocations);
  if (wants_totals) AddTotals(rows, input.trace);
}

}  // namespace mpa::readers

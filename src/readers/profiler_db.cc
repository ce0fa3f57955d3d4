// SPDX-License-Identifier: Apache-2.0
// Profiler databases: ascend_pytorch_profiler*.db, ascend_mindspore_profiler*.db, msmonitor*.db and
// msprof_*.db. A table that is not there was not recorded; one without a column that is needed is
// broken, and left out.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/parallel.h"
#include "mpa/base/progress.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/io/sqlite.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/memory_totals.h"
#include "mpa/model/repeated_rows.h"
#include "mpa/model/step_bounds.h"
#include "mpa/readers/reader.h"
#include "profiler_db_tables.h"
#include "trace_builder.h"

namespace mpa::readers {

std::vector<std::string> ColumnsOf(const io::Database& database, std::string_view table,
                                   std::string_view columns) {
  std::vector<std::string> found;
  for (std::string_view column : Split(columns, ',')) {
    column = Trim(column);
    const bool may_lack = column.ends_with('?');
    if (may_lack) column.remove_suffix(1);
    found.emplace_back(may_lack && !database.HasColumn(table, column) ? "NULL" : column);
  }
  return found;
}

std::map<std::int64_t, std::string> NamesOfNumbers(const io::Database& database,
                                                   std::string_view table) {
  std::map<std::int64_t, std::string> names;
  ScanTable(database, table, "id, name", [&](const io::Row& row) {
    if (const auto id = row.Int(0)) names[*id] = row.Text(1);
  });
  return names;
}

bool HasRows(const io::Database& database, std::string_view table) {
  return database.HasTable(table) &&
         database.Query(fmt::format("SELECT 1 FROM {} LIMIT 1", table)).Step();
}

void CountRow(DbInput& input, std::string_view what, std::string_view table) {
  input.trace.issues.Count(what, Say("{}: table {}", input.database.name(), table));
}

std::optional<DbSpan> ReadSpan(DbInput& input, const io::Row& row, int start_column, int end_column,
                               std::string_view table) {
  const auto start = row.Int(start_column);
  const auto end = row.Int(end_column);
  if (start && end && *start >= 0 && *end >= *start && IsTime(*end) && IsDuration(*end - *start))
    return DbSpan{*start, *end - *start};
  CountRow(input, "row left out, invalid start or end", table);
  return std::nullopt;
}

TimeNs TimeOrNone(const io::Row& row, int column) {
  const TimeNs time = row.IntOr(column, -1);
  return IsTime(time) ? time : -1;
}

std::int64_t Link(const io::Row& row, int column) {
  const std::int64_t id = row.IntOr(column, 0);
  return id == 0 ? -1 : id;
}

void CountIfNull(DbInput& input, const io::Row& row, int column, const char* name,
                 const char* table, const char* lost) {
  if (!row.IsNull(column)) return;
  CountRow(input, Say("{} is unknown, its {} is NULL; parse again", Translated(lost), name), table);
}

StringId FilledText(DbInput& input, const io::Row& row, int column, const char* name,
                    const char* table) {
  if (row.IsNull(column))
    CountRow(input, Say("text left empty, {} is NULL; parse again", name), table);
  return input.strings.Text(row, column);
}

namespace {

using NamesById = std::unordered_map<std::int64_t, std::string>;

// The texts that `where` chooses.
NamesById NamesWhere(DbInput& input, const char* where) {
  NamesById names;
  if (!input.database.HasTable("STRING_IDS")) return names;
  io::Statement rows =
      input.database.Query(fmt::format("SELECT id, value FROM STRING_IDS WHERE {}", where));
  while (rows.Step()) {
    if (const auto id = rows.Int(0)) names.emplace(*id, rows.Text(1));
  }
  return names;
}

// Spans whose names make them steps, or marks of a server.
void ReadNamedSteps(DbInput& input, const char* table, const char* name, const NamesById& names) {
  if (names.empty() || !input.database.HasColumn(table, name)) return;
  struct Named {
    TimeNs start, dur;
    const std::string* name;
  };
  std::vector<Named> found;
  const auto read = [&](const io::Row& row) {
    const auto text = names.find(row.IntOr(0, -1));
    const TimeNs start = row.IntOr(1, -1), end = row.IntOr(2, -1);
    if (text == names.end() || start < 0 || end <= start || !IsTime(end) ||
        !IsDuration(end - start))
      return;
    found.push_back({start, end - start, &text->second});
  };
  input.database.Scan(fmt::format("{}, startNs, endNs", name), fmt::format("{} NOT INDEXED", table),
                      read);
  StableSort(found, {}, &Named::start);
  for (const Named& step : found) {
    AppendStep(*step.name, step.start, step.dur, input.trace);
    AppendServingMark(*step.name, step.start, step.dur, input.trace);
  }
}

// Without the table of steps they are ranges (mstx) by which programs mark them, or those of a
// server (see serving_batch.h).
void ReadNamedSteps(DbInput& input) {
  NamesById names = NamesWhere(
      input,
      "value LIKE '%ProfilerStep#%' OR value GLOB 'execute_*' OR value GLOB 'step[[]*' OR"
      " value GLOB 'prefill[[]*' OR value GLOB 'decode[[]*'");
  ReadNamedSteps(input, "MSTX_EVENTS", "message", names);
  if (!input.trace.host_ops.Empty()) return;
  std::erase_if(names, [](const auto& name) { return IsProfilerStep(name.second); });
  ReadNamedSteps(input, "PYTORCH_API", "name", names);
}

void ReadSteps(DbInput& input) {
  RankTrace& trace = input.trace;
  ScanSpans(input, "STEP_TIME", "startNs, endNs, id", [&](const DbSpan& span, const io::Row& row) {
    const std::int64_t id = row.IntOr(2, -1);
    if (id < 0 || id > std::numeric_limits<std::int32_t>::max()) {
      CountRow(input, "step left out, its number is invalid", "STEP_TIME");
      return;
    }
    trace.steps.Append(
        {.id = static_cast<std::int32_t>(id), .start = span.start, .end = span.start + span.dur});
  });
  if (trace.steps.Empty()) ReadNamedSteps(input);
}

// Work of the device that the 950 records and that is not read yet.
void CountUnreadWork(DbInput& input) {
  constexpr std::pair<const char*, const char*> kTables[] = {
      {"CCU", "CCU tasks are not supported yet (table CCU)"},
      {"DPU_TASK", "DPU tasks are not supported yet (table DPU_TASK)"}};
  for (const auto& [table, problem] : kTables) {
    if (HasRows(input.database, table)) input.trace.issues.Count(problem, input.database.name());
  }
}

void ReadMemorySamples(DbInput& input) {
  const auto read = [&](const io::Row& row) {
    const auto reserved = row.Int(2);
    if (!reserved) return;
    if (!IsSize(*reserved)) {
      CountRow(input, "memory sample left out, invalid size", "MEMORY_RECORD");
      return;
    }
    const std::int64_t allocated = row.Int(3).value_or(-1);
    input.trace.memory_samples.Append({.time = TimeOrNone(row, 0),
                                       .component = input.strings.Text(row, 1),
                                       .reserved_bytes = *reserved,
                                       .allocated_bytes = IsSize(allocated) ? allocated : -1});
  };
  input.trace.memory_samples.Reserve(input.database.ApproximateRows("MEMORY_RECORD"));
  ScanTable(input.database, "MEMORY_RECORD", "timestamp, component, totalReserved, totalAllocated?",
            read);
}

// Samples of the whole device are of other processes, too.
void ReadProcessMemory(DbInput& input) {
  const auto read = [&](const io::Row& row) {
    if (input.trace.strings.View(input.strings.Text(row, 1)) != "app") return;
    const std::int64_t ddr = row.IntOr(2, 0), hbm = row.IntOr(3, 0);
    if (!IsSize(ddr) || !IsSize(hbm)) {
      CountRow(input, "memory sample left out, invalid size", "NPU_MEM");
      return;
    }
    input.trace.memory_samples.Append({.time = TimeOrNone(row, 0),
                                       .component = input.trace.strings.Intern(kProcessMemory),
                                       .reserved_bytes = ddr + hbm});
  };
  ScanTable(input.database, "NPU_MEM", "timestampNs, type, ddr, hbm", read);
}

void ReadAllocations(DbInput& input) {
  if (!input.database.HasTable("OP_MEMORY")) return;
  const auto read = [&](const io::Row& row) {
    const std::int64_t bytes = row.IntOr(1, 0);
    if (!IsSize(bytes)) {
      CountRow(input, "allocation left out, invalid size", "OP_MEMORY");
      return;
    }
    input.trace.allocations.Append({.name = input.strings.Text(row, 0),
                                    .bytes = bytes,
                                    .allocated = TimeOrNone(row, 2),
                                    .released = TimeOrNone(row, 3)});
  };
  input.trace.allocations.Reserve(input.database.ApproximateRows("OP_MEMORY"));
  ScanTable(input.database, "OP_MEMORY", "name, size, allocationTime, releaseTime", read);
  const Allocations& allocations = input.trace.allocations;
  if (allocations.Empty() && input.database.HasTable("MEMORY_RECORD") &&
      HasRows(input.database, "STRING_IDS") &&
      input.database
          .Query("SELECT 1 FROM MEMORY_RECORD WHERE component IN (SELECT id FROM STRING_IDS WHERE"
                 " value = 'PTA') LIMIT 1")
          .Step()) {
    input.trace.issues.Count(Promise::kTablesAgree,
                             "OP_MEMORY is empty, but MEMORY_RECORD has allocations of the"
                             " framework: memory of operators is unknown; parse again",
                             input.database.name());
  }
  // Rows are in order of the allocation: the same one again is out of order.
  if (std::ranges::adjacent_find(allocations.allocated, std::greater_equal()) ==
      allocations.allocated.end())
    return;
  const std::vector<bool> repeated = Repeated(allocations, [&](std::size_t i) {
    return std::tuple(allocations.allocated[i], allocations.released[i], allocations.bytes[i],
                      allocations.name[i], allocations.allocated[i] < 0 ? i : 0);
  });
  // A few blocks of one size live as long as each other.
  const auto count = static_cast<std::size_t>(std::ranges::count(repeated, true));
  if (4 * count < allocations.Size()) return;
  for (std::size_t i = 0; i < count; ++i)
    input.trace.issues.Count(Promise::kOnceEach, kWrittenTwice, "OP_MEMORY");
  input.trace.allocations.Filter([&](std::size_t row) { return !repeated[row]; });
}

void ReadProfilerDb(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  const io::Database database(file.path);
  DbStrings strings(database, trace.strings, trace.issues);
  DbInput input{database, strings, trace, request.wanted};
  const auto read = [&](Tables tables, void (*read_tables)(DbInput&)) {
    if (Intersects(request.wanted, tables)) ReadTables(input, [&] { read_tables(input); });
  };
  if (!database.HasTable("TASK") && !database.HasTable("PYTORCH_API") &&
      !database.HasTable("COMMUNICATION_OP")) {
    Fail(ErrorKind::kInput,
         "{}: none of the tables TASK, COMMUNICATION_OP and PYTORCH_API is in the database; it is"
         " not a profiler database, or its export broke off",
         file.path.string());
  }
  constexpr Tables kOfHost = Tables::kHostOps | Tables::kLaunches | Tables::kPythonCalls |
                             Tables::kBackwardLinks | Tables::kQueuedWork;
  if (Intersects(request.wanted, kOfHost) && Intersects(request.wanted, Tables::kKernels)) {
    KernelRows rows;
    ParallelFor(2, [&](std::size_t i) {
      if (i == 0) {
        read(kOfHost, ReadHostTables);
      } else {
        rows = ReadKernelsAhead(file.path, request.wanted);
      }
    });
    input.ahead = std::move(rows);
    if (input.ahead.tasks) database.NoteWholeTable("TASK", input.ahead.tasks->Size());
    if (input.ahead.details)
      database.NoteWholeTable("COMPUTE_TASK_INFO", input.ahead.details->Count());
  } else {
    read(kOfHost, ReadHostTables);
  }
  read(Tables::kKernels, ReadKernels);
  read(Tables::kScheduleKernels, ReadScheduleKernels);
  read(Tables::kListedKernels, ReadListedKernels);
  read(Tables::kMstx, ReadMstxEvents);
  read(Tables::kChips | Tables::kCoreClocks | Tables::kCounters, ReadDeviceId);
  read(Tables::kCoreClocks, ReadCoreClocks);
  read(Tables::kDeviceTasks, ReadDeviceTasks);
  read(Tables::kQueuedWork, ReadCopyLaunches);
  read(Tables::kCommunications | Tables::kCommTasks, ReadCommunications);
  read(Tables::kMemorySamples, ReadMemorySamples);
  read(Tables::kMemorySamples, ReadProcessMemory);
  read(Tables::kAllocations, ReadAllocations);
  read(Tables::kAllocations | Tables::kMemorySamples, ReadOperatorMemory);
  read(Tables::kSteps, ReadSteps);
  read(Tables::kDeviceTasks, CountUnreadWork);
  read(Tables::kHostCalls, ReadHostCalls);
  read(Tables::kDeviceRuns, ReadDeviceRuns);
  read(Tables::kGarbageCollections, ReadGarbageCollections);
  read(Tables::kSystemCalls, ReadSystemCalls);
  read(Tables::kCounters, ReadHardwareCounters);
  read(Tables::kJobInfo, ReadJobInfo);
  CheckPromisesOfTables(input);
  AddProgress(file.bytes);
}

}  // namespace

Reader ProfilerDb() {
  return {"profiler database", FileKind::kProfilerDb,
          Tables::kHostOps | Tables::kLaunches | Tables::kKernels | Tables::kDeviceTasks |
              Tables::kCommunications | Tables::kCommTasks | Tables::kMemorySamples |
              Tables::kAllocations | Tables::kSteps | Tables::kPythonCalls |
              Tables::kBackwardLinks | Tables::kQueuedWork | Tables::kMstx |
              Tables::kScheduleKernels | Tables::kKernelTensors | Tables::kChips |
              Tables::kCoreClocks | Tables::kHostCalls | Tables::kDeviceRuns |
              Tables::kGarbageCollections | Tables::kJobInfo | Tables::kListedKernels |
              Tables::kSystemCalls | Tables::kCounters,
          ReadProfilerDb};
}

}  // namespace mpa::readers

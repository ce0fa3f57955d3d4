// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/io/sqlite.h"
#include "mpa/model/issues.h"
#include "mpa/model/rank_trace.h"
#include "mpa/model/string_pool.h"

namespace mpa::readers {

/// The texts of a profiler database (STRING_IDS), fetched on first use: most texts of a large
/// database are call stacks that are never requested.
class DbStrings {
 public:
  DbStrings(const io::Database& database, StringPool& pool, Issues& issues);

  /// The text with this id in the database; empty for NULL and for missing ids, which are counted.
  StringId Text(const io::Row& row, int column);

 private:
  struct Recent {
    bool used = false;
    std::int64_t id = 0;
    StringId text{};
  };
  static constexpr std::size_t kRecent = 1 << 12;  // fits the cache of a core

  void LoadAll(const io::Database& database);
  StringId Find(std::int64_t id);

  StringPool& pool_;
  Issues& issues_;
  std::vector<Recent> recent_ = std::vector<Recent>(kRecent);
  std::unordered_map<std::int64_t, StringId> known_;
  std::optional<io::Statement> lookup_;  // empty when all texts were loaded at once
};

/// The rows of TASK and COMPUTE_TASK_INFO that ReadKernels() takes.
struct KernelRows {
  std::optional<io::KeptRows> tasks{};
  std::optional<io::KeyedRows> details{};
};
/// Reads them from large tables on a connection of its own, while another thread reads other ones.
/// Empty of tables that are small or broken, which is left to ReadKernels().
KernelRows ReadKernelsAhead(const std::filesystem::path& path, Tables wanted);

/// An open profiler database and the rank it fills.
struct DbInput {
  const io::Database& database;
  DbStrings& strings;
  RankTrace& trace;
  Tables wanted{};                      ///< the functions below read no more
  KernelRows ahead{};                   ///< what was read already
  std::optional<io::KeptRows> tasks{};  ///< see TasksOf()
  /// The device whose work is read, where TASK has that of several.
  std::optional<std::int64_t> own_device{};
};

/// PYTORCH_API, CONNECTION_IDS, PYTORCH_CALLCHAINS: host operators and launches, and the thread of
/// the backward pass; Python functions, backward links, queued work and the details of operators if
/// wanted.
void ReadHostTables(DbInput& input);
/// CANN_API: the launchers of the copies, which CONNECTION_IDS does not contain. Needs the device
/// tasks, launches and queued work.
void ReadCopyLaunches(DbInput& input);
/// COMPUTE_TASK_INFO, TASK; the tensors of kernels, and TASK_PMU_INFO, if wanted.
void ReadKernels(DbInput& input);
/// COMMUNICATION_SCHEDULE_TASK_INFO, TASK.
void ReadScheduleKernels(DbInput& input);
/// The kernels of COMPUTE_TASK_INFO and COMMUNICATION_SCHEDULE_TASK_INFO, COMMUNICATION_OP, TASK,
/// TASK_PMU_INFO.
void ReadListedKernels(DbInput& input);
/// MSTX_EVENTS.
void ReadMstxEvents(DbInput& input);
/// RANK_DEVICE_MAP.
void ReadDeviceId(DbInput& input);
/// AICORE_FREQ, of the rank's device.
void ReadCoreClocks(DbInput& input);
/// HBM, DDR, LLC, NPU_MEM, PCIE, ROCE and the like, of the rank's device; the use of the host.
void ReadHardwareCounters(DbInput& input);
/// TASK.
void ReadDeviceTasks(DbInput& input);
/// COMMUNICATION_OP, and COMMUNICATION_TASK_INFO if wanted; groups are named from META_DATA. After
/// ReadDeviceTasks(), if these are wanted.
void ReadCommunications(DbInput& input);
/// META_DATA, HOST_INFO, RANK_DEVICE_MAP.
void ReadJobInfo(DbInput& input);
/// CANN_API, SESSION_TIME_INFO; threads and connections if other tables are wanted, too.
void ReadHostCalls(DbInput& input);
/// TASK with COMPUTE_TASK_INFO, COMMUNICATION_OP.
void ReadDeviceRuns(DbInput& input);
/// NPU_OP_MEM, where OP_MEMORY or MEMORY_RECORD, which hold the same, are missing.
void ReadOperatorMemory(DbInput& input);
/// GC_RECORD.
void ReadGarbageCollections(DbInput& input);
/// OSRT_API.
void ReadSystemCalls(DbInput& input);

/// Columns for a query, listed as "startNs, endNs, opType?". A question mark marks a column that
/// some versions do not write: it reads as NULL where the table lacks it.
std::vector<std::string> ColumnsOf(const io::Database& database, std::string_view table,
                                   std::string_view columns);
/// The name of each number in a table ENUM_*; empty without the table.
std::map<std::int64_t, std::string> NamesOfNumbers(const io::Database& database,
                                                   std::string_view table);

/// False for a table that is missing or empty.
bool HasRows(const io::Database& database, std::string_view table);

/// The columns of TasksOf(). NULL where TASK lacks the column; the model and the number are NULL
/// where no device tasks are wanted.
enum TaskColumn {
  kTaskStart,
  kTaskEnd,
  kTaskType,
  kTaskStream,
  kTaskConnection,
  kTaskModel,
  kTaskNumber,
  kTaskDevice,
  kTaskId,
  kTaskColumns
};
/// All rows of TASK that are of the rank's device, read once for all who ask. Those of others are
/// counted as an issue.
const io::KeptRows& TasksOf(DbInput& input);

/// What the tables that were read promise each other. After all of them.
void CheckPromisesOfTables(DbInput& input);
/// Counts kernels in TASK without details; `detailed` are the connections of those that have some.
/// After TasksOf().
void CheckDetails(DbInput& input, const std::vector<std::int64_t>& detailed);
/// Of several devices, by the rows that each has, that of the rank, or else the one with most rows.
std::int64_t OwnDevice(DbInput& input, const std::map<std::int64_t, std::size_t>& rows);
/// True for a task of a kind that only collectives have.
bool IsOfCollective(DbInput& input, const io::Row& task);
/// Counts such tasks of collectives of which fewer are `described` by COMMUNICATION_TASK_INFO.
/// After TasksOf() and the collectives.
void CheckTasksOfCollectives(DbInput& input, std::size_t described);

/// Throws Error (kInput) if a column is missing.
void RequireColumns(const DbInput& input, const char* table,
                    const std::vector<std::string>& columns);
/// Counts rows of the table whose task is not there as an issue.
void CountLostRows(DbInput& input, const char* table, std::size_t lost);

/// The rows of a table by their tasks; `columns`: see ColumnsOf().
io::KeyedRows RowsByTask(const io::Database& database, const char* table, std::string_view columns);

/// Visits `tasks` in their order, each with its row of the table: the columns of the task, the last
/// of which is its id, then those of the row. Rows whose task is not there are
/// counted as an issue.
template <typename Visit>
void ScanTasks(DbInput& input, const io::KeptRows& tasks, const char* table, io::KeyedRows rows,
               Visit visit) {
  std::size_t found = 0;
  rows.Join(tasks, input.database.name(), [&](const io::Row& row) {
    ++found;
    visit(row);
  });
  if (rows.Count() > found) CountLostRows(input, table, rows.Count() - found);
}

/// Without texts that stand for "not recorded".
StringId RecordedText(StringId text, const StringPool& strings);
/// -1 for the largest 32-bit value, which stands for "not recorded".
constexpr std::int64_t RecordedNumber(std::int64_t number) {
  return number == 4294967295 ? -1 : number;
}
inline std::int64_t NumberOrNone(const io::Row& row, int column) {
  return RecordedNumber(row.IntOr(column, -1));
}

/// A connection of host and device; 0 and NULL both mean none, which is -1.
std::int64_t Link(const io::Row& row, int column);

/// Counts a problem of a row as an issue.
void CountRow(DbInput& input, std::string_view what, std::string_view table);
/// Counts the row as an issue if the number is NULL without which `lost` is unknown.
void CountIfNull(DbInput& input, const io::Row& row, int column, const char* name,
                 const char* table, const char* lost);

/// Visits the rows of a table in their order, with columns as ColumnsOf() takes them; no row
/// without the table. `where` is empty or " WHERE ...".
template <typename Visit>
void ScanTable(const io::Database& database, std::string_view table, std::string_view columns,
               Visit visit, std::string_view where = "") {
  if (!database.HasTable(table)) return;
  database.Scan(fmt::format("{}", fmt::join(ColumnsOf(database, table, columns), ", ")),
                fmt::format("{} NOT INDEXED{}", table, where), visit);
}

/// Calls `read`; if the table lacks a column, only the rows from it are lost.
template <typename Reading>
void ReadTables(DbInput& input, const Reading& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
    const std::string& name = input.database.name();
    std::string_view reason = error.what();
    if (reason.starts_with(name + ": ")) reason.remove_prefix(name.size() + 2);
    input.trace.issues.Count(Say("left out, table {}", reason), name);
  }
}

/// The text of a column that profilers always fill; NULL is counted as an issue.
StringId FilledText(DbInput& input, const io::Row& row, int column, const char* name,
                    const char* table);

/// A point in time; -1 for NULL and for invalid times.
TimeNs TimeOrNone(const io::Row& row, int column);

/// A time span of a row; invalid ones are counted as an issue and empty.
struct DbSpan {
  TimeNs start = 0, dur = 0;
};
std::optional<DbSpan> ReadSpan(DbInput& input, const io::Row& row, int start_column, int end_column,
                               std::string_view table);
/// ScanTable() of the rows that have a span in their first two columns: visit(span, row).
template <typename Visit>
void ScanSpans(DbInput& input, std::string_view table, std::string_view columns, Visit visit,
               std::string_view where = "") {
  const auto read = [&](const io::Row& row) {
    if (const auto span = ReadSpan(input, row, 0, 1, table)) visit(*span, row);
  };
  ScanTable(input.database, table, columns, read, where);
}

}  // namespace mpa::readers

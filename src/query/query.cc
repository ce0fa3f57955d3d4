// SPDX-License-Identifier: Apache-2.0
// One statement: what it names is read, then it is answered within its limits, and cannot write.
#include "mpa/query/query.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <set>
#include <utility>

#include "functions.h"
#include "job.h"
#include "mpa/base/error.h"
#include "mpa/base/interruption.h"
#include "mpa/base/memory.h"
#include "mpa/base/text.h"
#include "names.h"
#include "views.h"
#include "virtual_table.h"

namespace mpa {
namespace query {
namespace {

using Clock = std::chrono::steady_clock;

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct EndStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using StatementPointer = std::unique_ptr<sqlite3_stmt, EndStatement>;

// SQLite may take so much for sorting and grouping; what it has taken for captures stays outside.
class HeapLimit {
 public:
  HeapLimit() : before_(sqlite3_hard_heap_limit64(sqlite3_memory_used() + MemoryOfProcess() / 4)) {}
  ~HeapLimit() { sqlite3_hard_heap_limit64(before_); }
  HeapLimit(const HeapLimit&) = delete;
  HeapLimit& operator=(const HeapLimit&) = delete;

 private:
  sqlite3_int64 before_;
};

// A connection that knows the tables of a job, and nothing else.
class Connection {
 public:
  explicit Connection(Job& job) : job_(job) {
    sqlite3* opened = nullptr;
    const int code =
        sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    database_.reset(opened);
    if (code != SQLITE_OK) throw std::bad_alloc();
    Limit();
    const char* kept[] = {"json_each", "json_tree", nullptr};
    sqlite3_drop_modules(database_.get(), kept);
    AddVirtualTables(database_.get(), job);
    AddFunctions(database_.get(), job);
    // Sorted rows stay in memory, which is limited, and do not fill a disk.
    sqlite3_exec(database_.get(), "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr);
    AddViews(database_.get());
    sqlite3_set_authorizer(database_.get(), Authorize, this);
  }

  /// What is misspelt is replaced, where that helps.
  StatementPointer PrepareOrCorrect(const std::string& sql) {
    try {
      return Prepare(sql);
    } catch (Misspelt& error) {
      error.corrected = Corrected(sql, error, [&](const std::string& one) { Prepare(one); });
      throw;
    }
  }
  StatementPointer Prepare(const std::string& sql) {
    needs_ = Tables::kNone;
    sqlite3_stmt* made = nullptr;
    const char* rest = nullptr;
    const int code =
        sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &made, &rest);
    StatementPointer statement(made);
    if (code != SQLITE_OK) FailStatement(code, sql);
    if (!statement) Fail(ErrorKind::kUsage, "the statement is empty; see 'msprof-analyze query'");
    const std::string_view behind(rest, static_cast<std::size_t>(sql.data() + sql.size() - rest));
    if (behind.find_first_not_of(" \t\r\n;") != std::string_view::npos)
      Fail(ErrorKind::kUsage, "one statement at a time; behind the first: {}",
           std::string(behind.substr(0, 40)));
    if (sqlite3_stmt_readonly(statement.get()) == 0 || sqlite3_column_count(statement.get()) == 0)
      Fail(ErrorKind::kUsage, "statements can only read; begin with SELECT or WITH");
    return statement;
  }
  /// What the statement that was prepared last reads.
  Tables Needs() const { return needs_; }

  [[noreturn]] void FailStatement(int code, const std::string& sql) {
    const std::string message = sqlite3_errmsg(database_.get());
    if (code == SQLITE_NOMEM)
      Fail(ErrorKind::kResource, "the statement takes too much memory; add WHERE or LIMIT");
    if (code == SQLITE_INTERRUPT && WasInterrupted())
      Fail(ErrorKind::kResource, "the statement was stopped");
    if (code == SQLITE_INTERRUPT)
      Fail(ErrorKind::kResource,
           "the statement takes longer than {} s; add WHERE, or give --max_seconds", seconds_);
    if (!denied_.empty())
      Fail(ErrorKind::kUsage, "statements can only read tables; {} is not allowed", denied_);
    FailWithNearest(message, sql);
  }

  void StopAfter(double seconds) {
    seconds_ = seconds;
    end_ = Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    constexpr int kInstructions = 200;  // one call of a function can take milliseconds
    sqlite3_progress_handler(
        database_.get(), kInstructions,
        [](void* self) {
          const bool is_late = Clock::now() > static_cast<Connection*>(self)->end_;
          return is_late || WasInterrupted() ? 1 : 0;
        },
        this);
  }

 private:
  void Limit() {
    sqlite3* const database = database_.get();
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 64 << 20);
    sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
    sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, 200);
    sqlite3_limit(database, SQLITE_LIMIT_COMPOUND_SELECT, 50);
    sqlite3_limit(database, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  }

  // SQLite asks for each thing that a statement does, while it is prepared.
  static int Authorize(void* self, int action, const char* what, const char* more, const char*,
                       const char*) {
    auto& connection = *static_cast<Connection*>(self);
    const std::string_view name = what == nullptr ? "" : what, detail = more == nullptr ? "" : more;
    const auto deny = [&](std::string_view denied) {
      connection.denied_ = denied;
      return SQLITE_DENY;
    };
    switch (action) {
      case SQLITE_SELECT:
      case SQLITE_RECURSIVE:
        return SQLITE_OK;
      case SQLITE_READ:
        connection.NoteRead(name, detail);
        return SQLITE_OK;
      case SQLITE_FUNCTION:
        for (const FunctionInfo& function : AllFunctions()) {
          if (detail != function.name || function.needs == Tables::kNone) continue;
          connection.needs_ = connection.needs_ | function.needs;
          connection.job_.NameRanks(std::nullopt);
        }
        return IsOneOf(detail, {"load_extension", "fts3_tokenizer"}) ? deny(detail) : SQLITE_OK;
      case SQLITE_PRAGMA:
        return IsOneOf(name, {"table_info", "table_xinfo"}) ? SQLITE_OK : deny("PRAGMA");
      case SQLITE_ATTACH:
      case SQLITE_DETACH:
        return deny("ATTACH");
      default:
        return deny("writing");
    }
  }
  void NoteRead(std::string_view name, std::string_view column) {
    const TableInfo* table = FindTable(name);
    if (table == nullptr) return;
    needs_ = needs_ | table->needs;
    for (const TableColumn& of : table->columns) {
      if (of.name == column) needs_ = needs_ | of.needs;
    }
  }

  Job& job_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  Tables needs_{};
  std::string denied_;
  double seconds_ = 0;
  Clock::time_point end_{};
};

Cell CellAt(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_NULL:
      return {};
    default: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      return text == nullptr
                 ? std::string()
                 : std::string(text,
                               static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
    }
  }
}

// A column of a table says what it is; one that is worked out does not.
QueryColumn ColumnOfAnswer(sqlite3_stmt* statement, int i) {
  QueryColumn column{.name = sqlite3_column_name(statement, i)};
  const char* const table = sqlite3_column_table_name(statement, i);
  const char* const origin = sqlite3_column_origin_name(statement, i);
  const TableInfo* info = table == nullptr ? nullptr : FindTable(table);
  if (info == nullptr || origin == nullptr) return column;
  for (const TableColumn& of : info->columns) {
    if (of.name != origin) continue;
    column.unit = of.unit;
    column.meaning = of.meaning;
  }
  return column;
}

// Read from the captures before this: what does not show by the rows of an answer.
void Complete(const Job& job, QueryAnswer& answer) {
  answer.notes = job.Notes();
  answer.partial = job.IsPartial();
  for (const auto& part : job.Parts()) answer.ranks.insert(part->rank);
}

}  // namespace
}  // namespace query

using query::AllTables;
using query::TableInfo;

QueryJob::QueryJob(std::vector<QuerySide> sides)
    : job_(std::make_unique<query::Job>(std::move(sides))) {}
QueryJob::~QueryJob() = default;

QueryAnswer QueryJob::Run(const std::string& sql, const QueryLimits& limits) {
  query::Connection connection(*job_);
  job_->NameRanks(query::Job::Ranks(std::in_place));
  query::StatementPointer statement = connection.PrepareOrCorrect(sql);
  job_->Load(connection.Needs());
  const query::HeapLimit heap;
  // How it is answered depends on how many rows there are.
  statement = connection.Prepare(sql);
  connection.StopAfter(limits.seconds);
  QueryAnswer answer;
  const int columns = sqlite3_column_count(statement.get());
  for (int i = 0; i < columns; ++i)
    answer.columns.push_back(query::ColumnOfAnswer(statement.get(), i));
  int code = sqlite3_step(statement.get());
  for (; code == SQLITE_ROW && answer.rows.size() < limits.rows;
       code = sqlite3_step(statement.get())) {
    auto& row = answer.rows.emplace_back();
    for (int i = 0; i < columns; ++i) row.push_back(query::CellAt(statement.get(), i));
  }
  answer.truncated = code == SQLITE_ROW;
  if (code != SQLITE_ROW && code != SQLITE_DONE) connection.FailStatement(code, sql);
  query::Complete(*job_, answer);
  return answer;
}

QueryAnswer QueryJob::Tables() {
  job_->NameRanks(std::nullopt);
  mpa::Tables needs{};
  for (const TableInfo& table : AllTables()) {
    if (table.stored != nullptr) needs = needs | table.needs;
  }
  job_->Load(needs);
  QueryAnswer answer;
  answer.columns = {{"table"}, {"rows"}, {"meaning"}};
  for (const TableInfo& table : AllTables()) {
    const bool is_computed = table.stored == nullptr;
    const auto rows = static_cast<std::int64_t>(is_computed ? 0 : job_->GuessRows(table));
    if (rows > 0 || is_computed)
      answer.rows.push_back({table.name, is_computed ? Cell() : Cell(rows), table.meaning});
  }
  query::Complete(*job_, answer);
  return answer;
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Read-only access to SQLite databases.
#include "mpa/io/sqlite.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "database_files.h"
#include "mpa/base/error.h"
#include "mpa/io/numbers.h"

namespace mpa::io {

namespace fs = std::filesystem;

void FailForDuplicates(const std::string& name) {
  Fail(ErrorKind::kCorrupt,
       "{}: a query would take far too long for a database of this size, because ids that must be"
       " unique occur many times",
       name);
}

constexpr int kMaxCell = 64 << 20;

void Distrust(sqlite3* database) {
  constexpr int kMaxStatement = 1'000'000;
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_drop_modules(database, nullptr);  // of virtual tables
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMaxCell);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, kMaxStatement);
  sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, 100);
  sqlite3_limit(database, SQLITE_LIMIT_COMPOUND_SELECT, 10);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
}

namespace {

// The path as a file: URI with which SQLite neither locks nor creates files: as an immutable file
// or, to see the writes in a -wal file, on a file system without locks.
std::string ReadOnlyUri(const fs::path& path, bool has_writes) {
  std::string uri = "file:";
  for (const char c : fs::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + (has_writes ? "?mode=ro&vfs=unix-none" : "?mode=ro&immutable=1");
}

// SQLite says that it has no memory of some broken schemas, too. It asks for no more than a few
// cells at once.
bool HasMemory() {
  void* const some = sqlite3_malloc64(4 * static_cast<sqlite3_uint64>(kMaxCell));
  sqlite3_free(some);
  return some != nullptr;
}

[[noreturn]] void FailToRead(sqlite3* database, const std::string& name) {
  int code = sqlite3_errcode(database);
  if (code == SQLITE_NOMEM && HasMemory()) code = SQLITE_CORRUPT;
  switch (code) {
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    case SQLITE_FULL:  // of sorted intermediate results; nothing else is written
      Fail(ErrorKind::kResource, "{}: no room for temporary files, see TMPDIR", name);
    case SQLITE_INTERRUPT:
      FailForDuplicates(name);
    case SQLITE_CORRUPT:
      Fail(ErrorKind::kCorrupt, "{}: the database is damaged or incomplete; copy it again", name);
    default:
      Fail(ErrorKind::kCorrupt, "{}: {}", name, sqlite3_errmsg(database));
  }
}

// "TASK, STRING_IDS": the tables that a query reads.
std::string TablesOf(std::string_view sql) {
  std::string tables;
  std::string_view before;
  for (std::size_t at = 0; at < sql.size();) {
    const std::size_t end = std::min(sql.find_first_of(" ()", at), sql.size());
    const std::string_view word = sql.substr(at, end - at);
    if (before == "FROM" || before == "JOIN") {
      tables += fmt::format("{}{}", tables.empty() ? "" : ", ", word);
    }
    if (!word.empty()) before = word;
    at = end + 1;
  }
  return tables;
}

// The size of the file and of the writes that are not in it yet.
std::int64_t SizeWithWrites(const fs::path& path) {
  std::int64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const auto size = fs::file_size(path.string() + suffix, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

Row::Cell CellOf(sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return {value, sqlite3_value_int64(value), Row::Kind::kInteger};
    case SQLITE_NULL:
      return {value, 0, Row::Kind::kNull};
    default:
      return {value, 0, Row::Kind::kOther};
  }
}

std::string_view TextOf(sqlite3_value* value) {
  if (value == nullptr) return {};  // of a row that was kept
  const unsigned char* text = sqlite3_value_text(value);
  if (text == nullptr) {
    if (sqlite3_value_type(value) == SQLITE_TEXT) throw std::bad_alloc();
    return {};
  }
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

}  // namespace

// How many steps of its virtual machine SQLite may need for a query: a join by ids that are not
// unique gives far more rows than its tables have.
struct Database::Effort {
  static constexpr int kStepsBetweenChecks = 100'000;

  // Scans and joins by unique ids take less than one step for each byte of the file. Small files
  // can do no harm.
  static constexpr std::int64_t kStepsPerByte = 4, kStepsAlways = 10'000'000;

  std::int64_t most = 0, done = 0;

  explicit Effort(std::int64_t bytes) : most(kStepsAlways + kStepsPerByte * bytes) {}

  static int Check(void* effort) {
    auto& self = *static_cast<Effort*>(effort);
    self.done += kStepsBetweenChecks;
    return self.done > self.most ? 1 : 0;
  }
};

// The aggregate function visit(cells...): one call for each row.
struct Database::RunningScan {
  Visitor visitor;
  std::vector<Row::Cell> cells;
  std::exception_ptr failure;
  std::int64_t rows = 0;

  static void VisitRow(sqlite3_context* context, int count, sqlite3_value** values) {
    RunningScan& scan = **static_cast<RunningScan**>(sqlite3_user_data(context));
    ++scan.rows;
    try {
      scan.cells.resize(static_cast<std::size_t>(count));
      for (Row::Cell& cell : scan.cells) cell = CellOf(*values++);
      scan.visitor.call(scan.visitor.visitor, Row(scan.cells.data()));
    } catch (...) {  // must not pass through SQLite
      scan.failure = std::current_exception();
      sqlite3_result_error(context, "", 0);
    }
  }

  static void Finish(sqlite3_context*) {}
};

bool Row::IsNumber(sqlite3_value* value, std::int64_t& number) {
  if (value == nullptr) return false;  // of a row that was kept
  switch (sqlite3_value_type(value)) {
    case SQLITE_FLOAT: {  // not as text, which has 15 digits only
      const double real = sqlite3_value_double(value);
      if (!(std::fabs(real) < 9.2e18)) return false;
      number = std::llround(real);
      return true;
    }
    case SQLITE_TEXT:
      return ReadScaledDecimal(TextOf(value), 0, number);
    default:
      return false;
  }
}

double Row::RealOr(int column, double fallback) const {
  const auto& [value, number, kind] = cells_[column];
  if (kind == Kind::kInteger) return static_cast<double>(number);
  if (value == nullptr) return fallback;  // of a row that was kept
  switch (sqlite3_value_type(value)) {
    case SQLITE_TEXT:
      return ParseReal(TextOf(value)).value_or(fallback);
    case SQLITE_FLOAT: {
      const double real = sqlite3_value_double(value);
      return std::isfinite(real) ? real : fallback;
    }
    default:
      return fallback;
  }
}

std::string_view Row::Text(int column) const { return TextOf(cells_[column].value); }

Statement::Statement(sqlite3* database, sqlite3_stmt* statement, std::string name)
    : database_(database),
      statement_(statement),
      name_(std::move(name)),
      cells_(static_cast<std::size_t>(sqlite3_column_count(statement))) {}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      name_(std::move(other.name_)),
      cells_(std::move(other.cells_)) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::Restart(std::int64_t parameter) {
  sqlite3_reset(statement_);
  sqlite3_bind_int64(statement_, 1, parameter);
}

void Statement::Check(int status) const {
  if (status == SQLITE_ROW || status == SQLITE_DONE) return;
  FailToRead(database_, name_);
}

bool Statement::Step() {
  const int status = sqlite3_step(statement_);
  Check(status);
  // Valid also after the last row, where the values are NULL. A connection without a mutex has no
  // protected values, so no distinction is needed.
  int column = 0;
  for (Row::Cell& cell : cells_) cell = CellOf(sqlite3_column_value(statement_, column++));
  return status == SQLITE_ROW;
}

Database::Database(const fs::path& path)
    : name_(path.string()),
      tables_{{"sqlite_master", {.exists = true}}, {"pragma_table_xinfo", {.exists = true}}} {
  const bool has_writes = HasWrites(path);
  const std::string uri = ReadOnlyUri(path, has_writes);
  const int status =
      sqlite3_open_v2(uri.c_str(), &database_,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  try {
    if (status != SQLITE_OK) FailToRead(database_, name_);
    Distrust(database_);
    bytes_ = SizeWithWrites(path);
    effort_ = std::make_unique<Effort>(bytes_);
    if (has_writes) {
      // The index of the -wal file is kept in memory, and the file stays as it is.
      sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
      Query("PRAGMA locking_mode = EXCLUSIVE").Step();
    }
    sqlite3_create_function_v2(database_, "visit", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, &scan_,
                               nullptr, RunningScan::VisitRow, RunningScan::Finish, nullptr);
    ReadSchema();
    sqlite3_set_authorizer(database_, NoteTable, this);
    sqlite3_progress_handler(database_, Effort::kStepsBetweenChecks, Effort::Check, effort_.get());
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

Database::~Database() { sqlite3_close(database_); }

void Database::ReadSchema() {
  // The time in which SQLite parses a schema grows with the square of its length. About nine steps
  // read the text of one table, view or index.
  constexpr int kMaxSteps = 50'000;
  bool excessive = false;
  const auto stop = [](void* flag) {
    *static_cast<bool*>(flag) = true;
    return 1;
  };
  sqlite3_progress_handler(database_, kMaxSteps, stop, &excessive);
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database_, "SELECT 1 FROM sqlite_master", -1, &statement, nullptr);
  sqlite3_finalize(statement);
  if (excessive) {
    Fail(ErrorKind::kCorrupt,
         "{}: the schema has thousands of tables, views or indexes; the profiler writes fewer than"
         " a hundred",
         name_);
  }
  Query("SELECT 1 FROM sqlite_master").Step();  // fails if the file is not a database
}

const Database::Table& Database::TableNamed(std::string_view name) const {
  const auto known = tables_.find(name);
  if (known != tables_.end()) return known->second;
  Table table;
  Statement type = Query(fmt::format(
      "SELECT type = 'view', sql LIKE 'CREATE%VIRTUAL%TABLE%' AND NOT rootpage FROM sqlite_master"
      " WHERE type IN ('table', 'view') AND name = '{}'",
      name));
  table.exists = type.Step();
  if (type.Int(0) == 1) {
    table.computed = "is a view";
  } else if (type.Int(1) == 1) {
    table.computed = "is a virtual table";
  } else if (table.exists) {
    Statement columns = Query(fmt::format(
        "SELECT name, hidden, pk = 1 AND type = 'INTEGER' FROM pragma_table_xinfo('{}')", name));
    while (columns.Step()) {
      if (columns.Int(1) == 0)
        table.columns.emplace(columns.Text(0), columns.Int(2) == 1);
      else if (columns.IntOr(1, 0) > 1)
        table.computed = "has generated columns";
    }
  }
  return tables_.emplace(name, std::move(table)).first->second;
}

bool Database::HasTable(std::string_view name) const {
  const Table& table = TableNamed(name);
  if (table.exists && table.computed != nullptr) {
    Fail(ErrorKind::kCorrupt, "{}: {} {}, which can compute anything; write it as a plain table",
         name_, name, table.computed);
  }
  return table.exists;
}

int Database::NoteTable(void* database, int action, const char* table, const char*, const char*,
                        const char*) {
  if (action == SQLITE_READ) static_cast<Database*>(database)->read_.insert(table);
  return SQLITE_OK;
}

bool Database::HasColumn(std::string_view table, std::string_view column) const {
  return TableNamed(table).columns.contains(column);
}

bool Database::IsPrimaryKey(std::string_view table, std::string_view column) const {
  const auto& columns = TableNamed(table).columns;
  const auto found = columns.find(column);
  return found != columns.end() && found->second;
}

std::size_t Database::ApproximateRows(std::string_view table) const {
  constexpr std::int64_t kBytesOfRow = 8;  // at least: its number, its header and some cells
  constexpr std::int64_t kSample = 4096;   // rows that show how many numbers are left out
  if (!HasTable(table)) return 0;
  sqlite3_stmt* statement = nullptr;
  const std::string sql = fmt::format(
      "SELECT (SELECT MIN(rowid) FROM {0}), (SELECT MAX(rowid) FROM {0}),"
      " (SELECT rowid FROM {0} NOT INDEXED LIMIT 1 OFFSET {1})",
      table, kSample);
  // A table WITHOUT ROWID has no such number.
  if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return 0;
  Statement query(database_, statement, name_);
  query.Step();
  const auto first = query.Int(0), last = query.Int(1), sampled = query.Int(2);
  if (!first || !last) return 0;
  if (!sampled) return kSample;
  const auto per_row = (static_cast<double>(*sampled) - static_cast<double>(*first)) / kSample;
  const double rows = (static_cast<double>(*last) - static_cast<double>(*first)) / per_row + 1;
  const auto most = static_cast<double>(bytes_) / kBytesOfRow;
  return static_cast<std::size_t>(rows >= 0 ? std::min(rows, most) : most);
}

Statement Database::Query(std::string_view sql) const {
  effort_->done = 0;
  read_.clear();
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK) {
    if (sqlite3_errcode(database_) != SQLITE_ERROR) FailToRead(database_, name_);
    Fail(ErrorKind::kInput, "{}: {}: {}; the database is of an unknown version, or was changed",
         name_, TablesOf(sql), sqlite3_errmsg(database_));
  }
  Statement query(database_, statement, name_);
  for (const std::string& table : std::exchange(read_, {})) HasTable(table);
  return query;
}

void Database::ScanRows(std::string_view columns, std::string_view source, Visitor visitor) const {
  Statement query = Query(fmt::format("SELECT visit({}) FROM {}", columns, source));
  RunningScan scan{visitor, {}, nullptr, 0};
  RunningScan* const outer = std::exchange(scan_, &scan);
  const int status = sqlite3_step(query.statement_);
  scan_ = outer;
  if (scan.failure) std::rethrow_exception(scan.failure);
  query.Check(status);
  constexpr std::string_view kNotIndexed = " NOT INDEXED";
  if (source.ends_with(kNotIndexed)) source.remove_suffix(kNotIndexed.size());
  if (source.find(' ') == std::string_view::npos) whole_[std::string(source)] = scan.rows;
}

std::int64_t Database::LostRows(std::string_view table, std::int64_t rows) const {
  if (Query(fmt::format("SELECT 1 FROM pragma_table_info('{}') WHERE pk > 0", table)).Step())
    return 0;
  Statement last = Query(fmt::format("SELECT MAX(rowid) FROM {}", table));
  return last.Step() ? std::max<std::int64_t>(last.IntOr(0, 0) - rows, 0) : 0;
}

}  // namespace mpa::io

// SPDX-License-Identifier: Apache-2.0
// Tables of a SQLite database.
#include <fmt/format.h>
#include <sqlite3.h>

#include <set>
#include <string>

#include "formats.h"
#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/base/utf8.h"
#include "mpa/io/directory_lock.h"
#include "mpa/io/output_file.h"
#include "mpa/io/sqlite.h"
#include "mpa/writers/writers.h"
#include "sheet_values.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// A name within SQL, whatever it holds.
std::string QuotedName(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    text += c;
    if (c == '"') text += c;
  }
  return text + '"';
}

const char* SqlType(Format format) {
  switch (format) {
    case Format::kInteger:
      return "INTEGER";
    case Format::kDecimals2:
    case Format::kDecimals3:
    case Format::kDecimals4:
    case Format::kPercent:
      return "REAL";
    case Format::kGeneral:
    case Format::kText:
      break;
  }
  return "TEXT";
}

// The names of the columns; where they differ by the side alone, as programs know them.
std::vector<std::string> NamesOf(const Sheet& table) {
  std::vector<std::string> names;
  std::set<std::string> distinct;
  for (const Column& column : table.columns) {
    names.push_back(column.name);
    distinct.insert(ToLower(column.name));
  }
  return distinct.size() == names.size() ? names : writers::ColumnKeys(table);
}

class Writer {
 public:
  explicit Writer(const fs::path& path) {
    const int result = sqlite3_open_v2(path.c_str(), &database_,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    if (result != SQLITE_OK) Complain();
    io::Distrust(database_);
  }
  ~Writer() {
    sqlite3_finalize(statement_);
    sqlite3_close(database_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void Run(const std::string& sql) {
    if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) Complain();
  }

  void WriteTable(const Sheet& table) {
    std::string columns;
    std::string marks;
    const std::vector<std::string> names = NamesOf(table);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const char* comma = columns.empty() ? "" : ", ";
      columns +=
          fmt::format("{}{} {}", comma, QuotedName(names[i]), SqlType(table.columns[i].format));
      marks += fmt::format("{}?", comma);
    }
    Run(fmt::format("DROP TABLE IF EXISTS {}", QuotedName(table.name)));
    Run(fmt::format("CREATE TABLE {} ({})", QuotedName(table.name), columns));
    const std::string insert =
        fmt::format("INSERT INTO {} VALUES ({})", QuotedName(table.name), marks);
    sqlite3_finalize(statement_);
    statement_ = nullptr;
    if (sqlite3_prepare_v2(database_, insert.c_str(), -1, &statement_, nullptr) != SQLITE_OK) {
      Complain();
    }
    for (const Row& row : table.rows) {
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        Bind(static_cast<int>(i) + 1, row.cells[i], table.columns[i]);
      }
      if (sqlite3_step(statement_) != SQLITE_DONE) Complain();
      sqlite3_reset(statement_);
      sqlite3_clear_bindings(statement_);
    }
  }

 private:
  void Bind(int place, const Cell& cell, const Column& column) {
    int result = SQLITE_OK;
    if (const auto* text = std::get_if<std::string>(&cell)) {
      const std::string valid = ValidUtf8(*text);
      result = sqlite3_bind_text64(statement_, place, valid.data(), valid.size(), SQLITE_TRANSIENT,
                                   SQLITE_UTF8);
    } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
      if (column.unit == Unit::kNone) {
        result = sqlite3_bind_int64(statement_, place, *whole);
      } else {
        result = sqlite3_bind_double(statement_, place, writers::InShownUnit(column.unit, *whole));
      }
    } else if (const auto* real = std::get_if<double>(&cell)) {
      const double kept = column.decimals ? Rounded(*real, *column.decimals) : *real;
      result = sqlite3_bind_double(statement_, place, kept);  // not-a-number becomes NULL
    }
    if (result != SQLITE_OK) Complain();
  }

  [[noreturn]] void Complain() const { io::FailToWrite(database_); }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
};

// What another program has not merged into the database yet would be lost, and would be merged into
// the one that takes its place.
void RefuseUnfinishedWrites(const fs::path& path) {
  for (const char* ending : {"-wal", "-journal"}) {
    const fs::path unfinished = path.string() + ending;
    std::error_code error;
    if (fs::file_size(unfinished, error) == 0 || error) continue;
    Fail(ErrorKind::kOutput,
         "another program has not finished writing to it, {} is there; close that program, or open "
         "and close the database with sqlite3",
         unfinished.filename().string());
  }
}

}  // namespace

void writers::WriteDatabaseFile(const std::vector<Sheet>& tables, const fs::path& path) {
  Writer writer(path);
  writer.Run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  for (const Sheet& table : tables) writer.WriteTable(table);
  writer.Run("COMMIT");
}

void PrepareDatabase(const fs::path& path) {
  io::PrepareOutputFile(path);
  std::error_code error;
  if (!fs::exists(path, error)) return;
  InContext(path.string(), [&] { RefuseUnfinishedWrites(path); });
  try {
    const io::Database opened(path);
  } catch (const Error& unusable) {
    Fail(ErrorKind::kOutput, "{}; results cannot be added to it, move it away", unusable.what());
  }
}

void WriteDatabase(const std::vector<Sheet>& tables, const fs::path& path) {
  const io::DirectoryLock lock = io::LockForChanges(path.parent_path());
  InContext(path.string(), [&] {
    RefuseUnfinishedWrites(path);
    io::OutputFile file(path);
    std::error_code error;
    if (fs::exists(path, error)) {
      fs::copy_file(path, file.temporary_path(), fs::copy_options::overwrite_existing, error);
      if (error) Fail(ErrorKind::kOutput, "cannot be copied: {}", error.message());
    }
    writers::WriteDatabaseFile(tables, file.temporary_path());
    file.Replace(path);
  });
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Tables of a SQLite database.
#include <fmt/format.h>

#include <set>
#include <string>

#include "formats.h"
#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/base/utf8.h"
#include "mpa/io/database_writer.h"
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
    case Format::kGrowth:
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

void PutCell(const Cell& cell, const Column& column, io::TableWriter& row) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    row.Put(ValidUtf8(*text));
  } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    column.unit == Unit::kNone ? row.Put(*whole)
                               : row.Put(writers::InShownUnit(column.unit, *whole));
  } else if (const auto* real = std::get_if<double>(&cell)) {
    row.Put(column.decimals ? Rounded(*real, *column.decimals) : *real);
  } else {
    row.Put(std::nullopt);
  }
}

void WriteTable(const Sheet& table, io::DatabaseWriter& database) {
  std::string columns;
  const std::vector<std::string> names = NamesOf(table);
  for (std::size_t i = 0; i < names.size(); ++i) {
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", QuotedName(names[i]),
                           SqlType(table.columns[i].format));
  }
  database.WriteTable(QuotedName(table.name), columns, [&](io::TableWriter& rows) {
    for (const Row& row : table.rows) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        PutCell(i < row.cells.size() ? row.cells[i] : Cell(), table.columns[i], rows);
      }
      rows.EndRow();
    }
  });
}

// What another program has not merged into the database yet would be lost, and would be merged into
// the one that takes its place.
void RefuseUnfinishedWrites(const fs::path& path) {
  for (const char* ending : {"-wal", "-journal"}) {
    const fs::path unfinished = path.string() + ending;
    std::error_code error;
    if (fs::file_size(unfinished, error) == 0 || error) continue;
    Fail(ErrorKind::kOutput,
         "another program has not finished writing to it, {} is there; close that program, or open"
         " and close the database with sqlite3",
         unfinished.filename().string());
  }
}

}  // namespace

void writers::WriteDatabaseFile(const std::vector<Sheet>& tables, const fs::path& path) {
  io::DatabaseWriter database(path);
  for (const Sheet& table : tables) WriteTable(table, database);
  database.Finish();
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

// SPDX-License-Identifier: Apache-2.0
// Tables as SQLite asks for them: it says what it looks for, and gets rows from the columns of the
// store without a copy. See https://sqlite.org/vtab.html.
#include "virtual_table.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "job.h"
#include "mpa/base/error.h"
#include "table_rows.h"
#include "tables.h"

namespace mpa::query {
namespace {

// The columns before those of the table: of one of ranks its side, rank and number, of one of the
// whole job its number.
enum Leading : int { kSide, kRank, kId };
constexpr int kLeading = 3;

struct Module {
  Job* job;
  const TableInfo* table;
};

struct VirtualTable : sqlite3_vtab {
  Job* job = nullptr;
  const TableInfo* table = nullptr;
  int Leading() const { return table->IsOfRank() ? kLeading : table->HasOwnId() ? 0 : 1; }
  /// kSide, kRank, kId, or kLeading and the column of the table.
  int Place(int column) const { return column + kLeading - Leading(); }
};

// What a scan looks for, as xBestIndex tells xFilter: a letter for each value that it gets.
enum Sought : char {
  kOfSide = 's',
  kOfRank = 'r',
  kWithId = 'i',
  kFrom = 'f',
  kAfter = 'a',
  kUntil = 'u',
  kBefore = 'b',
  kWithValue = 'v',  // its column is idxNum
  kInOrder = 'o',    // no value
};

struct Cursor : sqlite3_vtab_cursor {
  std::vector<TablePiece> pieces{};
  std::size_t piece = 0, position = 0;
  TableRows::Selection some{};
  // What to look for in each piece.
  std::optional<std::int64_t> id{};
  bool in_time = false, none = false;
  std::int64_t first = std::numeric_limits<std::int64_t>::min(),
               last = std::numeric_limits<std::int64_t>::max();
  int column = -1;
  Value value{};
  std::string text{};  // of the value

  const TableRows& Rows() const { return *pieces[piece].rows; }
  std::size_t Row() const { return some.Row(position); }
  bool AtEnd() const { return piece >= pieces.size(); }

  void Select() {
    const TableRows& rows = Rows();
    if (id) {
      const bool exists = *id >= 0 && static_cast<std::uint64_t>(*id) < rows.Size();
      const auto row = static_cast<std::size_t>(exists ? *id : 0);
      some = {row, exists ? row + 1 : row};
    } else if (column >= 0) {
      some = rows.With(column, value);
    } else if (in_time) {
      some = rows.InTime(first, last);
    } else {
      some = rows.All();
    }
    position = some.begin;
  }
  // To a row that exists, from here on.
  void Settle() {
    while (!AtEnd() && position >= some.end) {
      if (++piece < pieces.size()) Select();
    }
  }
};

VirtualTable& Of(sqlite3_vtab* table) { return *static_cast<VirtualTable*>(table); }
Cursor& Of(sqlite3_vtab_cursor* cursor) { return *static_cast<Cursor*>(cursor); }

// What the program throws must not go through SQLite.
template <typename Body>
int Guarded(sqlite3_vtab* table, Body body) {
  const auto say = [table](const char* text) {
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", text);
    return SQLITE_ERROR;
  };
  try {
    body();
    return SQLITE_OK;
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (const std::exception& error) {
    return say(error.what());
  }
}

std::string_view TypeName(Value::Kind kind) {
  return kind == Value::Kind::kInteger ? "INTEGER" : kind == Value::Kind::kReal ? "REAL" : "TEXT";
}

int Connect(sqlite3* database, void* data, int, const char* const*, sqlite3_vtab** made, char**) {
  const Module& module = *static_cast<Module*>(data);
  const TableInfo& info = *module.table;
  std::string sql = "CREATE TABLE x(";
  if (info.IsOfRank())
    sql += module.job->HasSides() ? "side TEXT,rank INTEGER," : "side TEXT HIDDEN,rank INTEGER,";
  if (!info.HasOwnId()) sql += "id INTEGER,";
  for (const TableColumn& column : info.columns)
    sql += fmt::format("\"{}\" {},", column.name, TypeName(column.kind));
  sql.back() = ')';
  const int code = sqlite3_declare_vtab(database, sql.c_str());
  if (code != SQLITE_OK) return code;
  auto table = std::make_unique<VirtualTable>();
  table->job = module.job;
  table->table = &info;
  *made = table.release();
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* table) {
  delete &Of(table);
  return SQLITE_OK;
}

// How a constraint is of use; 0: it is not.
char SoughtBy(const VirtualTable& table, int place, unsigned char op) {
  if (op == SQLITE_INDEX_CONSTRAINT_EQ) {
    if (place == kSide) return kOfSide;
    if (place == kRank) return kOfRank;
    if (place == kId) return kWithId;
    const Value::Kind kind = table.table->columns[static_cast<std::size_t>(place - kLeading)].kind;
    return kind == Value::Kind::kReal ? char{} : static_cast<char>(kWithValue);
  }
  if (table.table->time < 0 || place != kLeading + table.table->time) return 0;
  if (op == SQLITE_INDEX_CONSTRAINT_GE) return kFrom;
  if (op == SQLITE_INDEX_CONSTRAINT_GT) return kAfter;
  if (op == SQLITE_INDEX_CONSTRAINT_LE) return kUntil;
  return op == SQLITE_INDEX_CONSTRAINT_LT ? static_cast<char>(kBefore) : char{};
}

// Says which ranks the scan needs. A rank that other tables give shows when the statement runs.
void NameRanks(const VirtualTable& table, sqlite3_index_info* info) {
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (constraint.iColumn < 0 || table.Place(constraint.iColumn) != kRank ||
        constraint.op != SQLITE_INDEX_CONSTRAINT_EQ)
      continue;
    sqlite3_value* given = nullptr;
    if (sqlite3_vtab_rhs_value(info, i, &given) == SQLITE_OK &&
        sqlite3_value_type(given) == SQLITE_INTEGER)
      table.job->NameRank(sqlite3_value_int64(given));
    return;
  }
  table.job->NameRanks(std::nullopt);
}

bool IsBinary(sqlite3_index_info* info, int constraint) {
  return std::string_view(sqlite3_vtab_collation(info, constraint)) == "BINARY";
}

int BestIndex(sqlite3_vtab* base, sqlite3_index_info* info) {
  const VirtualTable& table = Of(base);
  NameRanks(table, info);
  const auto rows =
      static_cast<double>(std::max<std::size_t>(1, table.job->GuessRows(*table.table)));
  double found = rows;
  const auto shrink = [&](double to) { found = std::min(found, std::max(1.0, to)); };
  std::string sought;
  int value_column = -1;
  bool by_id = false, in_time = false;
  const auto use = [&](int constraint, char letter) {
    sought += letter;
    info->aConstraintUsage[constraint].argvIndex = static_cast<int>(sought.size());
  };
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (!constraint.usable || constraint.iColumn < 0) continue;
    const int place = table.Place(constraint.iColumn);
    const char letter = SoughtBy(table, place, constraint.op);
    if (letter == 0 || (letter == kWithValue && value_column >= 0) || !IsBinary(info, i)) continue;
    use(i, letter);
    if (letter == kOfRank && table.job->Parts().size() > 1)
      shrink(rows / static_cast<double>(table.job->Parts().size()));
    if (letter == kWithId) {
      by_id = true;
      shrink(1);
    } else if (letter == kWithValue) {
      value_column = place - kLeading;
      shrink(rows / 1000);
    } else if (letter != kOfSide && letter != kOfRank) {
      shrink(in_time ? rows / 20 : rows / 3);
      in_time = true;
    }
  }
  const bool by_time = info->nOrderBy == 1 && !info->aOrderBy[0].desc && table.table->time >= 0 &&
                       info->aOrderBy[0].iColumn >= 0 &&
                       table.Place(info->aOrderBy[0].iColumn) == kLeading + table.table->time;
  if (by_time && table.job->Parts().size() == 1 && !by_id && value_column < 0) {
    sought += kInOrder;
    info->orderByConsumed = 1;
  }
  info->idxNum = value_column;
  info->idxStr = sqlite3_mprintf("%s", sought.c_str());
  if (info->idxStr == nullptr) return SQLITE_NOMEM;
  info->needToFreeIdxStr = 1;
  info->estimatedCost = found + 10;
  info->estimatedRows = static_cast<sqlite3_int64>(found);
  return SQLITE_OK;
}

int Open(sqlite3_vtab*, sqlite3_vtab_cursor** made) {
  *made = new (std::nothrow) Cursor();
  return *made == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete &Of(cursor);
  return SQLITE_OK;
}

std::string_view TextOfValue(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

// Compares as SQLite does, which looks at each row again: what is not a whole number excludes
// nothing here.
void Bound(Cursor& cursor, char sought, sqlite3_value* value) {
  cursor.in_time = true;
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) cursor.none = true;
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  std::int64_t number = sqlite3_value_int64(value);
  if (type == SQLITE_FLOAT) {
    const double real = std::floor(sqlite3_value_double(value));
    if (!(std::fabs(real) < 9e18)) return;
    number = static_cast<std::int64_t>(real) + (sought == kUntil || sought == kBefore ? 1 : 0);
  }
  if (sought == kFrom || sought == kAfter)
    cursor.first = std::max(cursor.first, number);
  else
    cursor.last = std::min(cursor.last, number);
}

void Seek(const VirtualTable& table, Cursor& cursor, char sought, int column,
          sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  if (sought == kFrom || sought == kAfter || sought == kUntil || sought == kBefore)
    return Bound(cursor, sought, value);
  if (type == SQLITE_NULL) {
    cursor.none = true;
    return;
  }
  if (sought == kWithId && type == SQLITE_INTEGER) cursor.id = sqlite3_value_int64(value);
  if (sought == kWithValue) {
    const Value::Kind kind = table.table->columns[static_cast<std::size_t>(column)].kind;
    if (kind == Value::Kind::kInteger && type == SQLITE_INTEGER) {
      cursor.value = {.kind = kind, .integer = sqlite3_value_int64(value)};
    } else if (kind == Value::Kind::kText && type == SQLITE_TEXT) {
      cursor.text = TextOfValue(value);
      cursor.value = {.kind = kind, .text = cursor.text};
    } else {
      return;  // SQLite looks at each row
    }
    cursor.column = column;
  }
  std::erase_if(cursor.pieces, [&](const TablePiece& piece) {
    if (piece.part == nullptr) return false;
    if (sought == kOfRank)
      return type == SQLITE_INTEGER && piece.part->rank.Number() != sqlite3_value_int64(value);
    return sought == kOfSide && type == SQLITE_TEXT &&
           table.job->Sides()[piece.part->side].name != TextOfValue(value);
  });
}

void ReadRanks(const VirtualTable& table, std::string_view sought, sqlite3_value** values) {
  if (!table.table->IsOfRank()) return;
  std::optional<std::int64_t> rank;
  const std::size_t found = sought.find(kOfRank);
  if (found != std::string_view::npos && sqlite3_value_type(values[found]) == SQLITE_INTEGER)
    rank = sqlite3_value_int64(values[found]);
  table.job->ReadRank(rank);
}

int Filter(sqlite3_vtab_cursor* base, int column, const char* sought, int count,
           sqlite3_value** values) {
  Cursor& cursor = Of(base);
  const VirtualTable& table = Of(cursor.pVtab);
  return Guarded(cursor.pVtab, [&] {
    Cursor fresh;
    fresh.pVtab = cursor.pVtab;
    ReadRanks(table, sought, values);
    fresh.pieces = table.job->PiecesOf(*table.table);
    for (int i = 0; i < count; ++i) Seek(table, fresh, sought[i], column, values[i]);
    fresh.in_time = fresh.in_time || sought[count] == kInOrder;
    if (fresh.none) fresh.pieces.clear();
    cursor = std::move(fresh);
    if (cursor.value.kind == Value::Kind::kText) cursor.value.text = cursor.text;
    if (cursor.AtEnd()) return;
    cursor.Select();
    cursor.Settle();
  });
}

int Next(sqlite3_vtab_cursor* base) {
  Cursor& cursor = Of(base);
  return Guarded(cursor.pVtab, [&] {
    ++cursor.position;
    cursor.Settle();
  });
}

int Eof(sqlite3_vtab_cursor* base) { return Of(base).AtEnd() ? 1 : 0; }

void ResultText(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

int Column(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const Cursor& cursor = Of(base);
  const VirtualTable& table = Of(cursor.pVtab);
  const LoadedPart* part = cursor.pieces[cursor.piece].part;
  const int place = table.Place(column);
  if (place == kId) {
    sqlite3_result_int64(context, static_cast<sqlite3_int64>(cursor.Row()));
  } else if (place == kRank) {
    if (part->label.empty())
      sqlite3_result_int64(context, part->rank.Number());
    else
      ResultText(context, part->label);
  } else if (place == kSide) {
    if (table.job->HasSides()) ResultText(context, table.job->Sides()[part->side].name);
  } else {
    return Guarded(cursor.pVtab, [&] {
      const Value value = cursor.Rows().At(cursor.Row(), place - kLeading);
      if (value.kind == Value::Kind::kInteger) sqlite3_result_int64(context, value.integer);
      if (value.kind == Value::Kind::kReal) sqlite3_result_double(context, value.real);
      if (value.kind == Value::Kind::kText) ResultText(context, value.text);
    });
  }
  return SQLITE_OK;
}

int RowId(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
  // Whatever other ranks the scan leaves out: SQLite joins scans by it.
  const Cursor& cursor = Of(base);
  const LoadedPart* part = cursor.pieces[cursor.piece].part;
  const std::size_t place = part == nullptr ? 0 : part->side << 20 | part->position;
  *id = static_cast<sqlite3_int64>(place << 40 | cursor.Row());
  return SQLITE_OK;
}

// Without xCreate a table has the name of its module and needs no statement that creates it.
const sqlite3_module kModule = [] {
  sqlite3_module module{};
  module.xConnect = Connect;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xOpen = Open;
  module.xClose = Close;
  module.xFilter = Filter;
  module.xNext = Next;
  module.xEof = Eof;
  module.xColumn = Column;
  module.xRowid = RowId;
  return module;
}();

}  // namespace

void AddVirtualTables(sqlite3* database, Job& job) {
  for (const TableInfo& table : AllTables()) {
    sqlite3_create_module_v2(database, table.name.c_str(), &kModule, new Module{&job, &table},
                             [](void* module) { delete static_cast<Module*>(module); });
    // Declares it, which an authorizer takes for writing.
    sqlite3_exec(database, ("SELECT 1 FROM " + table.name + " WHERE 0").c_str(), nullptr, nullptr,
                 nullptr);
  }
}

}  // namespace mpa::query

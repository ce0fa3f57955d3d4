// SPDX-License-Identifier: Apache-2.0
// All tables of a job as one database.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "job.h"
#include "mpa/base/text.h"
#include "mpa/io/database_writer.h"
#include "mpa/io/output_file.h"
#include "mpa/query/query.h"
#include "tables.h"

namespace mpa {
namespace query {
namespace {

std::string ColumnsFor(const TableInfo& table, bool has_sides) {
  std::string columns;
  if (table.IsOfRank()) columns = has_sides ? "side TEXT, rank, " : "rank, ";
  columns += "id INTEGER";
  for (const TableColumn& column : table.columns) columns += fmt::format(", \"{}\"", column.name);
  return columns;
}

void WriteCell(const Value& value, io::TableWriter& rows) {
  if (value.kind == Value::Kind::kInteger) rows.Put(value.integer);
  if (value.kind == Value::Kind::kReal) rows.Put(value.real);
  if (value.kind == Value::Kind::kText) rows.Put(value.text);
  if (value.kind == Value::Kind::kNull) rows.Put(std::optional<std::int64_t>());
}

void WritePiece(const Job& job, const TableInfo& table, const TablePiece& piece,
                io::TableWriter& rows) {
  for (std::size_t row = 0; row < piece.rows->Size(); ++row) {
    if (piece.part != nullptr) {
      if (job.HasSides()) rows.Put(std::string_view(job.Sides()[piece.part->side].name));
      if (piece.part->label.empty())
        rows.Put(piece.part->rank.Number());
      else
        rows.Put(std::string_view(piece.part->label));
    }
    rows.Put(row);
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      WriteCell(piece.rows->At(row, static_cast<int>(i)), rows);
    rows.EndRow();
  }
}

// What statements look for: rows by time, and those that belong to one of another table.
void AddIndices(const TableInfo& table, io::DatabaseWriter& database) {
  const auto add = [&](const std::string& column) {
    database.CreateIndex(fmt::format("{}_by_{}", table.name, column), table.name,
                         table.IsOfRank() ? "rank, " + column : column);
  };
  if (table.time >= 0) add(table.columns[static_cast<std::size_t>(table.time)].name);
  for (const TableColumn& column : table.columns) {
    if (IsOneOf(column.name, {"launch", "op", "kernel", "comm", "device_task", "parent"}))
      add(column.name);
  }
}

}  // namespace
}  // namespace query

void QueryJob::Export(const std::filesystem::path& file) {
  mpa::Tables needs{};
  for (const query::TableInfo& table : query::AllTables()) {
    needs = needs | table.needs;
    for (const query::TableColumn& column : table.columns) needs = needs | column.needs;
  }
  job_->NameRanks(std::nullopt);
  job_->Load(needs);
  io::OutputFile output(file);
  {
    io::DatabaseWriter database(output.temporary_path());
    for (const query::TableInfo& table : query::AllTables()) {
      if (table.HasOwnId()) continue;  // texts are where they belong
      const auto& pieces = job_->PiecesOf(table);
      bool has_rows = false;
      for (const query::TablePiece& piece : pieces) has_rows = has_rows || piece.rows->Size() > 0;
      if (!has_rows) continue;
      database.WriteTable(table.name, query::ColumnsFor(table, job_->HasSides()),
                          [&](io::TableWriter& rows) {
                            for (const query::TablePiece& piece : pieces)
                              query::WritePiece(*job_, table, piece, rows);
                          });
      query::AddIndices(table, database);
    }
    database.Finish();
  }
  output.Replace(file);
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Sheets as tables of a database.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "mpa/io/sqlite.h"
#include "mpa/writers/writers.h"
#include "support/failures.h"
#include "support/files.h"

namespace mpa {
namespace {

using Texts = std::vector<std::string>;

Sheet Table(const std::string& name, std::vector<Row> rows) {
  Sheet table;
  table.name = name;
  table.columns = {{.name = "module", .format = Format::kText},
                   {.name = "total(ns)", .format = Format::kDecimals2},
                   {.name = "count", .format = Format::kInteger}};
  table.rows = std::move(rows);
  return table;
}

Texts Query(const std::filesystem::path& path, const std::string& sql) {
  const io::Database database(path);
  io::Statement rows = database.Query(sql);
  Texts texts;
  while (rows.Step()) texts.emplace_back(rows.Text(0));
  return texts;
}

class DatabaseWriterTest : public ::testing::Test {
 protected:
  const test::TempDir dir_;
  const std::filesystem::path path_ = dir_ / "results.db";
};

TEST_F(DatabaseWriterTest, KeepsNamesTypesAndOrderOfRows) {
  WriteDatabase(
      {Table("Modules", {{{"b", 2.5, std::int64_t{7}}}, {{"a", 1.0, std::int64_t{1} << 60}}})},
      path_);
  EXPECT_EQ(
      Query(path_, "SELECT group_concat(name || ' ' || type) FROM pragma_table_info('Modules')"),
      Texts{"module TEXT,total(ns) REAL,count INTEGER"});
  EXPECT_EQ(Query(path_, "SELECT module || ' ' || \"total(ns)\" || ' ' || count FROM Modules"),
            (Texts{"b 2.5 7", "a 1.0 1152921504606846976"}));
}

TEST_F(DatabaseWriterTest, WritesBlanksAndWhatIsNoNumberAsNull) {
  WriteDatabase({Table("T", {{{Cell(), std::numeric_limits<double>::quiet_NaN(), Cell()}}})},
                path_);
  EXPECT_EQ(Query(path_,
                  "SELECT count(*) FROM T WHERE module IS NULL AND \"total(ns)\" IS NULL"
                  " AND count IS NULL"),
            Texts{"1"});
}

TEST_F(DatabaseWriterTest, KeepsTheDecimalsOfItsColumns) {
  Sheet table = Table("T", {{{"a", 2.155, std::int64_t{1}}}});
  table.columns[1].decimals = 2;
  WriteDatabase({table}, path_);
  EXPECT_EQ(Query(path_, "SELECT \"total(ns)\" FROM T"), Texts{"2.16"});
}

TEST_F(DatabaseWriterTest, ReplacesItsOwnTablesAndNoOthers) {
  WriteDatabase({Table("Own", {{{"old", 1.0, std::int64_t{1}}}}),
                 Table("Other", {{{"other", 1.0, std::int64_t{1}}}})},
                path_);
  WriteDatabase({Table("Own", {{{"new", 1.0, std::int64_t{1}}}})}, path_);
  EXPECT_EQ(Query(path_, "SELECT module FROM Own"), Texts{"new"});
  EXPECT_EQ(Query(path_, "SELECT module FROM Other"), Texts{"other"});
}

TEST_F(DatabaseWriterTest, TakesNamesThatWouldBeSql) {
  WriteDatabase({Table("a\"; DROP TABLE b; --", {{{"x'); --", 1.0, std::int64_t{1}}}})}, path_);
  EXPECT_EQ(Query(path_, R"(SELECT module FROM "a""; DROP TABLE b; --")"), Texts{"x'); --"});
}

TEST_F(DatabaseWriterTest, LeavesAFileAloneThatIsNoDatabase) {
  dir_.Write("results.db", std::string(5000, 'x'));
  const Error error = test::ErrorOf([&] { WriteDatabase({Table("T", {})}, path_); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutput);
  EXPECT_HAS_TEXT(error.what(), "results.db");
  EXPECT_EQ(std::filesystem::file_size(path_), 5000u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path_.parent_path()),
                          std::filesystem::directory_iterator()),
            1)
      << "a temporary file is left";
}

}  // namespace
}  // namespace mpa

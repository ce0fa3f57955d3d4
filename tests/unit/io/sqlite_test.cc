// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/sqlite.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <string>

#include "support/failures.h"
#include "support/files.h"

namespace mpa::io {
namespace {

using test::BuildDatabase;
using test::ErrorOf;
using test::TempDir;

TEST(Database, ReadsWholeNumbersOfAnyStorageClass) {
  const TempDir dir;
  const Database database(BuildDatabase(dir / "a.db", R"(
      CREATE TABLE t (v);
      INSERT INTO t VALUES (1736412474721331650), ('1736412474721331650'), (' 12 '), (7.0),
                           (1736412474721331456.0), ('N/A'), (''), (NULL), (x'0102');)"));
  Statement rows = database.Query("SELECT v FROM t ORDER BY rowid");
  const auto next = [&] {
    EXPECT_TRUE(rows.Step());
    return rows.Int(0);
  };
  EXPECT_EQ(next(), 1736412474721331650);
  EXPECT_EQ(next(), 1736412474721331650);
  EXPECT_EQ(next(), 12);
  EXPECT_EQ(next(), 7);
  EXPECT_EQ(next(), 1736412474721331456);  // a multiple of 256: a double holds it exactly
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_FALSE(rows.Step());
}

TEST(Database, ReadsNoNumberFromARealThatFitsNone) {
  const TempDir dir;
  const Database database(BuildDatabase(
      dir / "a.db", "CREATE TABLE t (v); INSERT INTO t VALUES (1e300), (-1e300), (9e999);"));
  Statement rows = database.Query("SELECT v FROM t");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(rows.Step());
    EXPECT_EQ(rows.IntOr(0, -1), -1);
  }
}

TEST(Database, TellsNullFromEmptyText) {
  const TempDir dir;
  const Database database(
      BuildDatabase(dir / "a.db", "CREATE TABLE t (a, b); INSERT INTO t VALUES (NULL, '');"));
  Statement rows = database.Query("SELECT a, b FROM t");
  ASSERT_TRUE(rows.Step());
  EXPECT_TRUE(rows.IsNull(0));
  EXPECT_EQ(rows.Text(0), "");
  EXPECT_FALSE(rows.IsNull(1));
  EXPECT_EQ(rows.IntOr(0, 42), 42);
}

TEST(Database, RunsAQueryAgainWithAnotherParameter) {
  const TempDir dir;
  const Database database(BuildDatabase(
      dir / "a.db", "CREATE TABLE t (id, v); INSERT INTO t VALUES (1, 'one'), (2, 'two');"));
  Statement query = database.Query("SELECT v FROM t WHERE id = ?");
  query.Restart(2);
  ASSERT_TRUE(query.Step());
  EXPECT_EQ(query.Text(0), "two");
  query.Restart(1);
  ASSERT_TRUE(query.Step());
  EXPECT_EQ(query.Text(0), "one");
  query.Restart(3);
  EXPECT_FALSE(query.Step());
}

TEST(Database, TellsAboutHowManyRowsATableHas) {
  const TempDir dir;
  const Database database(BuildDatabase(
      dir / "a.db",
      "CREATE TABLE none (id INTEGER PRIMARY KEY, v);"
      "CREATE TABLE apart (id PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO apart VALUES (1, 2);"
      "CREATE TABLE gaps (id INTEGER PRIMARY KEY, v);"
      "WITH RECURSIVE row(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM row WHERE i < 19999)"
      " INSERT INTO gaps SELECT 1000000000000 + i * 700, 12345678 FROM row;"
      "CREATE TABLE wide (id INTEGER PRIMARY KEY);"
      "INSERT INTO wide VALUES (-9223372036854775808), (9223372036854775807);"));
  EXPECT_EQ(database.ApproximateRows("missing"), 0u);
  EXPECT_EQ(database.ApproximateRows("none"), 0u);
  EXPECT_EQ(database.ApproximateRows("apart"), 0u);
  EXPECT_EQ(database.ApproximateRows("gaps"), 20000u);
  EXPECT_LE(database.ApproximateRows("wide"), 100000u);
}

TEST(Database, ScansInOrderOfTheRowsAlsoWhereAnIndexHoldsTheColumns) {
  const TempDir dir;
  const Database database(BuildDatabase(dir / "a.db",
                                        "CREATE TABLE t (a, b); CREATE INDEX i ON t (a, b);"
                                        "INSERT INTO t VALUES (3, 'c'), (1, NULL), ('2', 'b');"));
  std::string seen;
  database.Scan("a, b", "t NOT INDEXED", [&](const Row& row) {
    seen += fmt::format("{}{} ", row.IntOr(0, -1), row.IsNull(1) ? "-" : row.Text(1));
  });
  EXPECT_EQ(seen, "3c 1- 2b ");
}

TEST(Database, ScansWithinAScan) {
  const TempDir dir;
  const Database database(
      BuildDatabase(dir / "a.db", "CREATE TABLE t (v); INSERT INTO t VALUES (1), (2);"));
  std::string seen;
  database.Scan("v", "t", [&](const Row& outer) {
    database.Scan("v", "t", [&](const Row& inner) {
      seen += fmt::format("{}{} ", outer.IntOr(0, -1), inner.IntOr(0, -1));
    });
  });
  EXPECT_EQ(seen, "11 12 21 22 ");
}

TEST(Database, JoinsInTheOrderOfTheLeftRows) {
  const TempDir dir;
  const Database database(
      BuildDatabase(dir / "a.db",
                    "CREATE TABLE l (id INTEGER, v); CREATE TABLE r (id INTEGER, w, x);"
                    "INSERT INTO l VALUES (7, 'text'), (NULL, 0), (5, '31'), (6, NULL), (7, 2.6);"
                    "INSERT INTO r VALUES (9, 0, 0), (7, '12', NULL), (5, 1, 'name'), (7, 3.4, 4),"
                    " (NULL, 8, 8);"));
  std::vector<std::string> rows;
  const auto show = [](const Row& row, int column) {
    if (row.IsNull(column)) return std::string("-");
    const auto number = row.Int(column);
    EXPECT_EQ(row.RealOr(column, -0.5), number ? static_cast<double>(*number) : -0.5);
    return number ? std::to_string(*number) : "no number";
  };
  KeyedRows right = database.KeepByKey("id", {"w", "x"}, "r");
  right.Join(database.Keep({"v", "id"}, "l"), database.name(), [&](const Row& row) {
    rows.push_back(show(row, 0) + " " + show(row, 2) + " " + show(row, 3));
  });
  EXPECT_EQ(right.Count(), 5u);
  EXPECT_EQ(rows, (std::vector<std::string>{"no number 12 -", "no number 3 4", "31 1 no number",
                                            "3 12 -", "3 3 4"}));
}

TEST(Database, RefusesAJoinByIdsThatOccurFarTooOften) {
  const TempDir dir;
  const Database database(BuildDatabase(
      dir / "a.db",
      "CREATE TABLE t (id INTEGER);"
      "WITH RECURSIVE row(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM row WHERE i < 1999)"
      " INSERT INTO t SELECT 1 FROM row;"));
  KeyedRows right = database.KeepByKey("id", {"id"}, "t");
  const Error error =
      ErrorOf([&] { right.Join(database.Keep({"id"}, "t"), database.name(), [](const Row&) {}); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "unique");
}

TEST(Database, PassesOnWhatTheVisitorOfAScanThrows) {
  const TempDir dir;
  const Database database(
      BuildDatabase(dir / "a.db", "CREATE TABLE t (v); INSERT INTO t VALUES (1), (2), (3);"));
  int rows = 0;
  const Error error = ErrorOf([&] {
    database.Scan("v", "t", [&](const Row&) {
      if (++rows == 2) Fail(ErrorKind::kInput, "enough");
    });
  });
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_STREQ(error.what(), "enough");
}

TEST(Database, KnowsItsTablesColumnsAndKeys) {
  const TempDir dir;
  const Database database(BuildDatabase(
      dir / "a.db",
      "CREATE TABLE keyed (id INTEGER PRIMARY KEY, v); CREATE TABLE plain (id INTEGER);"));
  EXPECT_TRUE(database.HasTable("keyed"));
  EXPECT_FALSE(database.HasTable("missing"));
  EXPECT_TRUE(database.HasColumn("keyed", "v"));
  EXPECT_FALSE(database.HasColumn("keyed", "w"));
  EXPECT_FALSE(database.HasColumn("missing", "v"));
  EXPECT_TRUE(database.IsPrimaryKey("keyed", "id"));
  EXPECT_FALSE(database.IsPrimaryKey("keyed", "v"));
  EXPECT_FALSE(database.IsPrimaryKey("plain", "id"));
}

TEST(Database, NamesItselfAndTheColumnThatIsMissing) {
  const TempDir dir;
  const Database database(BuildDatabase(dir / "a.db", "CREATE TABLE t (v);"));
  const Error error = ErrorOf([&] { database.Query("SELECT streamId FROM t"); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "a.db: t: no such column: streamId");
}

TEST(Database, RefusesAFileThatIsNoDatabase) {
  const TempDir dir;
  const auto path = dir.Write("a.db", std::string(5000, 'x'));
  const Error error = ErrorOf([&] { Database database(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "a.db");
}

// SQLite says of such a file that memory ran out.
TEST(Database, RefusesASchemaWithARowOfImpossibleSize) {
  std::string page = std::string("SQLite format 3\0\x02\0\0\0\0\x40\x20\x20", 24);
  page.resize(512);
  page.replace(0x64, 10, std::string("\x0d\0\0\0\x01\0\0\0\x01\x67", 10));  // one row, at 0x167
  page.replace(0x167, 12, std::string(12, '\xff'));
  page[0x174] = ' ';
  page[0x179] = 'F';
  const TempDir dir;
  const auto path = dir.Write("a.db", page);
  const Error error = ErrorOf([&] { Database database(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "a.db: the database is damaged");
}

TEST(Database, RefusesAFileThatIsNotThereAndCreatesNone) {
  const TempDir dir;
  const Error error = ErrorOf([&] { Database database(dir / "a.db"); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "a.db");
  EXPECT_TRUE(dir.Names().empty());
}

TEST(Database, NoticesThatTheFileBreaksOff) {
  const TempDir dir;
  const auto path = BuildDatabase(dir / "a.db", R"(
      CREATE TABLE t (v);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO t SELECT 'a text of some length ' || i FROM n;)");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2 / 4096 * 4096);
  const Error error = ErrorOf([&] {
    const Database database(path);
    Statement rows = database.Query("SELECT v FROM t");
    while (rows.Step()) {
    }
  });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "a.db");
  const Error scanned = ErrorOf([&] { Database(path).Scan("v", "t", [](const Row&) {}); });
  EXPECT_EQ(scanned.kind(), ErrorKind::kCorrupt);
  EXPECT_STREQ(scanned.what(), error.what());
}

TEST(Database, OpensPathsWithCharactersThatMeanSomethingInAUri) {
  const TempDir dir;
  const Database database(BuildDatabase(dir / "50%20?mode=x#y/a b.db",
                                        "CREATE TABLE t (v); INSERT INTO t VALUES (3);"));
  Statement rows = database.Query("SELECT v FROM t");
  ASSERT_TRUE(rows.Step());
  EXPECT_EQ(rows.Int(0), 3);
}

TEST(Database, LeavesNoFilesBesideADatabaseInWalMode) {
  const TempDir dir;
  const auto path = BuildDatabase(
      dir / "a.db", "PRAGMA journal_mode = WAL; CREATE TABLE t (v); INSERT INTO t VALUES (3);");
  const std::string before = test::ReadAll(path);
  ASSERT_EQ(dir.Names(), std::vector<std::string>{"a.db"});
  {
    const Database database(path);
    Statement rows = database.Query("SELECT v FROM t");
    ASSERT_TRUE(rows.Step());
    EXPECT_EQ(rows.Int(0), 3);
    EXPECT_EQ(dir.Names(), std::vector<std::string>{"a.db"});
  }
  EXPECT_EQ(dir.Names(), std::vector<std::string>{"a.db"});
  EXPECT_EQ(test::ReadAll(path), before);
}

TEST(Database, SeesTheWritesInTheWalAndLeavesItAlone) {
  const TempDir dir;
  const auto path = BuildDatabase(dir / "a.db", "PRAGMA journal_mode = WAL; CREATE TABLE t (v);");
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer, "INSERT INTO t VALUES (3)", nullptr, nullptr, nullptr), SQLITE_OK);
  // As a copy of a running capture has it: without the -shm file.
  const TempDir copy;
  for (const char* name : {"a.db", "a.db-wal"}) copy.Write(name, test::ReadAll(dir / name));
  sqlite3_close(writer);
  const auto files = [&] {
    return std::pair(copy.Names(), test::ReadAll(copy / "a.db") + test::ReadAll(copy / "a.db-wal"));
  };
  const auto before = files();
  {
    const Database database(copy / "a.db");
    Statement rows = database.Query("SELECT v FROM t");
    ASSERT_TRUE(rows.Step());
    EXPECT_EQ(rows.Int(0), 3);
    EXPECT_EQ(files(), before);
  }
  EXPECT_EQ(files(), before);
}

TEST(Database, RefusesAWriteThatWasInterrupted) {
  const TempDir dir;
  const auto path = BuildDatabase(dir / "a.db", "CREATE TABLE t (v);");
  std::string journal = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  journal.resize(512, 'x');
  dir.Write("a.db-journal", journal);
  const Error error = ErrorOf([&] { Database database(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "a.db-journal");
  dir.Write("a.db-journal", std::string(512, '\0'));  // of a write that was completed
  EXPECT_FALSE(Database(path).HasTable("u"));
}

TEST(Database, RefusesWhatIsNoFileWithoutHanging) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "pipe.db").c_str(), 0600), 0);
  std::filesystem::create_directory(dir / "directory.db");
  for (const char* name : {"pipe.db", "directory.db"}) {
    EXPECT_HAS_TEXT(ErrorOf([&] { Database database(dir / name); }).what(), "not a regular file");
  }
  const auto empty = dir.Write("empty.db", "");
  EXPECT_HAS_TEXT(ErrorOf([&] { const Database database(empty); }).what(), "the file is empty");
}

TEST(Database, RefusesViews) {
  const TempDir dir;
  const Database database(BuildDatabase(dir / "a.db", R"(
      CREATE VIEW TASK AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
      SELECT i AS startNs FROM n;)"));
  const Error error = ErrorOf([&] { database.HasTable("TASK"); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "a.db: TASK is a view");
  const auto read = [&] { database.Scan("startNs", "TASK", [](const Row&) {}); };
  EXPECT_HAS_TEXT(ErrorOf(read).what(), "TASK");
}

TEST(Database, RefusesVirtualTablesAndGeneratedColumns) {
  const TempDir dir;
  const Database database(BuildDatabase(dir / "a.db", R"(
      CREATE VIRTUAL TABLE TASK USING fts5(startNs);
      CREATE TABLE STRING_IDS (id INTEGER, value TEXT AS (hex(zeroblob(30000000))));
      CREATE TABLE STEP_TIME (id INTEGER, startNs AS (id + 1) STORED);
      INSERT INTO STRING_IDS VALUES (1); INSERT INTO STEP_TIME VALUES (1);)"));
  const Error error = ErrorOf([&] { database.HasTable("TASK"); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "a.db: TASK is a virtual table");
  for (const char* table : {"STRING_IDS", "STEP_TIME"}) {
    const std::string expected = fmt::format("{} has generated columns", table);
    EXPECT_HAS_TEXT(ErrorOf([&] { database.HasTable(table); }).what(), expected);
  }
}

TEST(Database, RefusesThemAlsoWhereNobodyAskedForTheTable) {
  const TempDir dir;
  const Database database(BuildDatabase(dir / "a.db", R"(
      CREATE VIRTUAL TABLE TASK USING rtree(id, lowest, highest);
      CREATE TABLE STRING_IDS (id INTEGER, value TEXT AS (hex(zeroblob(30000000))));
      INSERT INTO STRING_IDS VALUES (1);)"));
  EXPECT_HAS_TEXT(ErrorOf([&] { database.Query("SELECT value FROM string_ids"); }).what(),
                  "STRING_IDS has generated columns");
  EXPECT_HAS_TEXT(ErrorOf([&] { database.Scan("id", "TASK", [](const Row&) {}); }).what(), "TASK");
}

TEST(Database, LeavesTriggersAndWhatIsNotReadAlone) {
  const TempDir dir;
  const Database database(BuildDatabase(dir / "a.db", R"(
      CREATE TABLE TASK (startNs INTEGER);
      CREATE VIEW ENDLESS AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
      SELECT i FROM n;
      CREATE TABLE OTHER (id INTEGER, value TEXT AS (hex(zeroblob(30000000))));
      INSERT INTO OTHER VALUES (1); INSERT INTO TASK VALUES (5);
      CREATE TRIGGER again AFTER INSERT ON TASK BEGIN INSERT INTO TASK SELECT i FROM ENDLESS; END;
      )"));
  std::int64_t rows = 0;
  database.Scan("startNs", "TASK", [&](const Row& row) { rows += row.IntOr(0, 0); });
  EXPECT_EQ(rows, 5);
}

TEST(Database, RefusesASchemaOfThousandsOfViewsWithoutParsingItWhole) {
  const TempDir dir;
  const auto path = BuildDatabase(dir / "a.db", R"(
      CREATE TABLE TASK (id);
      PRAGMA writable_schema = 1;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)
      SELECT 'view', 'v' || i, 'v' || i, 0, 'CREATE VIEW v' || i || ' AS SELECT 1' FROM n;)");
  const Error error = ErrorOf([&] { const Database database(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "a.db: the schema has thousands of tables");
}

TEST(Database, EndsJoinsThatGiveFarMoreRowsThanThereAre) {
  const TempDir dir;
  const Database database(BuildDatabase(dir / "a.db", R"(
      CREATE TABLE t (id INTEGER);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO t SELECT 7 FROM n;)"));
  const Error error = ErrorOf(
      [&] { database.Scan("a.id", "t a CROSS JOIN t b ON b.id = a.id", [](const Row&) {}); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "a.db: ");
  EXPECT_HAS_TEXT(error.what(), "ids that must be unique");
  std::size_t rows = 0;  // the database can be used all the same
  database.Scan("id", "t", [&](const Row&) { ++rows; });
  EXPECT_EQ(rows, 20000u);
}

}  // namespace
}  // namespace mpa::io

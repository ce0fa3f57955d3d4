// SPDX-License-Identifier: Apache-2.0
// Profiler databases that are well formed, with cells that nobody expects: NULL, other types,
// extreme numbers, ids that occur twice.
#include <fmt/format.h>
#include <sqlite3.h>

#include <string>
#include <vector>

#include "fuzz/analysed_rank.h"
#include "fuzz/fuzzing.h"
#include "fuzz/input_bytes.h"
#include "support/files.h"
#include "support/reading.h"

namespace mpa::test {
namespace {

constexpr const char* kName = "ascend_pytorch_profiler.db";

// An open database; statements that it refuses change nothing.
class Editor {
 public:
  explicit Editor(const std::filesystem::path& path) {
    if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) Die("cannot open the database");
    Run("PRAGMA journal_mode = OFF");
    Run("PRAGMA synchronous = OFF");
  }
  ~Editor() { sqlite3_close(database_); }
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  void Run(const std::string& sql) const {
    sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  }

  std::vector<std::string> Texts(const std::string& sql) const {
    std::vector<std::string> texts;
    sqlite3_stmt* rows = nullptr;
    sqlite3_prepare_v2(database_, sql.c_str(), -1, &rows, nullptr);
    while (sqlite3_step(rows) == SQLITE_ROW) {
      texts.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(rows, 0)));
    }
    sqlite3_finalize(rows);
    return texts;
  }

 private:
  sqlite3* database_ = nullptr;
};

// A value as SQL.
std::string Value(Bytes& input) {
  switch (input.Byte() % 8) {
    case 0:
      return "NULL";
    case 1:
      return fmt::format("{}", input.Byte());
    case 2:
      return fmt::format("{}", input.Int64());
    case 3:
      return fmt::format("{}e{}", input.Byte(), input.Byte());
    case 4:
      return "9223372036854775807";
    case 5:
      return "-9223372036854775807 - 1";
    case 6:
      return fmt::format("{}", 1'000'000'000'000 + input.Byte());
    default: {
      std::string hex = "CAST(x'";
      for (const char c : input.Text()) hex += fmt::format("{:02X}", static_cast<unsigned char>(c));
      return hex + "' AS TEXT)";
    }
  }
}

// Counters beside the work of the twin.
constexpr const char* kCounterTables = R"(
CREATE TABLE HBM (deviceId INTEGER, timestampNs INTEGER, bandwidth NUMERIC, hbmId INTEGER,
    type INTEGER);
CREATE TABLE ROCE (deviceId INTEGER, timestampNs INTEGER, bandwidth INTEGER, rxPacketRate NUMERIC,
    rxByteRate NUMERIC, rxPackets INTEGER, rxBytes INTEGER, rxErrors INTEGER, rxDropped INTEGER,
    txPacketRate NUMERIC, txByteRate NUMERIC, txPackets INTEGER, txBytes INTEGER, txErrors INTEGER,
    txDropped INTEGER, funcId INTEGER);
CREATE TABLE NPU_MODULE_MEM (moduleId INTEGER, timestampNs INTEGER, totalReserved NUMERIC,
    deviceId INTEGER);
CREATE TABLE CPU_USAGE (timestampNs NUMERIC, cpuId NUMERIC, usage NUMERIC);
INSERT INTO STRING_IDS VALUES (90001, 'read'), (90002, 'write');
INSERT INTO HBM VALUES (0, 1700000000100000000, 5, 0, 90001),
    (0, 1700000000200000000, 7, 0, 90001), (0, 1700000000200000000, 9, 1, 90002);
INSERT INTO ROCE VALUES (0, 1700000000100000000, 800, 1, 20, 5, 6, 0, 0, 1, 2, 3, 4, 5, 6, 0),
    (0, 1700000000200000000, 800, 1, 30, 8, 9, 1, 2, 1, 2, 3, 4, 5, 6, 0);
INSERT INTO NPU_MODULE_MEM VALUES (3, 1700000000100000000, 5, 0), (3, 1700000000200000000, 6, 0);
INSERT INTO CPU_USAGE VALUES (1700000000100000000, 0, 5.5), (1700000000200000000, 0, 6);
)";

// The same tables with and without keys: only keys keep ids apart.
std::string WithoutKeys(const std::filesystem::path& path) {
  const Editor editor(path);
  for (const std::string& table : editor.Texts("SELECT name FROM sqlite_master")) {
    editor.Run(fmt::format("CREATE TABLE copy AS SELECT * FROM {}", table));
    editor.Run(fmt::format("DROP TABLE {}", table));
    editor.Run(fmt::format("ALTER TABLE copy RENAME TO {}", table));
  }
  return ReadAll(path);
}

struct Sample {
  std::string content;
  std::vector<std::string> tables;
  std::vector<std::vector<std::string>> columns;
};

Sample MakeSample(std::string content, const Scratch& scratch) {
  Sample sample{std::move(content), {}, {}};
  const Editor editor(scratch.Write("sample.db", sample.content));
  sample.tables = editor.Texts("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  for (const std::string& table : sample.tables) {
    sample.columns.push_back(
        editor.Texts(fmt::format("SELECT name FROM pragma_table_info('{}')", table)));
  }
  return sample;
}

void Edit(const Sample& sample, Bytes& input, const Editor& editor) {
  const std::size_t table = input.Byte() % sample.tables.size();
  const std::string& name = sample.tables[table];
  const auto& columns = sample.columns[table];
  const std::string& column = columns[input.Byte() % columns.size()];
  const int row = 1 + input.Byte() % 64;
  switch (input.Byte() % 8) {
    case 0:
      editor.Run(fmt::format("INSERT INTO {0} SELECT * FROM {0} WHERE rowid = {1}", name, row));
      break;
    case 1:
      editor.Run(fmt::format("UPDATE {} SET {} = {}", name, column, Value(input)));
      break;
    case 2:
      editor.Run(fmt::format("DELETE FROM {} WHERE rowid > {}", name, row));
      break;
    case 3:
      editor.Run(fmt::format("ALTER TABLE {} DROP COLUMN {}", name, column));
      break;
    default:
      editor.Run(
          fmt::format("UPDATE {} SET {} = {} WHERE rowid = {}", name, column, Value(input), row));
  }
}

}  // namespace

std::vector<Target> Targets() {
  static const Scratch scratch;
  std::vector<Target> targets;
  const TempDir directory;
  for (const std::string capture : {"twin_db_base_ascend_pt.sql", "db_base_ascend_pt.sql",
                                    "head_hard_ascend_pt.sql", "counters"}) {
    const auto path = BuildDatabase(directory / capture,
                                    capture == "counters"
                                        ? Captured("twin_db_base_ascend_pt.sql") + kCounterTables
                                        : Captured(capture));
    for (const std::string& content : {ReadAll(path), WithoutKeys(path)}) {
      const auto edit = [sample = MakeSample(content, scratch)](std::string_view text) {
        const auto file = scratch.Write(kName, sample.content);
        Bytes input(text);
        {
          const Editor editor(file);
          constexpr int kMaxEdits = 64;
          for (int i = 0; i < kMaxEdits && !input.empty(); ++i) Edit(sample, input, editor);
        }
        RankTrace trace;
        if (Try(kName, [&] { ReadInto(trace, FileKind::kProfilerDb, file); })) {
          AnalyseRank(trace, static_cast<unsigned>(text.size()));
        }
      };
      const std::string every_table =
          "\x01\x01\x02\x04\x04\x05\x02\x03\x04\x05\x09\x01\x02\x01\x04";
      targets.push_back({capture, {std::string(), every_table, every_table + every_table}, edit});
    }
  }
  return targets;
}

}  // namespace mpa::test

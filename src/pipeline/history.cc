// SPDX-License-Identifier: Apache-2.0
// The file in which gates keep their runs.
#include "mpa/pipeline/history.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/gate/comparable.h"
#include "mpa/io/json_document.h"
#include "mpa/io/shared_database.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;
using Access = io::SharedDatabase::Access;

constexpr std::int64_t kApplication = 0x6d70'6168;  // "mpah", in the header of the file
constexpr std::int64_t kVersion = 1;
// What later gates judge by is large, and is kept of as many runs as a side may have.
constexpr std::size_t kKept = 50;
// As in baselines: beyond it differences would overflow.
constexpr std::int64_t kMost = std::int64_t{1} << 50;

constexpr const char* kTables[] = {
    "CREATE TABLE run (id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, label TEXT NOT NULL,"
    " verdict TEXT NOT NULL, exit_code INTEGER NOT NULL, tool_version TEXT NOT NULL,"
    " captures TEXT)",
    "CREATE TABLE run_metric (run INTEGER NOT NULL REFERENCES run(id), metric TEXT NOT NULL,"
    " unit TEXT NOT NULL, median INTEGER NOT NULL, noise INTEGER NOT NULL, verdict TEXT NOT NULL,"
    " allowed TEXT NOT NULL, PRIMARY KEY (run, metric)) WITHOUT ROWID",
    "CREATE TABLE run_sample (run INTEGER NOT NULL REFERENCES run(id), capture INTEGER NOT NULL,"
    " metric TEXT NOT NULL, sample INTEGER NOT NULL, value INTEGER NOT NULL,"
    " PRIMARY KEY (run, metric, capture, sample)) WITHOUT ROWID",
    "PRAGMA application_id = 1836081512",
    "PRAGMA user_version = 1",
};

void CheckKind(io::SharedDatabase& database, const fs::path& path) {
  if (database.Number("PRAGMA application_id") != kApplication)
    Fail(ErrorKind::kCorrupt,
         "{}: a database, but no history of gates; give another file (compare --history)",
         path.string());
  if (const std::int64_t version = database.Number("PRAGMA user_version"); version > kVersion)
    Fail(ErrorKind::kCorrupt, "{}: a newer version of the program wrote it; use that",
         path.string());
}

bool IsEmpty(io::SharedDatabase& database) {
  return database.Number("SELECT count(*) FROM sqlite_master") == 0 &&
         database.Number("PRAGMA application_id") == 0;
}

void AddSamples(io::SharedDatabase& database, std::int64_t run,
                const std::vector<gate::RunSummary>& captures) {
  for (std::size_t capture = 0; capture < captures.size(); ++capture) {
    for (const auto& [metric, values] : captures[capture].samples) {
      if (gate::IsRequest(metric.kind)) continue;  // as many as there are requests
      const std::string name = gate::NameOf(metric);
      for (std::size_t i = 0; i < values.size(); ++i) {
        database.Run("INSERT INTO run_sample VALUES (?, ?, ?, ?, ?)",
                     {run, static_cast<std::int64_t>(capture), name, static_cast<std::int64_t>(i),
                      values[i]});
      }
    }
  }
}

Quantity QuantityNamed(std::string_view unit) {
  for (const Quantity quantity : {Quantity::kTime, Quantity::kBytes})
    if (ProgramUnit(quantity) == unit) return quantity;
  return Quantity::kCount;
}

std::int64_t AmountIn(const io::Row& row, int column, const fs::path& path) {
  const std::int64_t amount = row.IntOr(column, -1);
  if (amount >= 0 && amount <= kMost) return amount;
  Fail(ErrorKind::kCorrupt, "{}: '{}' in run_metric is no time, size or count", path.string(),
       row.Text(column));
}

}  // namespace

bool IsHistoryFile(const fs::path& path) {
  constexpr std::size_t kHeader = 72, kId = 68;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  std::array<unsigned char, kHeader> header{};
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  const bool is_whole = std::fread(header.data(), 1, kHeader, file) == kHeader;
  (void)std::fclose(file);
  std::int64_t id = 0;
  for (std::size_t i = kId; i < kHeader; ++i) id = id * 256 + header[i];
  return is_whole && id == kApplication;
}

void CheckHistory(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  io::SharedDatabase database(path, Access::kAppend);
  if (!IsEmpty(database)) CheckKind(database, path);
}

void AddToHistory(const gate::HistoryRun& run, const gate::Baseline& captures,
                  const fs::path& path) {
  io::SharedDatabase database(path, Access::kAppend);
  if (IsEmpty(database)) {
    for (const char* table : kTables) database.Run(table);
  }
  CheckKind(database, path);
  const std::int64_t id = database.Number("SELECT coalesce(max(id), 0) + 1 FROM run");
  database.Run("INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, NULL)",
               {id, run.time, run.label, run.verdict, run.exit_code, run.tool_version});
  if (run.exit_code == 0) {
    using nlohmann::json;  // names of captures need not be UTF-8
    const std::string text =
        gate::BaselineToJson(captures).dump(-1, ' ', false, json::error_handler_t::replace);
    database.Run("UPDATE run SET captures = ? WHERE id = ?", {text, id});
    database.Run("UPDATE run SET captures = NULL WHERE id <= ?",
                 {id - static_cast<std::int64_t>(kKept)});
  }
  for (const gate::HistoryRun::Value& value : run.values) {
    database.Run("INSERT INTO run_metric VALUES (?, ?, ?, ?, ?, ?, ?)",
                 {id, value.metric, ProgramUnit(value.quantity), value.median, value.noise,
                  value.verdict, value.limit});
  }
  AddSamples(database, id, captures.runs);
  database.Commit();
}

std::vector<gate::HistoryRun> ReadHistory(const fs::path& path, std::size_t newest) {
  if (!fs::exists(path))
    Fail(ErrorKind::kInput, "{}: no such file; 'msprof-analyze compare --history FILE' makes one",
         path.string());
  io::SharedDatabase database(path, Access::kRead);
  CheckKind(database, path);
  std::vector<gate::HistoryRun> runs;
  const auto count = static_cast<std::int64_t>(newest);
  database.Run(
      "SELECT * FROM (SELECT id, time_ns, label, verdict, exit_code, tool_version FROM run"
      " ORDER BY id DESC LIMIT ?) ORDER BY id",
      {count}, [&](const io::Row& row) {
        runs.push_back({.id = row.IntOr(0, 0),
                        .time = row.IntOr(1, 0),
                        .label = std::string(row.Text(2)),
                        .verdict = std::string(row.Text(3)),
                        .tool_version = std::string(row.Text(5)),
                        .exit_code = row.IntOr(4, 0)});
      });
  if (runs.empty()) Fail(ErrorKind::kInput, "{}: no run is in it", path.string());
  database.Run(
      "SELECT run, metric, unit, median, noise, verdict, allowed FROM run_metric WHERE run >= ?"
      " ORDER BY run, metric",
      {runs.front().id}, [&](const io::Row& row) {
        const std::int64_t id = row.IntOr(0, 0);
        const auto run = std::ranges::lower_bound(runs, id, {}, &gate::HistoryRun::id);
        if (run == runs.end() || run->id != id) return;
        run->values.push_back({.metric = std::string(row.Text(1)),
                               .quantity = QuantityNamed(row.Text(2)),
                               .median = AmountIn(row, 3, path),
                               .noise = AmountIn(row, 4, path),
                               .verdict = std::string(row.Text(5)),
                               .limit = std::string(row.Text(6))});
      });
  return runs;
}

gate::Baseline BaseOfHistory(const fs::path& path, std::size_t runs) {
  io::SharedDatabase database(path, Access::kRead);
  CheckKind(database, path);
  gate::Baseline base;
  bool is_done = false;
  database.Run(
      "SELECT captures FROM run WHERE captures IS NOT NULL ORDER BY id DESC LIMIT ?",
      {static_cast<std::int64_t>(runs)}, [&](const io::Row& row) {
        if (is_done) return;
        gate::Baseline one = InContext(
            path.string(), [&] { return gate::BaselineFromJson(io::ParseJson(row.Text(0))); });
        // Of another version, job or card: nothing to compare with.
        is_done = !base.runs.empty() && (base.runs.size() + one.runs.size() > kKept ||
                                         !gate::FindMismatches(base.runs, one.runs, {}).empty());
        if (is_done) return;
        if (base.runs.empty()) {
          base = std::move(one);
          return;
        }
        for (gate::RunSummary& run : one.runs) {  // a job that ran again on the same capture
          if (std::ranges::find(base.runs, run.samples, &gate::RunSummary::samples) ==
              base.runs.end())
            base.runs.push_back(std::move(run));
        }
      });
  if (base.runs.empty())
    Fail(ErrorKind::kInput, "{}: no run that passed its gate is in it", path.string());
  gate::Anchor& anchor = base.anchor.emplace();
  const std::int64_t first = database.Number("SELECT min(id) FROM run");
  database.Run(
      "SELECT strftime('%Y%m%d%H%M%S', time_ns / 1000000000, 'unixepoch'), tool_version"
      " FROM run WHERE id = ?",
      {first}, [&](const io::Row& row) {
        anchor.created = row.Text(0);
        anchor.tool_version = row.Text(1);
      });
  database.Run("SELECT metric, median FROM run_metric WHERE run = ?", {first},
               [&](const io::Row& row) {
                 anchor.medians[std::string(row.Text(0))] = AmountIn(row, 1, path);
               });
  return base;
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Profiler databases: which tables have rows, and the contents of the small tables.
#include <fmt/format.h>

#include <cstdint>
#include <set>

#include "mpa/base/text.h"
#include "mpa/io/input_text.h"
#include "mpa/io/sqlite.h"
#include "survey_parts.h"

namespace mpa {
namespace {

// How many rows of large tables are examined. Tables are filled in order of time, so the first rows
// represent the others.
constexpr int kRows = 64;

Recorded HasRows(const io::Database& database, std::string_view table) {
  if (!database.HasTable(table)) return Recorded::kNo;
  return YesIf(database.Query(fmt::format("SELECT 1 FROM {} LIMIT 1", table)).Step());
}

// True when one of the first cells in a column of text ids refers to a text other than N/A.
bool HasText(const io::Database& database, std::string_view table, std::string_view column) {
  if (!database.HasTable(table) || !database.HasColumn(table, column)) return false;
  if (!database.HasTable("STRING_IDS")) return false;
  io::Statement texts =
      database.Query(fmt::format("SELECT 1 FROM STRING_IDS WHERE id IN (SELECT {} FROM {} LIMIT "
                                 "{}) AND value NOT IN ('', 'N/A') "
                                 "LIMIT 1",
                                 column, table, kRows));
  return texts.Step();
}

void SurveyContents(const io::Database& database, RankFacts& facts) {
  Contents& recorded = facts.recorded;
  const auto has_rows = [&](std::string_view table) { return HasRows(database, table); };
  recorded.communication = has_rows("COMMUNICATION_OP");
  recorded.communication_tasks = has_rows("COMMUNICATION_TASK_INFO");
  recorded.device_tasks =
      has_rows("TASK") == Recorded::kYes ? Recorded::kYes : recorded.communication;
  const std::string_view kernels = "COMPUTE_TASK_INFO";
  recorded.kernels = has_rows(kernels);
  recorded.kernel_types = YesIf(HasText(database, kernels, "opType"));
  recorded.kernel_cores =
      YesIf(recorded.kernels == Recorded::kYes &&
            (HasText(database, kernels, "taskType") || HasText(database, "TASK", "taskType")));
  recorded.counters = has_rows("TASK_PMU_INFO");
  recorded.bandwidths = Recorded::kNo;  // analyzers read them from communication.json only
  recorded.host_ops = has_rows("PYTORCH_API");
  recorded.stacks = has_rows("PYTORCH_CALLCHAINS");
  recorded.memory = has_rows("MEMORY_RECORD");
  recorded.op_memory = has_rows("OP_MEMORY");
  recorded.mstx = has_rows("MSTX_EVENTS");
}

void SurveyPlaces(const io::Database& database, RankFacts& facts) {
  if (database.HasTable("RANK_DEVICE_MAP")) {
    io::Statement rows = database.Query("SELECT rankId, deviceId FROM RANK_DEVICE_MAP");
    while (rows.Step()) {
      const std::int64_t rank = rows.IntOr(0, -1);
      if (rank >= 0) facts.rank = rank;
      AddDevice(rows.IntOr(1, -1), facts);
    }
  }
  if (database.HasTable("NPU_INFO")) {
    io::Statement rows = database.Query("SELECT id, name FROM NPU_INFO ORDER BY id");
    while (rows.Step()) {
      AddDevice(rows.IntOr(0, -1), facts);
      if (facts.device_name.empty()) facts.device_name = rows.Text(1);
    }
  }
  if (database.HasTable("HOST_INFO")) {
    io::Statement rows = database.Query("SELECT hostName FROM HOST_INFO");
    if (rows.Step()) facts.host = rows.Text(0);
  }
}

void SurveyJob(const io::Database& database, RankFacts& facts) {
  if (facts.world_size || !database.HasTable("META_DATA")) return;
  io::Statement rows =
      database.Query("SELECT value FROM META_DATA WHERE name = 'parallel_group_info'");
  if (!rows.Step()) return;
  facts.world_size =
      WorldSize(nlohmann::json::parse(rows.Text(0), nullptr, /*allow_exceptions=*/false));
}

void SurveySteps(const io::Database& database, RankFacts& facts) {
  std::set<std::int64_t> steps;
  const auto add = [&](std::string_view query) {
    io::Statement rows = database.Query(query);
    while (rows.Step()) {
      if (const auto id = rows.Int(0)) steps.insert(*id);
    }
  };
  const bool has_table = database.HasTable("STEP_TIME");
  if (has_table) add("SELECT id FROM STEP_TIME");
  if (steps.empty() && database.HasTable("MSTX_EVENTS") && database.HasTable("STRING_IDS")) {
    add("SELECT CAST(substr(s.value, instr(s.value, '#') + 1) AS INTEGER) FROM MSTX_EVENTS m "
        "JOIN STRING_IDS s ON s.id = m.message "
        "WHERE s.value LIKE '%ProfilerStep#%' AND m.endNs > m.startNs");
  }
  if (has_table || !steps.empty()) facts.steps.emplace(steps.begin(), steps.end());
}

// The header of a database contains the number of pages; a truncated copy is shorter. The number is
// valid only if the same writer wrote both change counters.
bool IsWhole(const CaptureFile& file) {
  const std::string header = io::ReadStart(file.path, 100);
  if (header.size() < 100) return false;
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value = value * 256 + static_cast<unsigned char>(header[at + i]);
    }
    return value;
  };
  const std::int64_t page_bytes = number(16, 2) == 1 ? 65536 : number(16, 2);
  const bool counted = number(24, 4) == number(92, 4);
  return !counted || file.bytes >= page_bytes * number(28, 4);
}

}  // namespace

void SurveyDb(const RankInput& input, RankFacts& facts) {
  const CaptureFile& file = *input.Find(FileKind::kProfilerDb);
  const std::string name = ToLower(file.path.filename().string());
  if (name.starts_with("ascend_mindspore")) facts.framework = "MindSpore";
  if (name.starts_with("ascend_pytorch")) facts.framework = "PyTorch";
  try {
    facts.complete = YesIf(IsWhole(file));
    const io::Database database(file.path);
    SurveyContents(database, facts);
    SurveyPlaces(database, facts);
    SurveyJob(database, facts);
    SurveySteps(database, facts);
  } catch (const Error& error) {
    facts.problem = error.what();
  }
  if (!facts.rank) facts.rank = NumberInName(file.path);
}

}  // namespace mpa

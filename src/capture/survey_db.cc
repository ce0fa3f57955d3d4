// SPDX-License-Identifier: Apache-2.0
// Profiler databases: which tables have rows, and the contents of the small tables. No query looks
// at all rows of a table of events.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "json_members.h"
#include "mpa/base/text.h"
#include "mpa/capture/capture.h"
#include "mpa/capture/recorded_settings.h"
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

// True when one of the first cells in a column of text ids refers to a text for which `condition`
// holds.
bool HasText(const io::Database& database, std::string_view table, std::string_view column,
             std::string_view condition = "value NOT IN ('', 'N/A')", int rows = kRows) {
  if (!database.HasTable(table) || !database.HasColumn(table, column)) return false;
  if (!database.HasTable("STRING_IDS")) return false;
  io::Statement texts =
      database.Query(fmt::format("SELECT 1 FROM STRING_IDS WHERE id IN (SELECT {} FROM {} LIMIT"
                                 " {}) AND {} LIMIT 1",
                                 column, table, rows, condition));
  return texts.Step();
}

// Of aic_metrics=L2Cache. Each kernel has a row for each of its counters.
bool NamesCacheHits(const io::Database& database) {
  return HasText(database, "TASK_PMU_INFO", "name", "value LIKE '%\\_cache\\_hit' ESCAPE '\\'",
                 16 * kRows);
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
  // Without the table some of the tasks may be kernels.
  if (!database.HasTable(kernels) && recorded.device_tasks == Recorded::kYes) {
    recorded.kernels = Recorded::kUnknown;
  }
  recorded.kernel_types = YesIf(HasText(database, kernels, "opType"));
  recorded.kernel_cores =
      YesIf(recorded.kernels == Recorded::kYes &&
            (HasText(database, kernels, "taskType") || HasText(database, "TASK", "taskType")));
  recorded.counters = has_rows("TASK_PMU_INFO");
  recorded.l2_cache = YesIf(recorded.counters == Recorded::kYes && NamesCacheHits(database));
  recorded.op_attributes = YesIf(HasText(database, kernels, "attrInfo"));
  recorded.bandwidths = Recorded::kNo;  // analyzers read them from communication.json only
  recorded.host_ops = has_rows("PYTORCH_API");
  recorded.stacks = has_rows("PYTORCH_CALLCHAINS");
  // msprof alone writes NPU_OP_MEM in their place.
  const auto either = [&](const char* table) {
    return has_rows(database.HasTable(table) ? table : "NPU_OP_MEM");
  };
  recorded.memory = either("MEMORY_RECORD");
  recorded.op_memory = either("OP_MEMORY");
  recorded.mstx = has_rows("MSTX_EVENTS");
}

// Samples over time of the device and of the host.
void SurveyHardware(const io::Database& database, RankFacts& facts) {
  constexpr std::string_view kTables[] = {"ACC_PMU",
                                          "AICORE_FREQ",
                                          "CPU_USAGE",
                                          "DDR",
                                          "HBM",
                                          "HCCS",
                                          "HOST_DISK_USAGE",
                                          "HOST_MEM_USAGE",
                                          "HOST_NETWORK_USAGE",
                                          "LLC",
                                          "NETDEV_STATS",
                                          "NIC",
                                          "NPU_MEM",
                                          "NPU_MODULE_MEM",
                                          "PCIE",
                                          "QOS",
                                          "ROCE",
                                          "SIO",
                                          "SOC_BANDWIDTH_LEVEL",
                                          "UB"};
  facts.recorded.hardware = YesIf(std::ranges::any_of(
      kTables, [&](std::string_view table) { return HasRows(database, table) == Recorded::kYes; }));
}

void SurveyPlaces(const io::Database& database, RankFacts& facts) {
  if (database.HasTable("RANK_DEVICE_MAP")) {
    io::Statement rows = database.Query("SELECT deviceId FROM RANK_DEVICE_MAP");
    while (rows.Step()) AddDevice(rows.IntOr(0, -1), facts);
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
  if (!database.HasTable("META_DATA")) return;
  const nlohmann::json document = ReadMetaData(database);
  if (!facts.world_size) facts.world_size = WorldSize(Member(document, "parallel_group_info"));
  AddMetadata(document, facts.all_settings);
}

void SurveySteps(const io::Database& database, RankFacts& facts) {
  if (!database.HasTable("STEP_TIME")) return;
  std::set<std::int64_t> steps;
  io::Statement rows = database.Query("SELECT id FROM STEP_TIME");
  while (rows.Step()) {
    if (const auto id = rows.Int(0)) steps.insert(*id);
  }
  // Without the table the marks tell, which are events.
  if (steps.empty() && facts.recorded.mstx == Recorded::kYes) return;
  facts.steps.emplace(steps.begin(), steps.end());
}

// Tables with rows that nothing reads, in alphabetical order.
void SurveyUnreadTables(const io::Database& database, RankFacts& facts) {
  constexpr std::string_view kRead[] = {"ACC_PMU",
                                        "AICORE_FREQ",
                                        "CANN_API",
                                        "COMMUNICATION_OP",
                                        "COMMUNICATION_SCHEDULE_TASK_INFO",
                                        "COMMUNICATION_TASK_INFO",
                                        "COMPUTE_TASK_INFO",
                                        "CONNECTION_IDS",
                                        "CPU_USAGE",
                                        "DDR",
                                        "GC_RECORD",
                                        "HBM",
                                        "HCCS",
                                        "HOST_DISK_USAGE",
                                        "HOST_INFO",
                                        "HOST_MEM_USAGE",
                                        "HOST_NETWORK_USAGE",
                                        "LLC",
                                        "MEMCPY_INFO",
                                        "MEMORY_RECORD",
                                        "META_DATA",
                                        "MSTX_EVENTS",
                                        "NETDEV_STATS",
                                        "NIC",
                                        "NPU_INFO",
                                        "NPU_MEM",
                                        "NPU_MODULE_MEM",
                                        "NPU_OP_MEM",
                                        "OP_MEMORY",
                                        "PCIE",
                                        "PYTORCH_API",
                                        "PYTORCH_CALLCHAINS",
                                        "QOS",
                                        "RANK_DEVICE_MAP",
                                        "ROCE",
                                        "SESSION_TIME_INFO",
                                        "SIO",
                                        "SOC_BANDWIDTH_LEVEL",
                                        "STEP_TIME",
                                        "STRING_IDS",
                                        "TASK",
                                        "TASK_PMU_INFO",
                                        "UB"};
  std::vector<std::string> unread;
  try {
    io::Statement tables =
        database.Query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    while (tables.Step()) {
      const std::string name(tables.Text(0));
      // The names of numbers, and what SQLite keeps for itself.
      if (name.starts_with("ENUM_") || name.starts_with("sqlite_")) continue;
      if (std::ranges::find(kRead, name) != std::end(kRead)) continue;
      const bool is_plain = std::ranges::all_of(name, [](unsigned char character) {
        return std::isalnum(character) != 0 || character == '_';
      });
      if (is_plain && HasRows(database, name) == Recorded::kYes) unread.push_back(name);
    }
    facts.unread_tables = std::move(unread);
  } catch (const Error&) {  // reading one of them fails; the tables that count are whole
  }
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
    SurveyUnreadTables(database, facts);
    SurveyContents(database, facts);
    SurveyHardware(database, facts);
    SurveyPlaces(database, facts);
    SurveyJob(database, facts);
    SurveySteps(database, facts);
  } catch (const Error& error) {
    facts.problem = error.what();
  }
}

}  // namespace mpa

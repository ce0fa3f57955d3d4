// SPDX-License-Identifier: Apache-2.0
// Parsed captures. Of text captures and GPU traces the first lines of tables and the two ends of
// traces; of databases which tables have rows, and the contents of the small tables.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "json_members.h"
#include "mpa/base/text.h"
#include "mpa/capture/capture.h"
#include "mpa/capture/kernel_columns.h"
#include "mpa/capture/recorded_settings.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/input_text.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"
#include "mpa/io/sqlite.h"
#include "survey_parts.h"

namespace mpa {
namespace {

constexpr std::size_t kFirstRows = std::size_t{256} << 10;  // bytes

bool IsRecorded(std::string_view cell) { return !cell.empty() && cell != "N/A"; }

void SurveyKernels(const CaptureFile& file, Contents& recorded) {
  io::CsvFile csv(file.path, kFirstRows);
  const KernelColumns columns = KernelColumnsOf(csv);
  const auto type = csv.Find(columns.type);
  const auto core = csv.Find(columns.core);
  const auto name = csv.Find(columns.name);
  bool kernels = false, types = false, cores = false;
  constexpr int kRowsLookedAt = 64;  // enough to pass the first collectives and AI CPU kernels
  for (int i = 0; i < kRowsLookedAt && csv.Next(); ++i) {
    recorded.device_tasks = Recorded::kYes;
    kernels = kernels ||
              !(IsOneOf(csv[core], {"HCCL", "COMMUNICATION"}) || csv[name].starts_with("hcom_"));
    types = types || IsRecorded(csv[type]);
    cores = cores || IsRecorded(csv[core]);
  }
  recorded.kernels = YesIf(kernels);
  recorded.kernel_types = YesIf(types);
  recorded.kernel_cores = YesIf(cores);
  bool counters = false;
  for (const char* column : {"aicore_time(us)", "aic_total_time(us)", "aic_mac_time(us)",
                             "mac_time(us)", "aiv_time(us)", "aiv_total_time(us)"}) {
    counters = counters || csv.Find(column).has_value();
  }
  recorded.counters = YesIf(counters);
  // Instead of a file of its own.
  recorded.l2_cache = YesIf(std::ranges::any_of(
      csv.headers(), [](const std::string& title) { return title.ends_with("_cache_hit"); }));
}

void SurveySteps(const CaptureFile& file, RankFacts& facts) {
  io::CsvFile csv(file.path);
  const auto step = csv.Find("Step");
  const auto device = csv.Find("Device_id");
  const auto communication = csv.Find("Communication");
  facts.steps.emplace();
  bool communicates = false;
  while (csv.Next()) {
    if (const auto id = io::ScaledDecimal(csv[step], 0)) facts.steps->push_back(*id);
    AddDevice(io::ParseInt(csv[device]).value_or(-1), facts);
    communicates = communicates || io::NsFromMicros(csv[communication]).value_or(0) > 0;
  }
  std::sort(facts.steps->begin(), facts.steps->end());
  if (communication) facts.recorded.communication = YesIf(communicates);
}

// The allocator's rows name the device: "NPU:0".
void SurveyMemory(const CaptureFile& file, RankFacts& facts) {
  io::CsvFile csv(file.path, kFirstRows);
  const auto device = csv.Find("Device Type");
  facts.recorded.memory = YesIf(csv.Next());
  const std::string_view name = csv[device];
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return;
  AddDevice(io::ParseInt(name.substr(colon + 1)).value_or(-1), facts);
}

// A run on one device has the file as well, with nothing in it.
bool HasCollectives(const CaptureFile& file) {
  constexpr std::int64_t kMaxBytesOfNone = 4096;  // a line for each step
  if (file.bytes > kMaxBytesOfNone) return true;
  const std::string text = io::ReadStart(file.path, kMaxBytesOfNone);
  const auto document = io::TryParseJson(text);
  if (!document.is_object()) return true;  // the reader reports the error
  for (const nlohmann::json& step : document) {
    // CANN's msprof writes neither steps nor kinds.
    for (const char* kind : {"collective", "p2p", "Communication Bandwidth Info"}) {
      if (!Member(step, kind).empty()) return true;
    }
  }
  return false;
}

void SurveyTables(const RankInput& input, RankFacts& facts) {
  Contents& recorded = facts.recorded;
  if (const CaptureFile* kernels = input.Find(FileKind::kKernelDetails)) {
    OrWarn(facts, "kernel types and shapes are unknown",
           [&] { SurveyKernels(*kernels, facts.recorded); });
  } else {
    recorded.kernels = recorded.kernel_types = recorded.kernel_cores = recorded.counters =
        recorded.l2_cache = Recorded::kNo;
  }
  recorded.op_attributes = Recorded::kNo;  // databases and raw data alone have them
  if (const CaptureFile* cache = input.Find(FileKind::kL2Cache)) {
    OrWarn(facts, "the use of the L2 cache is unknown", [&] {
      if (io::CsvFile(cache->path, kFirstRows).Next()) recorded.l2_cache = Recorded::kYes;
    });
  }
  facts.kernel_sums = input.Find(FileKind::kOpStatistic) != nullptr;
  if (const CaptureFile* steps = input.Find(FileKind::kStepTraceTime)) {
    OrWarn(facts, "the steps stay unknown", [&] { SurveySteps(*steps, facts); });
  }
  recorded.memory = Recorded::kNo;
  if (const CaptureFile* memory = input.Find(FileKind::kMemoryRecord)) {
    OrWarn(facts, "the memory use is unknown", [&] { SurveyMemory(*memory, facts); });
  }
  recorded.op_memory = Recorded::kNo;
  if (const CaptureFile* memory = input.Find(FileKind::kOperatorMemory)) {
    OrWarn(facts, "the memory of operators is unknown",
           [&] { recorded.op_memory = YesIf(io::CsvFile(memory->path, kFirstRows).Next()); });
  }
  recorded.bandwidths = Recorded::kNo;
  if (const CaptureFile* communication = input.Find(FileKind::kCommunication)) {
    OrWarn(facts, "the bandwidths are unknown",
           [&] { recorded.bandwidths = YesIf(HasCollectives(*communication)); });
  }
  if (recorded.bandwidths == Recorded::kYes) {
    recorded.communication = recorded.communication_tasks = Recorded::kYes;
  }
}

// Determined from the last bytes; unknown for compressed traces, whose end is expensive to read.
Recorded TraceIsComplete(const std::filesystem::path& path) {
  if (path.extension() == ".gz") return Recorded::kUnknown;
  const std::string end = io::ReadEnd(path, 4096);
  const std::string_view text = Trim(end);
  if (text.empty()) return Recorded::kNo;
  // A truncated trace array may end after an event, with a brace.
  const std::string start = io::ReadStart(path, 4096);
  const bool array = Trim(WithoutByteOrderMark(start)).starts_with("[");
  return YesIf(text.back() == (array ? ']' : '}'));
}

}  // namespace

void SurveyText(const RankInput& input, RankFacts& facts) {
  if (const CaptureFile* trace = input.Find(FileKind::kTraceView)) {
    OrWarn(facts, "whether the trace is complete stays unknown",
           [&] { facts.complete = TraceIsComplete(trace->path); });
  } else {
    Contents& recorded = facts.recorded;
    recorded.host_ops = recorded.stacks = recorded.mstx = Recorded::kNo;
    facts.warnings.push_back(
        {"no_trace",
         "no trace_view.json and no profiler database: tables alone do not show operators, single"
         " collectives and idle time",
         "copy the whole capture",
         {}});
  }
  if (!facts.single_file || input.Find(FileKind::kTraceView) == nullptr) SurveyTables(input, facts);
  const auto& settings = facts.settings;
  if (!settings) return;
  Contents& recorded = facts.recorded;
  const bool npu = settings->activities.empty() || settings->HasActivity("ProfilerActivity.NPU");
  if (!npu) recorded.device_tasks = Recorded::kNo;
  if (settings->level == "Level0") recorded.communication_tasks = Recorded::kNo;
}

void SurveyKineto(const RankInput& input, RankFacts& facts) {
  facts.framework = "PyTorch";
  facts.recorded.l2_cache = facts.recorded.op_attributes = Recorded::kNo;
  const CaptureFile* trace = input.FindKineto();
  OrWarn(facts, "whether the trace is complete stays unknown", [&] {
    facts.complete = TraceIsComplete(trace->path);
    const GpuTraceFacts told = ReadGpuTraceFacts(trace->path);
    facts.world_size = told.world_size;
    facts.device_name = told.device_name;
    facts.all_settings = told.recorded;
    // What names them there names them with the collectives, too.
    if (told.groups.empty()) facts.recorded.groups = Recorded::kNo;
  });
  if (facts.kind == CaptureKind::kNpuKineto) {
    facts.recorded.groups = Recorded::kUnknown;
    facts.recorded.communication_tasks = Recorded::kNo;
  }
}

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
      database.Query(fmt::format("SELECT 1 FROM STRING_IDS WHERE id IN (SELECT {} FROM {} LIMIT"
                                 " {}) AND value NOT IN ('', 'N/A')"
                                 " LIMIT 1",
                                 column, table, kRows));
  return texts.Step();
}

// Of aic_metrics=L2Cache.
bool NamesCacheHits(const io::Database& database) {
  if (!database.HasTable("STRING_IDS")) return false;
  return database
      .Query("SELECT 1 FROM STRING_IDS WHERE value LIKE '%\\_cache\\_hit' ESCAPE '\\' LIMIT 1")
      .Step();
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
  recorded.memory = has_rows("MEMORY_RECORD");
  recorded.op_memory = has_rows("OP_MEMORY");
  recorded.mstx = has_rows("MSTX_EVENTS");
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
    add("SELECT CAST(substr(s.value, instr(s.value, '#') + 1) AS INTEGER) FROM MSTX_EVENTS m"
        " JOIN STRING_IDS s ON s.id = m.message"
        " WHERE s.value LIKE '%ProfilerStep#%' AND m.endNs > m.startNs");
  }
  if (has_table || !steps.empty()) facts.steps.emplace(steps.begin(), steps.end());
}

// Tables with rows that nothing reads, in alphabetical order.
void SurveyUnreadTables(const io::Database& database, RankFacts& facts) {
  constexpr std::string_view kRead[] = {"AICORE_FREQ",
                                        "CANN_API",
                                        "COMMUNICATION_OP",
                                        "COMMUNICATION_SCHEDULE_TASK_INFO",
                                        "COMMUNICATION_TASK_INFO",
                                        "COMPUTE_TASK_INFO",
                                        "CONNECTION_IDS",
                                        "GC_RECORD",
                                        "HOST_INFO",
                                        "MEMCPY_INFO",
                                        "MEMORY_RECORD",
                                        "META_DATA",
                                        "MSTX_EVENTS",
                                        "NPU_INFO",
                                        "OP_MEMORY",
                                        "PYTORCH_API",
                                        "PYTORCH_CALLCHAINS",
                                        "RANK_DEVICE_MAP",
                                        "SESSION_TIME_INFO",
                                        "STEP_TIME",
                                        "STRING_IDS",
                                        "TASK",
                                        "TASK_PMU_INFO"};
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
    SurveyPlaces(database, facts);
    SurveyJob(database, facts);
    SurveySteps(database, facts);
  } catch (const Error& error) {
    facts.problem = error.what();
  }
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Text captures and traces of torch.profiler: the first lines of tables and the two ends of traces.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "json_members.h"
#include "mpa/base/text.h"
#include "mpa/capture/capture.h"
#include "mpa/capture/kernel_columns.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/input_text.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"
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

constexpr std::size_t kTraceEnd = std::size_t{128} << 10;

// What the ends of a trace show, by words that exporters write in such events alone. What they do
// not show stays as it is: it may be in between. Events count more than settings.
void SurveyEnds(const std::filesystem::path& trace, Contents& recorded) {
  std::string text = io::ReadStart(trace, kTraceEnd);
  if (trace.extension() != ".gz") text += io::ReadEnd(trace, kTraceEnd);
  const auto tell = [&](std::initializer_list<std::string_view> words, Recorded& state) {
    if (ContainsAny(text, words)) state = Recorded::kYes;
  };
  tell({"\"cpu_op\""}, recorded.host_ops);
  tell({"\"python_function\""}, recorded.stacks);
  tell({"\"kernel\"", "\"gpu_memcpy\"", "\"Task Type\""}, recorded.device_tasks);
  tell({"\"ncclDevKernel", "\"ncclKernel"}, recorded.communication);
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
    OrWarn(facts, "whether the trace is complete stays unknown", [&] {
      facts.complete = TraceIsComplete(trace->path);
      SurveyEnds(trace->path, facts.recorded);
    });
  } else {
    facts.tables_alone = true;
    Contents& recorded = facts.recorded;
    recorded.host_ops = recorded.stacks = recorded.mstx = recorded.hardware = Recorded::kNo;
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
    SurveyEnds(trace->path, facts.recorded);
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

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Text captures and GPU traces: the first lines of tables, the two ends of traces.
#include <nlohmann/json.hpp>

#include "json_members.h"
#include "mpa/base/text.h"
#include "mpa/capture/gpu_trace_facts.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/input_text.h"
#include "mpa/io/numbers.h"
#include "survey_parts.h"

namespace mpa {
namespace {

constexpr std::size_t kFirstRows = std::size_t{256} << 10;  // bytes

bool IsRecorded(std::string_view cell) { return !cell.empty() && cell != "N/A"; }

void SurveyKernels(const CaptureFile& file, Contents& recorded) {
  io::CsvFile csv(file.path, kFirstRows);
  const auto type = csv.Find("Type");
  const auto core = csv.Find("Accelerator Core");
  const auto name = csv.Find("Name");
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
  constexpr std::int64_t kMostBytesOfNone = 4096;  // a line for each step
  if (file.bytes > kMostBytesOfNone) return true;
  const std::string text = io::ReadStart(file.path, kMostBytesOfNone);
  const auto document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return true;  // the reader reports the error
  for (const nlohmann::json& step : document) {
    for (const char* kind : {"collective", "p2p"}) {
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
        Recorded::kNo;
  }
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
  }
  if (!facts.single_file) SurveyTables(input, facts);
  const auto& settings = facts.settings;
  if (!settings) return;
  Contents& recorded = facts.recorded;
  const bool npu = settings->activities.empty() || settings->HasActivity("ProfilerActivity.NPU");
  if (!npu) recorded.device_tasks = Recorded::kNo;
  if (settings->level == "Level0") recorded.communication_tasks = Recorded::kNo;
}

void SurveyKineto(const RankInput& input, RankFacts& facts) {
  facts.framework = "PyTorch";
  const CaptureFile* trace = input.FindKineto();
  OrWarn(facts, "whether the trace is complete stays unknown", [&] {
    facts.complete = TraceIsComplete(trace->path);
    const GpuTraceFacts told = ReadGpuTraceFacts(trace->path);
    facts.rank = told.rank;
    facts.world_size = told.world_size;
    facts.device_name = told.device_name;
    // What names them there names them with the collectives, too.
    if (told.groups.empty()) facts.recorded.groups = Recorded::kNo;
  });
  if (facts.kind == CaptureKind::kNpuKineto) {
    facts.recorded.groups = Recorded::kUnknown;
    facts.recorded.communication_tasks = Recorded::kNo;
  }
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// The report of `check` as a JSON document.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "check_report.h"
#include "mpa/base/printable.h"

namespace mpa {
namespace {

using Json = nlohmann::ordered_json;

// An empty text means that the capture does not say.
Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json OrNull(Recorded recorded) {
  return recorded == Recorded::kUnknown ? Json() : Json(recorded == Recorded::kYes);
}

const char* Name(CaptureKind kind) {
  switch (kind) {
    case CaptureKind::kNpuText:
      return "npu_text";
    case CaptureKind::kNpuDb:
      return "npu_db";
    case CaptureKind::kNpuRaw:
      return "npu_raw";
    case CaptureKind::kGpu:
      return "gpu_trace";
    case CaptureKind::kNpuKineto:
      return "npu_torch_trace";
    case CaptureKind::kUnknown:
      break;
  }
  return "unknown";
}

const char* Name(Ability ability) {
  switch (ability) {
    case Ability::kCanRun:
      return "can_run";
    case Ability::kRunsWithLess:
      return "runs_with_less";
    case Ability::kCannotRun:
      break;
  }
  return "cannot_run";
}

Json ToJson(const std::optional<ProfilerSchedule>& schedule) {
  if (!schedule) return {};
  return {{"skip_first", schedule->skip_first},
          {"wait", schedule->wait},
          {"warmup", schedule->warmup},
          {"active", schedule->active},
          {"repeat", schedule->repeat}};
}

Json ToJson(const std::optional<ProfilerInfo>& settings) {
  if (!settings) return {};
  return {{"source", settings->path.string()},
          {"profiler_level", OrNull(settings->level)},
          {"aic_metrics", OrNull(settings->aic_metrics)},
          {"activities", settings->activities},
          {"schedule", ToJson(settings->schedule)},
          {"record_shapes", settings->record_shapes},
          {"profile_memory", settings->profile_memory},
          {"with_stack", settings->with_stack},
          {"with_modules", settings->with_modules},
          {"mstx", settings->mstx}};
}

Json ToJson(const Contents& recorded) {
  return {{"device_tasks", OrNull(recorded.device_tasks)},
          {"kernels", OrNull(recorded.kernels)},
          {"kernel_types", OrNull(recorded.kernel_types)},
          {"kernel_cores", OrNull(recorded.kernel_cores)},
          {"counters", OrNull(recorded.counters)},
          {"communication", OrNull(recorded.communication)},
          {"communication_tasks", OrNull(recorded.communication_tasks)},
          {"bandwidths", OrNull(recorded.bandwidths)},
          {"host_operators", OrNull(recorded.host_ops)},
          {"stacks", OrNull(recorded.stacks)},
          {"memory", OrNull(recorded.memory)},
          {"operator_memory", OrNull(recorded.op_memory)},
          {"mstx", OrNull(recorded.mstx)},
          {"chip", OrNull(recorded.chip)}};
}

const char* Name(RecordSide side) {
  switch (side) {
    case RecordSide::kHost:
      return "host";
    case RecordSide::kDevice:
      return "device";
    case RecordSide::kFramework:
      break;
  }
  return "framework";
}

Json ToJson(const RecordInventory& records) {
  Json kinds = Json::array(), unknown = Json::array();
  for (const RecordInventory::Entry& entry : records.kinds) {
    kinds.push_back({{"side", Name(entry.kind->side)},
                     {"kind", entry.kind->name},
                     {"holds", entry.kind->holds},
                     {"read", entry.kind->use == RecordUse::kRead},
                     {"files", entry.files},
                     {"bytes", entry.bytes}});
  }
  constexpr std::size_t kFiles = 100;
  for (std::size_t i = 0; i < std::min(kFiles, records.unknown.size()); ++i) {
    unknown.push_back(records.unknown[i].string());
  }
  return {{"kinds", std::move(kinds)},
          {"unknown_count", records.unknown.size()},
          {"unknown_files", std::move(unknown)}};
}

Json ToJson(const std::vector<Warning>& warnings) {
  Json list = Json::array();
  for (const Warning& warning : warnings) {
    Json paths = Json::array();
    for (const auto& path : warning.paths) paths.push_back(path.string());
    list.push_back({{"id", warning.id},
                    {"text", warning.text},
                    {"advice", warning.advice},
                    {"paths", std::move(paths)}});
  }
  return list;
}

Json ToJson(const std::vector<Verdict>& verdicts) {
  Json list = Json::array();
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    Json lacks = Json::array();
    for (const Lack& lack : verdicts[i].lacks) {
      lacks.push_back({{"reason", lack.reason}, {"setting", OrNull(lack.setting)}});
    }
    list.push_back({{"name", AllAnalyzerChecks()[i].name},
                    {"ability", Name(verdicts[i].ability)},
                    {"lacks", std::move(lacks)}});
  }
  return list;
}

Json ToJson(const RankFacts& facts, const std::vector<Verdict>& verdicts) {
  return {{"rank", OrNull(facts.rank)},
          {"path", facts.path.string()},
          {"kind", Name(facts.kind)},
          {"parsed", facts.kind != CaptureKind::kNpuRaw && facts.kind != CaptureKind::kUnknown},
          {"complete", OrNull(facts.complete)},
          {"problem", OrNull(facts.problem)},
          {"bytes", facts.bytes},
          {"devices", facts.devices},
          {"device_name", OrNull(facts.device_name)},
          {"host", OrNull(facts.host)},
          {"framework", OrNull(facts.framework)},
          {"torch_npu_version", OrNull(facts.torch_npu_version)},
          {"cann_version", OrNull(facts.cann_version)},
          {"settings", ToJson(facts.settings)},
          {"steps", OrNull(facts.steps)},
          {"recorded", ToJson(facts.recorded)},
          {"records", facts.kind == CaptureKind::kNpuRaw ? ToJson(facts.records) : Json()},
          {"analyzers", ToJson(verdicts)},
          {"warnings", ToJson(facts.warnings)}};
}

}  // namespace

std::string FormatCheckJson(const CheckReport& report) {
  Json ranks = Json::array();
  for (std::size_t i = 0; i < report.survey.ranks.size(); ++i) {
    ranks.push_back(ToJson(report.survey.ranks[i], report.verdicts[i]));
  }
  const Json document = {{"schema_version", 1},
                         {"path", report.survey.path.string()},
                         {"usable", report.Usable()},
                         {"ranks", std::move(ranks)},
                         {"warnings", ToJson(report.survey.warnings)}};
  // Names in captures need not be UTF-8.
  return PrintableJson(document.dump(2, ' ', false, Json::error_handler_t::replace)) + '\n';
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// What is known of the variables of torch_npu and CANN, as their environment references describe
// them.
#include "mpa/diagnosis/causes/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/job/metric_names.h"
#include "mpa/settings/costly.h"

namespace mpa {

const std::vector<Variable>& Variables() {
  static const std::vector<Variable> variables = {
      {.name = "ASCEND_LAUNCH_BLOCKING",
       .must_agree = true,
       .is_finding = true,
       .advice = {"ASCEND_LAUNCH_BLOCKING=0"},
       .better = "0",
       .serves = {&kHostLaunchBlocking, &kHostLaunchBound, &kHostSync}},
      {.name = "ASCEND_GLOBAL_LOG_LEVEL",
       .must_agree = true,
       .is_finding = true,
       .advice = {"ASCEND_GLOBAL_LOG_LEVEL=3"},
       .better = "3",
       .serves = {&kHostLaunchBound}},
      {.name = "TASK_QUEUE_ENABLE",
       .must_agree = true,
       .is_finding = true,
       .advice = kTaskQueueAdvice,
       .better = "2",
       .serves = {&kHostLaunchBound, &kRankLateHost}},
      {.name = "HCCL_DETERMINISTIC",
       .must_agree = true,
       .is_finding = true,
       .advice = "HCCL_DETERMINISTIC=false unless results must repeat",
       .better = "false",
       .serves = {&kCommInner, &kCommNotOverlapped}},
      {.name = "ACLNN_CACHE_LIMIT", .advice = "unset ACLNN_CACHE_LIMIT (10000 is its default)"},
      {.name = "PYTORCH_NPU_ALLOC_CONF",
       .advice = "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
       .better = "expandable_segments:True",
       .serves = {&kHostMemory}},
      {.name = "HCCL_BUFFSIZE", .must_agree = true, .serves = {&kCommBuffer, &kCommInner}},
      {.name = "HCCL_OP_EXPANSION_MODE", .must_agree = true, .serves = {&kCommInner}},
      {.name = "HCCL_ALGO", .must_agree = true, .serves = {&kCommInner}},
      {.name = "HCCL_RDMA_TC", .must_agree = true, .serves = {&kLinkSlow, &kCommRetransmit}},
      {.name = "HCCL_RDMA_SL", .must_agree = true, .serves = {&kLinkSlow, &kCommRetransmit}},
      {.name = "HCCL_RDMA_TIMEOUT", .must_agree = true, .serves = {&kCommRetransmit}},
      {.name = "HCCL_RDMA_RETRY_CNT", .must_agree = true, .serves = {&kCommRetransmit}},
      {.name = "HCCL_RDMA_QPS_PER_CONNECTION", .must_agree = true, .serves = {&kLinkSlow}},
      {.name = "CPU_AFFINITY_CONF",
       .must_agree = true,
       .serves = {&kRankLateHost, &kHostCpuContention, &kHostLaunchBound}},
      {.name = "OMP_NUM_THREADS"},
      {.name = "CUDA_LAUNCH_BLOCKING", .advice = {"CUDA_LAUNCH_BLOCKING=0"}, .better = "0"},
      {.name = "PYTORCH_CUDA_ALLOC_CONF"},
  };
  return variables;
}

const Variable* VariableNamed(std::string_view name) {
  for (const Variable& variable : Variables()) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

std::string ValueIn(const Settings& settings, std::string_view name) {
  const auto found = settings.find(std::string(name));
  return found == settings.end() ? "" : found->second;
}

std::string AgreedPart(std::string_view variable, const std::string& value) {
  return variable == "CPU_AFFINITY_CONF" ? value.substr(0, value.find(',')) : value;
}

bool IsPoor(const Variable& variable, const Settings& settings) {
  return CostsTime(variable.name, settings);
}

std::string_view CostsOf(const Variable& variable) {
  const CostlySetting* known = CostlySettingNamed(variable.name);
  return known == nullptr ? "" : known->costs;
}

bool IsDone(std::string_view variable, std::string_view value, const Settings& settings) {
  if (HasNoEffect(variable, settings)) return true;
  const std::string now = ValueIn(settings, variable);
  // It is a list of options.
  if (variable.ends_with("_ALLOC_CONF")) return now.find(value) != std::string::npos;
  return AgreedPart(variable, now) == value;
}

AdviceFacts FactsOf(const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds) {
  AdviceFacts facts;
  const auto all = [&](auto holds) {
    return !ranks.empty() &&
           std::ranges::all_of(ranks, [&](const DiagnosedRank& rank) { return holds(*rank.part); });
  };
  const auto switched_on = [&](const char* name) {
    return all([&](const RankDiagnosis& part) { return part.settings.contains(name); });
  };
  facts.on_gpu = all([](const RankDiagnosis& part) { return part.source == kGpuSource; });
  facts.is_compiled =
      std::ranges::any_of(ranks, [](const DiagnosedRank& rank) { return rank.part->is_compiled; });
  facts.serves =
      std::ranges::any_of(ranks, [](const DiagnosedRank& rank) { return rank.part->Serves(); });
  facts.trains =
      std::ranges::any_of(ranks, [](const DiagnosedRank& rank) { return rank.part->trains; });
  facts.has_stacks = all([](const RankDiagnosis& part) { return part.has_stacks; });
  facts.has_shapes = switched_on("profiler.shapes");
  facts.has_memory = switched_on("profiler.memory");
  facts.has_modules = switched_on("profiler.modules");
  facts.has_level2 = all([](const RankDiagnosis& part) { return part.level == "Level2"; });
  facts.has_level1 = all(
      [](const RankDiagnosis& part) { return part.level == "Level1" || part.level == "Level2"; });
  facts.has_steps = all([&](const RankDiagnosis& part) {
    return static_cast<double>(part.steps.size()) >= thresholds[kFewSteps];
  });
  return facts;
}

std::map<std::string, std::string> SettingsOf(const std::vector<DiagnosedRank>& ranks) {
  std::vector<RecordedSettings> recorded;
  std::vector<const RecordedSettings*> of_ranks;
  for (const DiagnosedRank& rank : ranks) recorded.push_back(SettingsFromFlat(rank.part->settings));
  for (const RecordedSettings& of_rank : recorded) of_ranks.push_back(&of_rank);
  std::map<std::string, std::string> settings = FlatSettings(JoinSettings(of_ranks));
  std::set<std::string> names;
  for (const DiagnosedRank& rank : ranks) {
    for (const auto& [name, value] : rank.part->settings) {
      if (name.starts_with("profiler.") || VariableNamed(name) != nullptr) names.insert(name);
    }
  }
  for (const std::string& name : names) {
    std::map<std::string, std::vector<RankId>> by_value;
    for (const DiagnosedRank& rank : ranks)
      by_value[ValueIn(rank.part->settings, name)].push_back(rank.rank);
    std::string& text = settings[name];
    if (by_value.size() == 1) text = by_value.begin()->first;
    if (by_value.size() == 1) continue;
    for (const auto& [value, of_value] : by_value) {
      // Programs read it.
      text += fmt::format("{}{} ({} {})", text.empty() ? "" : ", ", value.empty() ? "none" : value,
                          of_value.size() == 1 ? "rank" : "ranks",
                          RankList(of_value).Names(RankList::kAllRuns));
    }
  }
  return settings;
}

}  // namespace mpa

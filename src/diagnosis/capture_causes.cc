// SPDX-License-Identifier: Apache-2.0
// What the settings of the job and of its captures say. These findings win nothing by themselves.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cause.h"
#include "finding_text.h"

namespace mpa {
namespace {

// A variable that costs time with these values.
struct CostlySetting {
  std::string_view name;
  bool (*costs)(const std::string& value);
};

const std::vector<CostlySetting>& CostlySettings() {
  static const std::vector<CostlySetting> settings = {
      {"ASCEND_LAUNCH_BLOCKING", [](const std::string& value) { return value != "0"; }},
      // 3 is "errors only".
      {"ASCEND_GLOBAL_LOG_LEVEL", [](const std::string& value) { return value == "0" || value == "1"; }},
      {"TASK_QUEUE_ENABLE", [](const std::string& value) { return value == "0"; }},
      {"HCCL_DETERMINISTIC", [](const std::string& value) { return value == "true" || value == "TRUE" || value == "strict"; }},
  };
  return settings;
}

// Ranks of a job that talk to each other should agree in these.
constexpr std::string_view kAgreed[] = {"HCCL_RDMA_TC", "HCCL_RDMA_SL", "HCCL_ALGO", "HCCL_BUFFSIZE", "HCCL_OP_EXPANSION_MODE", "TASK_QUEUE_ENABLE"};

std::string ValueOn(const Job& job, std::size_t rank, std::string_view name) {
  const auto& settings = job.Part(rank).settings;
  const auto found = settings.find(std::string(name));
  return found == settings.end() ? "" : found->second;
}

void AddSetting(const Job& job, std::string_view name, std::vector<std::int64_t> ranks, Diagnosis& diagnosis) {
  FoundCause found = NewCause(job, "env.check", name).finding;
  const bool is_told = std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [&](const FoundCause& other) { return other.key == found.key; });
  if (is_told) return;
  if (ranks.size() < job.ranks.size()) found.ranks = std::move(ranks);
  diagnosis.findings.push_back(std::move(found));
}

void CheckSettings(const Job& job, Diagnosis& diagnosis) {
  for (const CostlySetting& setting : CostlySettings()) {
    std::vector<std::int64_t> ranks;
    for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
      const std::string value = ValueOn(job, rank, setting.name);
      if (!value.empty() && setting.costs(value)) ranks.push_back(job.ranks[rank].rank);
    }
    if (!ranks.empty()) AddSetting(job, setting.name, std::move(ranks), diagnosis);
  }
  for (const std::string_view name : kAgreed) {
    std::map<std::string, std::vector<std::int64_t>> by_value;
    for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) by_value[ValueOn(job, rank, name)].push_back(job.ranks[rank].rank);
    if (by_value.size() < 2) continue;
    const auto rarest = std::min_element(by_value.begin(), by_value.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    AddSetting(job, name, rarest->second, diagnosis);
  }
}

// What the profiler keeps of each call takes the host time, which matters where the host is slow.
void CheckOverhead(const Job& job, Diagnosis& diagnosis) {
  const bool host_is_slow = std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const FoundCause& found) {
    return found.id == "host.launch_bound" || found.id == "host.python";
  });
  const auto& settings = job.Part(0).settings;
  const bool costs = settings.contains("profiler.stack") || settings.contains("profiler.memory") || settings.contains("profiler.modules") || job.Part(0).level == "Level2";
  if (host_is_slow && costs) diagnosis.findings.push_back(NewCause(job, "capture.overhead").finding);
}

void CheckSteps(const Job& job, Diagnosis& diagnosis) {
  if (std::none_of(diagnosis.findings.begin(), diagnosis.findings.end(), IsOfStep) || diagnosis.steps.empty() || static_cast<double>(job.CountedSteps()) >= job.rules.few_steps) return;
  FoundCause found = NewCause(job, "capture.warmup").finding;
  found.metrics.push_back({"steps_captured", static_cast<double>(job.CountedSteps()), "count"});
  diagnosis.findings.push_back(std::move(found));
}

// An allocator that finds no room waits for the device, frees what it kept and asks again. What that
// costs is the matter of host.memory.
void CheckMemory(const Job& job, Diagnosis& diagnosis) {
  FoundCause found = NewCause(job, "mem.pressure").finding;
  double most = 0;
  std::int64_t peak = 0;
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    const RankDiagnosis& part = job.Part(rank);
    // A call that waits for several streams is there once for each.
    std::set<std::pair<std::int32_t, TimeNs>> retries;  // steps and starts
    for (const BlockedPart& call : part.blocked) {
      if (call.leaf == Leaf::kMemory && call.step >= static_cast<std::int32_t>(job.first_step)) retries.emplace(call.step, call.start);
    }
    const double per_step = static_cast<double>(retries.size()) / static_cast<double>(std::max<std::size_t>(1, job.CountedSteps()));
    if (per_step < job.rules.memory_retries) continue;
    found.ranks.push_back(job.ranks[rank].rank);
    most = std::max(most, per_step);
    peak = std::max(peak, part.peak_reserved);
  }
  if (found.ranks.empty()) return;
  if (found.ranks.size() == job.ranks.size()) found.ranks.clear();
  found.metrics.push_back({"retries_per_step", most, "count"});
  if (peak > 0) found.metrics.push_back({"peak_reserved", static_cast<double>(peak), "bytes"});
  diagnosis.findings.push_back(std::move(found));
}

// Causes of which nothing is recorded. They are listed one by one beside the findings.
void CheckMissing(const Job& job, Diagnosis& diagnosis) {
  if (diagnosis.not_judged.empty()) return;
  FoundCause found = NewCause(job, "capture.missing").finding;
  found.metrics.push_back({"causes_not_judged", static_cast<double>(diagnosis.not_judged.size()), "count"});
  diagnosis.findings.push_back(std::move(found));
}

}  // namespace

void AddCaptureFindings(const Job& job, Diagnosis& diagnosis) {
  CheckSettings(job, diagnosis);
  CheckMemory(job, diagnosis);
  CheckOverhead(job, diagnosis);
  CheckSteps(job, diagnosis);
  CheckMissing(job, diagnosis);
}

}  // namespace mpa

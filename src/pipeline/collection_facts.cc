// SPDX-License-Identifier: Apache-2.0
#include "collection_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mpa {

void FactSets::Add(const std::string& field, const std::string& value) {
  if (!value.empty()) values_[field].insert(value);
}

gate::Facts FactSets::Joined() const {
  gate::Facts facts;
  for (const auto& [field, values] : values_) {
    facts[field] = fmt::format("{}", fmt::join(values, ", "));
  }
  return facts;
}

namespace {

void AddSettings(const ProfilerInfo& info, FactSets& facts) {
  facts.Add("profiler_level", info.level);
  facts.Add("aic_metrics", info.aic_metrics);
  const std::set<std::string> activities(info.activities.begin(), info.activities.end());
  facts.Add("activities", fmt::format("{}", fmt::join(activities, " and ")));
  const auto add_switch = [&](const char* field, bool on) { facts.Add(field, on ? "on" : "off"); };
  add_switch("record_shapes", info.record_shapes);
  add_switch("profile_memory", info.profile_memory);
  add_switch("with_stack", info.with_stack);
  add_switch("with_modules", info.with_modules);
}

}  // namespace

gate::Facts CollectionFacts(const std::vector<RankFacts>& ranks) {
  FactSets facts;
  for (const RankFacts& rank : ranks) {
    facts.Add("device", rank.kind == CaptureKind::kGpu ? "GPU" : "NPU");
    facts.Add("soc", rank.device_name);
    facts.Add("framework", rank.framework);
    facts.Add("torch_npu_version", rank.torch_npu_version);
    facts.Add("cann_version", rank.cann_version);
    if (rank.settings) AddSettings(*rank.settings, facts);
  }
  return facts.Joined();
}

}  // namespace mpa

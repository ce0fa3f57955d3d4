// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/report/advice.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "diagnosis/made_diagnosis.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"
#include "support/in_chinese.h"

namespace mpa {
namespace {

Finding OnGpu(Finding finding) {
  finding.facts.on_gpu = true;
  return finding;
}

TEST(Actions, EveryFindingHasOneAndAtMostTwo) {
  for (const FindingType* entry : Catalogue()) {
    Finding finding = MadeFinding(entry->id, 0);
    if (entry->id == "env.check") finding.setting = FoundSetting{"TASK_QUEUE_ENABLE", {{"0", {0}}}};
    finding.facts.has_stacks = true;
    for (const Finding& found : {finding, OnGpu(finding)}) {
      EXPECT_FALSE(ActionsOf(found).empty()) << entry->id;
      EXPECT_LE(ActionsOf(found).size(), 2u) << entry->id;
      EXPECT_FALSE(AdviceOf(found).empty()) << entry->id;
      EXPECT_FALSE(InChinese([&] { return AdviceOf(found); }).empty()) << entry->id;
      EXPECT_EQ(ActionsOf(found).size(), PartsOf(found).size() + (found.setting ? 1 : 0))
          << entry->id;
    }
  }
}

TEST(Actions, SettingsAreThoseOfTheAdvice) {
  for (const FindingType* entry : Catalogue()) {
    for (const AdvicePart& part : entry->advice.parts) {
      if (part.action.what != "set_env") continue;
      EXPECT_EQ(std::get<std::string>(part.action.args.at(0).second), part.setting) << entry->id;
      EXPECT_NE(part.text.find(part.setting), std::string_view::npos) << entry->id;
      const LanguageFor chinese(Language::kChinese);
      EXPECT_NE(Translated(part.text).find(part.setting), std::string_view::npos) << entry->id;
    }
  }
}

TEST(Actions, SettingsThatRanksHaveAreNotAdvised) {
  Finding finding = MadeFinding("host.launch_bound", 8'000'000);
  EXPECT_EQ(AdviceOf(finding),
            "TASK_QUEUE_ENABLE=2 (raises peak device memory); CPU_AFFINITY_CONF=2");
  finding.already_set = {"TASK_QUEUE_ENABLE"};
  EXPECT_EQ(AdviceOf(finding), "CPU_AFFINITY_CONF=2; use fused operators or graphs");
  EXPECT_EQ(InChinese([&] { return AdviceOf(finding); }),
            "CPU_AFFINITY_CONF=2；使用融合算子或图模式");
  finding.already_set.emplace_back("CPU_AFFINITY_CONF");
  EXPECT_EQ(AdviceOf(finding), "use fused operators or graphs");
  ASSERT_EQ(ActionsOf(finding).size(), 1u);
  EXPECT_EQ(ActionsOf(finding)[0].what, "change");
}

TEST(Actions, LateRanksHaveTheAdviceOfWhatMakesThemLate) {
  const auto advice = [](std::string_view id, std::string_view category) {
    Finding finding = MadeFinding(id, 0);
    finding.category = category;
    return AdviceOf(finding);
  };
  const auto usual = [](std::string_view id) { return UsualAdvice(FindingNamed(id), {}); };
  EXPECT_EQ(advice("rank.late_host", "free.compile"), usual("host.compile"));
  EXPECT_EQ(advice("rank.late_host", "free.sync.scalar"), usual("host.sync"));
  EXPECT_EQ(advice("rank.late_host", "free.memory"), usual("host.memory"));
  EXPECT_EQ(advice("rank.late_input", "free.copy"), usual("host.h2d"));
  EXPECT_EQ(advice("rank.late_input", "free.dataloader"), usual("rank.late_input"));
  EXPECT_EQ(advice("rank.late_host", "free.dispatch.op"), usual("rank.late_host"))
      << "the same work takes longer";
  EXPECT_EQ(advice("rank.jitter", "free.memory"), usual("rank.jitter"));
}

TEST(Actions, AGpuHasNoLevelsOfTheProfiler) {
  const Finding finding = MadeFinding("capture.missing", 0);
  EXPECT_EQ(AdviceOf(finding),
            "profiler_level=Level1 on all ranks; capture what 'Not judged' lists");
  EXPECT_EQ(AdviceOf(OnGpu(finding)), "capture what 'Not judged' lists");
}

TEST(Actions, SomethingIsLeftWhereAllSettingsAreMade) {
  for (const FindingType* entry : Catalogue()) {
    Finding finding = MadeFinding(entry->id, 0);
    finding.facts.has_stacks = true;
    if (entry->id == "env.check") continue;
    for (const AdvicePart& part : entry->advice.parts)
      finding.already_set.emplace_back(part.setting.empty() ? "none" : part.setting);
    for (const AdvicePart& part : entry->advice.of_gpu)
      finding.already_set.emplace_back(part.setting.empty() ? "none" : part.setting);
    EXPECT_FALSE(AdviceOf(finding).empty()) << entry->id;
    EXPECT_FALSE(AdviceOf(OnGpu(finding)).empty()) << entry->id;
  }
}

TEST(Actions, AVariableHasItsOwn) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("env.check", 0), MadeFinding("env.check", 0)};
  diagnosis.findings[0].setting =
      FoundSetting{"ASCEND_GLOBAL_LOG_LEVEL", {{"1", {0}}}, false, "host.launch_bound"};
  diagnosis.findings[0].ranks = {0};
  diagnosis.findings[1].setting =
      FoundSetting{"HCCL_BUFFSIZE", {{"", {0}}, {"400", {1}}}, true, ""};
  const auto findings = nlohmann::json::parse(DiagnosisJson(diagnosis, {}))["findings"];
  EXPECT_EQ(findings[0]["actions"], nlohmann::json::parse(R"([{"what": "set_env",
      "args": {"variable": "ASCEND_GLOBAL_LOG_LEVEL", "value": "3", "ranks": [0]}}])"));
  EXPECT_EQ(findings[0]["setting"], nlohmann::json::parse(R"({"variable": "ASCEND_GLOBAL_LOG_LEVEL",
      "values": [{"value": "1", "ranks": [0]}], "differs": false, "serves": "host.launch_bound"})"));
  EXPECT_EQ(findings[1]["actions"], nlohmann::json::parse(R"([{"what": "change",
      "args": {"subject": "HCCL_BUFFSIZE", "to": "the same value on all ranks"}}])"));
  EXPECT_EQ(findings[1]["setting"]["serves"], nullptr);
  EXPECT_EQ(findings[1]["text"]["title"], "the ranks have different values of HCCL_BUFFSIZE");
}

TEST(Actions, NameTheRanks) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("rank.late", 8'000'000)};
  diagnosis.findings[0].ranks = {5};
  const auto document = nlohmann::json::parse(DiagnosisJson(diagnosis, {}));
  EXPECT_EQ(document["findings"][0]["actions"],
            nlohmann::json::parse(R"([{"what": "capture", "args":
      {"level": "Level1", "warmup_steps": 1, "active_steps": 3, "ranks": [5]}}])"));
}

TEST(Actions, AFindingNamesWhatItHides) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("rank.late", 8'000'000), MadeFinding("host.h2d", 7'000'000)};
  diagnosis.findings[1].after = {"rank.late"};
  const auto document = nlohmann::json::parse(DiagnosisJson(diagnosis, {}));
  EXPECT_EQ(document["findings"][0]["hides"], nlohmann::json({"host.h2d"}));
  EXPECT_EQ(document["findings"][1]["hides"], nlohmann::json::array());
  EXPECT_EQ(document["findings"][1]["after"], nlohmann::json({"rank.late"}));
}

TEST(Advice, WithoutABackwardPassNothingIsSaidOfGradients) {
  for (const FindingType* entry : Catalogue()) {
    Finding finding = MadeFinding(entry->id, 0);
    if (entry->id == "env.check" || entry->id == "op.optimizer") continue;
    finding.facts.trains = false;
    finding.facts.has_stacks = true;
    for (const Finding& found : {finding, OnGpu(finding)}) {
      const std::string advice = AdviceOf(found);
      EXPECT_FALSE(advice.empty()) << entry->id;
      for (const char* word : {"gradient", "buckets to", "larger bucket", "bucket size",
                               "set_to_none", "recompute", "optimizer"})
        EXPECT_EQ(advice.find(word), std::string::npos) << entry->id << ": " << advice;
    }
  }
}

TEST(Advice, OnlyFunctionsThatLogAreMovedOut) {
  Finding finding = MadeFinding("host.python", 8'000'000);
  EXPECT_EQ(AdviceOf(finding).find("logging"), std::string::npos);
  finding.facts.logs = true;
  EXPECT_NE(AdviceOf(finding).find("logging"), std::string::npos);
}

TEST(Advice, MemoryThatIsPinnedNeedNotBePinned) {
  Finding finding = MadeFinding("host.h2d", 8'000'000);
  finding.facts.copying_in = 1000;
  EXPECT_NE(AdviceOf(finding).find("pin_memory"), std::string::npos);
  finding.facts.copying_pinned = 900;
  const std::string advice = AdviceOf(finding);
  EXPECT_EQ(advice.find("pin_memory"), std::string::npos);
  EXPECT_NE(advice.find("non_blocking"), std::string::npos);
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// All advice, for every finding, in every language, and against all settings of captures and jobs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/made_diagnosis.h"
#include "mpa/diagnosis/causes/variables.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/advice.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "support/in_chinese.h"

namespace mpa {
namespace {

// Findings that only captures of NPUs can have.
bool IsOfNpusAlone(std::string_view id) {
  static const std::set<std::string_view> ids = {"op.aicpu", "host.aclop", "comm.buffer",
                                                 "env.check"};
  return ids.contains(id);
}

// What must not stand in advice where the facts hold, in either language.
struct Rule {
  bool (*holds)(const AdviceFacts& facts);
  std::vector<std::string_view> forbidden;
};

const std::vector<Rule>& AdviceRules() {
  static const std::vector<Rule> thresholds = {
      {[](const AdviceFacts& facts) { return facts.on_gpu; },
       {"TASK_QUEUE", "ASCEND", "HCCL", "ACLNN", "CPU_AFFINITY", "NPU", "npu", "Npu", "hccn", "AOE",
        "CANN", "internal_format", "HF32", "jit_compile", "profiler_level", "Level1", "AI Core",
        "Vector"}},
      {[](const AdviceFacts& facts) { return !facts.on_gpu; },
       {"CUDA", "cuda", "nvidia", "NCCL", "TF32", "ibstat"}},
      {[](const AdviceFacts& facts) { return facts.has_stacks; }, {"with_stack=True"}},
      {[](const AdviceFacts& facts) { return !facts.has_stacks; },
       {"with_stack=False", "in their stacks", "调用栈，"}},
      {[](const AdviceFacts& facts) { return !facts.has_modules; }, {"with_modules=False"}},
      {[](const AdviceFacts& facts) { return facts.has_shapes; }, {"record_shapes=True"}},
      {[](const AdviceFacts& facts) { return !facts.has_shapes; }, {"record_shapes=False"}},
      {[](const AdviceFacts& facts) { return facts.has_memory; }, {"profile_memory=True"}},
      {[](const AdviceFacts& facts) { return !facts.has_memory; }, {"profile_memory=False"}},
      {[](const AdviceFacts& facts) { return facts.has_level1 && !facts.has_level2; },
       {"profiler_level=Level1"}},
      {[](const AdviceFacts& facts) { return facts.is_compiled; },
       {"CUDA graph", "torch.compile", "fused operators or graphs", "图模式"}},
      {[](const AdviceFacts& facts) { return !facts.is_compiled; }, {"graph_breaks"}},
      {[](const AdviceFacts& facts) { return facts.has_steps; }, {"active=3"}},
      {[](const AdviceFacts& facts) { return facts.copying_out > facts.copying_in; },
       {"pin_memory", ".to(device"}},
      {[](const AdviceFacts& facts) { return facts.copying_in > facts.copying_out; },
       {"to the host", "拷回"}},
      {[](const AdviceFacts& facts) { return facts.synchronising > facts.reading; },
       {"log every n steps", "每 n 个 step 记录一次"}},
      {[](const AdviceFacts& facts) { return facts.reading > facts.synchronising; },
       {"synchronize()"}},
  };
  return thresholds;
}

// Every combination of what advice depends on.
std::vector<AdviceFacts> AllFacts() {
  std::vector<AdviceFacts> all;
  constexpr unsigned kSwitches = 9;
  for (unsigned bits = 0; bits < 1u << kSwitches; ++bits) {
    const auto is_on = [&](unsigned bit) { return (bits >> bit & 1u) != 0; };
    for (int level = 0; level <= 2; ++level) {
      AdviceFacts facts;
      facts.on_gpu = is_on(0);
      facts.is_compiled = is_on(1);
      facts.has_stacks = is_on(2);
      facts.has_shapes = is_on(3);
      facts.has_memory = is_on(4);
      facts.has_modules = is_on(5);
      facts.has_steps = is_on(6);
      (is_on(7) ? facts.copying_out : facts.copying_in) = 1;
      (is_on(8) ? facts.synchronising : facts.reading) = 1;
      facts.has_level1 = level >= 1;
      facts.has_level2 = level == 2;
      if (!(facts.on_gpu && level > 0)) all.push_back(facts);  // profilers of GPUs have no levels
    }
  }
  return all;
}

// The findings of an id: what a late rank does, variables, and settings that are made.
std::vector<Finding> FindingsOf(std::string_view id) {
  std::vector<Finding> findings = {MadeFinding(id, 0)};
  if (id == "env.check") {
    findings.clear();
    for (const Variable& variable : Variables()) {
      if (!variable.is_finding && !variable.must_agree) continue;
      Finding finding = MadeFinding(id, 0);
      finding.setting = FoundSetting{std::string(variable.name), {{"0", {0}}}};
      finding.setting->differs = !variable.is_finding;
      findings.push_back(finding);
    }
  }
  if (id == "host.launch_bound") {
    findings.push_back(findings.front());
    findings.back().variant = &kHostStalls;
  }
  if (id == "comm.small") {
    findings.push_back(findings.front());
    findings.back().variant = &kCommSmallOnTheWay;
  }
  if (id == "rank.late_host" || id == "rank.late_input") {
    for (const std::string_view category :
         {"free.compile", "free.memory", "free.sync.scalar", "free.sync.explicit", "free.copy"}) {
      findings.push_back(findings.front());
      findings.back().category = category;
    }
  }
  const std::size_t count = findings.size();
  for (std::size_t i = 0; i < count; ++i) {
    findings.push_back(findings[i]);
    findings.back().already_set = {"TASK_QUEUE_ENABLE", "CPU_AFFINITY_CONF"};
  }
  return findings;
}

// False for findings that captures with these facts do not have.
bool CanBe(const Finding& finding, const AdviceFacts& facts) {
  if (facts.on_gpu && IsOfNpusAlone(finding.type->id)) return false;
  if (finding.Is(kCaptureOverhead))
    return facts.has_stacks || facts.has_memory || facts.has_modules || facts.has_level2;
  if (finding.Is(kCaptureWarmup)) return !facts.has_steps;
  // The category says what the calls did.
  if (finding.category == "free.sync.scalar") return facts.reading > facts.synchronising;
  if (finding.category == "free.sync.explicit") return facts.synchronising > facts.reading;
  return true;
}

std::string Described(const Finding& finding, const AdviceFacts& facts) {
  return fmt::format(
      "{} {} gpu={} compiled={} stacks={} shapes={} memory={} modules={} steps={} level1={}"
      " level2={} out={} synchronises={}",
      finding.key, finding.category, facts.on_gpu, facts.is_compiled, facts.has_stacks,
      facts.has_shapes, facts.has_memory, facts.has_modules, facts.has_steps, facts.has_level1,
      facts.has_level2, facts.copying_out, facts.synchronising);
}

// Of each kind of mistake the first.
class Mistakes {
 public:
  void Add(std::string kind, const std::string& where) {
    if (kinds_.insert(std::move(kind)).second) ADD_FAILURE() << *kinds_.rbegin() << ": " << where;
  }

 private:
  std::set<std::string> kinds_;
};

TEST(AllAdvice, FitsAllSettings) {
  Mistakes mistakes;
  const std::vector<AdviceFacts> all_facts = AllFacts();
  for (const FindingType* entry : Catalogue()) {
    for (Finding finding : FindingsOf(entry->id)) {
      for (const AdviceFacts& facts : all_facts) {
        if (!CanBe(finding, facts)) continue;
        finding.facts = facts;
        const std::size_t actions = ActionsOf(finding).size();
        if (actions == 0 || actions > kMaxActions)
          mistakes.Add(fmt::format("{}: {} actions", finding.key, actions),
                       Described(finding, facts));
        for (const Language language : {Language::kEnglish, Language::kChinese}) {
          const LanguageFor in(language);
          const std::string advice = AdviceOf(finding);
          if (advice.empty()) mistakes.Add(finding.key + ": empty", Described(finding, facts));
          for (const Rule& rule : AdviceRules()) {
            if (!rule.holds(facts)) continue;
            for (const std::string_view word : rule.forbidden) {
              if (advice.find(word) != std::string::npos)
                mistakes.Add(fmt::format("{}: '{}' in '{}'", finding.key, word, advice),
                             Described(finding, facts));
            }
          }
          const bool raises = advice.find("TASK_QUEUE_ENABLE=2") != std::string::npos;
          const bool says_so = advice.find("memory") != std::string::npos ||
                               advice.find("显存") != std::string::npos;
          if (raises && !says_so)
            mistakes.Add(finding.key + ": cost in memory not said", Described(finding, facts));
        }
      }
    }
  }
}

// The actions are what programs read: they switch on nothing that is on.
TEST(AllAdvice, ActionsSwitchOnNothingThatIsOn) {
  for (const FindingType* entry : Catalogue()) {
    for (Finding finding : FindingsOf(entry->id)) {
      for (const AdviceFacts& facts : AllFacts()) {
        if (!CanBe(finding, facts)) continue;
        finding.facts = facts;
        for (const Action& action : ActionsOf(finding)) {
          if (action.what != "capture") continue;
          for (const auto& [option, value] : action.args) {
            if (option == "level") {
              EXPECT_FALSE(facts.on_gpu) << Described(finding, facts);
            }
            const auto* on = std::get_if<bool>(&value);
            if (on == nullptr) continue;
            const bool is_on = option == "with_stack"      ? facts.has_stacks
                               : option == "with_modules"  ? facts.has_modules
                               : option == "record_shapes" ? facts.has_shapes
                                                           : facts.has_memory;
            EXPECT_NE(*on, is_on) << option << " " << Described(finding, facts);
          }
        }
      }
    }
  }
}

TEST(AllAdvice, SaysWhatTheSecondQueueCosts) {
  EXPECT_EQ(AdviceOf(MadeFinding("host.launch_bound", 0)),
            "TASK_QUEUE_ENABLE=2 (raises peak device memory); CPU_AFFINITY_CONF=2");
}

}  // namespace
}  // namespace mpa

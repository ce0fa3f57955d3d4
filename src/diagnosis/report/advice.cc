// SPDX-License-Identifier: Apache-2.0
// Which parts of an advice hold for a finding.
#include "mpa/diagnosis/report/advice.h"

#include <algorithm>

#include "mpa/diagnosis/causes/variables.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/measure/time_category.h"

namespace mpa {
namespace {

std::string JoinedText(const std::vector<const AdvicePart*>& parts) {
  std::string text;
  for (const AdvicePart* part : parts) {
    if (!text.empty()) text += Translated("; ");
    text += Translated(part->text);
  }
  return text;
}

std::vector<const AdvicePart*> FirstOf(const Advice& advice, const AdviceFacts& facts,
                                       const std::vector<std::string>& done) {
  std::vector<const AdvicePart*> first;
  for (const AdvicePart& part :
       facts.on_gpu && !advice.of_gpu.empty() ? advice.of_gpu : advice.parts) {
    if (first.size() == kMaxActions) break;
    const bool fits = part.fits == nullptr || part.fits(facts);
    if (fits && std::ranges::find(done, part.setting) == done.end()) first.push_back(&part);
  }
  return first;
}

// A variable that costs time has a better value; one that differs has none that is known.
Action ActionOn(const FoundSetting& setting) {
  const Variable* variable = VariableNamed(setting.variable);
  if (setting.differs || variable == nullptr || variable->better.empty()) {
    return {"change", {{"subject", setting.variable}, {"to", "the same value on all ranks"}}};
  }
  return {
      "set_env", {{"variable", setting.variable}, {"value", std::string(variable->better)}}, true};
}

}  // namespace

// What keeps a single rank busy is mended as on all of them, where it is not just slower.
const Advice& AdviceOn(const Finding& found) {
  if (found.variant != nullptr) return found.variant->advice;
  for (const FindingType* of_work : found.type->take_advice_from) {
    for (const TimeCategory category : of_work->categories) {
      if (NameOf(category) == found.category) return of_work->advice;
    }
  }
  return found.type->advice;
}

std::vector<const AdvicePart*> PartsOf(const Finding& finding) {
  return FirstOf(AdviceOn(finding), finding.facts, finding.already_set);
}

std::vector<Action> ActionsOf(const Finding& finding) {
  std::vector<Action> actions;
  if (finding.setting) actions.push_back(ActionOn(*finding.setting));
  for (const AdvicePart* part : PartsOf(finding)) actions.push_back(part->action);
  return actions;
}

std::string AdviceOf(const Finding& finding) {
  if (!finding.setting) return JoinedText(PartsOf(finding));
  const Variable* variable = VariableNamed(finding.setting->variable);
  const bool agree = finding.setting->differs || variable == nullptr;
  return std::string(Translated(agree ? kAgree : variable->advice));
}

std::string UsualAdvice(const FindingType& finding, const AdviceFacts& facts) {
  std::vector<std::string> unknown;
  for (const AdvicePart& part : finding.advice.parts) {
    if (part.against_poor) unknown.emplace_back(part.setting);
  }
  return JoinedText(FirstOf(finding.advice, facts, unknown));
}

}  // namespace mpa

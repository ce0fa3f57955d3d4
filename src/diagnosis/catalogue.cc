// SPDX-License-Identifier: Apache-2.0
// The list of findings, and their thresholds as files hold them.
#include "mpa/diagnosis/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "mpa/base/error.h"
#include "mpa/base/printable.h"
#include "mpa/diagnosis/job/choice.h"
#include "mpa/io/json_document.h"

namespace mpa {

const std::vector<const FindingType*>& Catalogue() {
#define MPA_FINDING(name) &name,
  static const std::vector<const FindingType*> findings = {MPA_FINDINGS(MPA_FINDING)};
#undef MPA_FINDING
  return findings;
}

namespace {

constexpr std::string_view kRulesSchema = "mpa.rules/1";

// Those of several findings.
constexpr const Threshold* kOfAll[] = {
    &kMinShare,        &kMinNs,       &kSearchShare,     &kPairShare,         &kFaultShare,
    &kLowShare,        &kMediumShare, &kHighShare,       &kCriticalShare,     &kWarmUpRatio,
    &kWarmUpCompiling, &kWarmUpRest,  &kSystematicShare, &kIntermittentShare, &kInnocentShare,
    &kExplainedShare,  &kHiddenShare, &kGrownRatio,      &kMinOperations,     &kStandsOutShare};
constexpr const Threshold* kOfRanks[] = {&kLateShare,      &kLateOfPeers,   &kLatePeers,
                                         &kLatePairSteps,  &kLateAlike,     &kLateBlocksRatio,
                                         &kUnmatchedShare, &kLatenessShare, &kLatenessNs,
                                         &kLateCauseShare, &kLateMainShare, &kLateBehindShare};
constexpr const Threshold* kOfCommunication[] = {&kComparedTasks, &kAlikeSizes};

std::vector<RuleEntry> MakeRuleList() {
  std::vector<RuleEntry> entries;
  const auto add = [&](std::string_view of, std::span<const Threshold* const> thresholds) {
    for (const Threshold* threshold : thresholds) entries.push_back({threshold, of});
  };
  add("all", kOfAll);
  add("rank", kOfRanks);
  add("comm", kOfCommunication);
  for (const FindingType* finding : Catalogue()) add(finding->id, finding->thresholds);
  return entries;
}

const RuleEntry* FindRule(std::string_view finding, std::string_view name) {
  const auto found = std::ranges::find_if(RuleList(), [&](const RuleEntry& entry) {
    return entry.of == finding && entry.threshold->name == name;
  });
  return found == RuleList().end() ? nullptr : &*found;
}

bool IsGroup(std::string_view finding) {
  return std::ranges::any_of(RuleList(),
                             [&](const RuleEntry& entry) { return entry.of == finding; });
}

std::string NamesIn(std::string_view finding) {
  std::string names;
  for (const RuleEntry& entry : RuleList()) {
    if (entry.of == finding)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.threshold->name);
  }
  return names;
}

void SetRule(std::string_view finding, std::string_view name, const nlohmann::json& value,
             Thresholds& thresholds) {
  const RuleEntry* entry = FindRule(finding, name);
  if (entry == nullptr) {
    Fail(ErrorKind::kUsage, "{}: unknown rule '{}'; available: {}", finding, Printable(name),
         NamesIn(finding));
  }
  // A comparison with what is not a number is false.
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!value.is_number() ||
      !(number >= entry->threshold->least && number <= entry->threshold->most)) {
    Fail(ErrorKind::kUsage, "{}: {}: give a number from {} to {}", finding, name,
         entry->threshold->least, entry->threshold->most);
  }
  thresholds.Set(*entry->threshold, number);
}

}  // namespace

const std::vector<RuleEntry>& RuleList() {
  static const std::vector<RuleEntry> entries = MakeRuleList();
  return entries;
}

Thresholds ParseThresholds(std::string_view text) {
  const nlohmann::json document = io::ParseJson(text);
  if (!document.is_object() || io::Member(document, "schema") != kRulesSchema) {
    Fail(ErrorKind::kUsage,
         "not a rule file: it has no \"schema\": \"{}\"; 'advisor --print_rules' writes one",
         kRulesSchema);
  }
  Thresholds thresholds;
  for (const auto& [finding, of_finding] : document.items()) {
    if (finding == "schema") continue;
    if (!IsGroup(finding)) {
      Fail(ErrorKind::kUsage, "no rules for '{}'; 'advisor --print_rules' lists all",
           Printable(finding));
    }
    if (!of_finding.is_object()) Fail(ErrorKind::kUsage, "{}: give an object of rules", finding);
    for (const auto& [name, value] : of_finding.items()) SetRule(finding, name, value, thresholds);
  }
  return thresholds;
}

std::string ThresholdsText(const Thresholds& thresholds) {
  nlohmann::ordered_json document = {{"schema", kRulesSchema}};
  for (const RuleEntry& entry : RuleList()) {
    const double value = thresholds[*entry.threshold];
    nlohmann::ordered_json& of_finding = document[std::string(entry.of)];
    if (value == static_cast<double>(Whole(value))) {
      of_finding[std::string(entry.threshold->name)] = Whole(value);
    } else {
      of_finding[std::string(entry.threshold->name)] = value;
    }
  }
  return document.dump(2) + "\n";
}

}  // namespace mpa

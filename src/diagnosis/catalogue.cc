// SPDX-License-Identifier: Apache-2.0
// The list of findings, and their thresholds as files hold them.
#include "mpa/diagnosis/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "mpa/base/error.h"
#include "mpa/base/printable.h"
#include "mpa/io/json_document.h"

namespace mpa {

const std::vector<const FindingInfo*>& Catalogue() {
#define MPA_FINDING(name) &name,
  static const std::vector<const FindingInfo*> findings = {MPA_FINDINGS(MPA_FINDING)};
#undef MPA_FINDING
  return findings;
}

namespace {

constexpr std::string_view kRulesSchema = "mpa.rules/1";

// Those of several findings.
constexpr Threshold kOfAll[] = {
    {"least_share", &Rules::least_share, 0, 1, "a finding saves at least this share of the step"},
    {"least_ns", &Rules::least_ns, 0, kLongestTime, "a finding saves at least this time"},
    {"search_share", &Rules::search_share, 0, 1, "gains below this share end the search for more"},
    {"pair_share", &Rules::pair_share, 0, 1,
     "two findings that pay only together save at least this share"},
    {"fault_share", &Rules::fault_share, 0, 1,
     "what all ranks lose below this share is an opportunity, not a fault"},
    {"low_share", &Rules::low_share, 0, 1, "severity low from this share on"},
    {"medium_share", &Rules::medium_share, 0, 1, "severity medium from this share on"},
    {"high_share", &Rules::high_share, 0, 1, "severity high from this share on"},
    {"critical_share", &Rules::critical_share, 0, 1, "severity critical from this share on"},
    {"warm_up_ratio", &Rules::warm_up_ratio, 1, 1000,
     "a first step this many times as long as the others is warm-up"},
    {"warm_up_compiling", &Rules::warm_up_compiling, 0, 1,
     "a first step is warm-up if compiling takes this share of it, and hardly any time of the "
     "others"},
    {"warm_up_rest", &Rules::warm_up_rest, 0, 1,
     "hardly any time: the others compile for at most this share of what the first step compiles"},
    {"systematic_share", &Rules::systematic_share, 0, 1,
     "a finding seen in this share of the steps is systematic"},
    {"intermittent_share", &Rules::intermittent_share, 0, 1,
     "a finding seen in this share of the steps is intermittent"},
    {"innocent_share", &Rules::innocent_share, 0, 1,
     "a call that waits for this share of the step looks guilty"},
    {"explained_share", &Rules::explained_share, 0, 1,
     "a finding explains a wait that is shorter by this share without it"},
    {"hidden_share", &Rules::hidden_share, 0, 1,
     "a finding hides behind others if its gain alone is smaller by more than this share"},
    {"grown_ratio", &Rules::grown_ratio, 1, 1000,
     "a finding has grown when it costs this many times what it cost in the baseline"},
    {"operations", &Rules::least_operations, 1, kMostCalls,
     "fewer operations do not show what is usual"}};
constexpr Threshold kOfRanks[] = {
    {"share", &Rules::late_share, 0, 1, "a rank is late by at least this share of the step"},
    {"of_peers", &Rules::late_of_peers, 0, 1000,
     "a late rank takes longer than its peers by at least this share of their time"},
    {"peers", &Rules::late_peers, 2, kMostCalls,
     "ranks of a role, with the late one, that define what is normal"},
    {"pair_steps", &Rules::late_pair_steps, 1, kMostCalls,
     "of the two ranks of a role, the late one is slower in at least this many steps, and in most "
     "of them"},
    {"alike", &Rules::late_alike, 1, 1000,
     "late ranks whose excess differs by less than this ratio are one finding"},
    {"blocks_ratio", &Rules::late_blocks_ratio, 1, 1000,
     "a rank waits for its device more often than its peers by more than this ratio"},
    {"unmatched_share", &Rules::unmatched_share, 0, 1,
     "above this share of operations that ranks lack, a group whose names have no number is not "
     "compared"},
    {"lateness_share", &Rules::lateness_share, 0, 1,
     "the wait for a rank is explained from this share of the step on"},
    {"lateness_ns", &Rules::lateness_ns, 0, kLongestTime,
     "the wait for a rank is explained from this time on"},
    {"cause_share", &Rules::late_cause_share, 0, 1,
     "work that explains this share of the lateness is the cause of it"},
    {"main_share", &Rules::late_main_share, 0, 1,
     "work that explains this share is mainly the cause; less is one of several"},
    {"behind_share", &Rules::late_behind_share, 0, 1,
     "a rank has fallen behind at the first kernel that is late by this share of the lateness"}};
constexpr Threshold kOfCommunication[] = {
    {"tasks", &Rules::compared_tasks, 1, kMostCalls,
     "fewer tasks of a kind are not compared with others"},
    {"alike_sizes", &Rules::alike_sizes, 1, 1e6,
     "tasks are compared with others that are at most this many times as large"}};

std::vector<RuleEntry> MakeRuleList() {
  std::vector<RuleEntry> entries;
  const auto add = [&](std::string_view of, std::span<const Threshold> thresholds) {
    for (const Threshold& threshold : thresholds) entries.push_back({threshold, of});
  };
  add("all", kOfAll);
  add("rank", kOfRanks);
  add("comm", kOfCommunication);
  for (const FindingInfo* finding : Catalogue()) add(finding->id, finding->thresholds);
  return entries;
}

const RuleEntry* FindRule(std::string_view finding, std::string_view name) {
  const auto found = std::find_if(
      RuleList().begin(), RuleList().end(),
      [&](const RuleEntry& entry) { return entry.of == finding && entry.name == name; });
  return found == RuleList().end() ? nullptr : &*found;
}

bool IsGroup(std::string_view finding) {
  return std::any_of(RuleList().begin(), RuleList().end(),
                     [&](const RuleEntry& entry) { return entry.of == finding; });
}

std::string NamesIn(std::string_view finding) {
  std::string names;
  for (const RuleEntry& entry : RuleList()) {
    if (entry.of == finding) names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
  }
  return names;
}

void SetRule(std::string_view finding, std::string_view name, const nlohmann::json& value,
             Rules& rules) {
  const RuleEntry* entry = FindRule(finding, name);
  if (entry == nullptr) {
    Fail(ErrorKind::kUsage, "{}: unknown rule '{}'; available: {}", finding, Printable(name),
         NamesIn(finding));
  }
  // A comparison with what is not a number is false.
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!value.is_number() || !(number >= entry->least && number <= entry->most)) {
    Fail(ErrorKind::kUsage, "{}: {}: give a number from {} to {}", finding, name, entry->least,
         entry->most);
  }
  rules.*entry->value = number;
}

}  // namespace

const std::vector<RuleEntry>& RuleList() {
  static const std::vector<RuleEntry> entries = MakeRuleList();
  return entries;
}

Rules ParseRules(std::string_view text) {
  const nlohmann::json document = io::ParseJson(text);
  if (!document.is_object() || io::Member(document, "schema") != kRulesSchema) {
    Fail(ErrorKind::kUsage,
         "not a rule file: it has no \"schema\": \"{}\"; 'advisor --print_rules' writes one",
         kRulesSchema);
  }
  Rules rules;
  for (const auto& [finding, of_finding] : document.items()) {
    if (finding == "schema") continue;
    if (!IsGroup(finding)) {
      Fail(ErrorKind::kUsage, "no rules for '{}'; 'advisor --print_rules' lists all",
           Printable(finding));
    }
    if (!of_finding.is_object()) Fail(ErrorKind::kUsage, "{}: give an object of rules", finding);
    for (const auto& [name, value] : of_finding.items()) SetRule(finding, name, value, rules);
  }
  return rules;
}

std::string RulesText(const Rules& rules) {
  nlohmann::ordered_json document = {{"schema", kRulesSchema}};
  for (const RuleEntry& entry : RuleList()) {
    const double value = rules.*entry.value;
    nlohmann::ordered_json& of_finding = document[std::string(entry.of)];
    if (value == static_cast<double>(Whole(value))) {
      of_finding[std::string(entry.name)] = Whole(value);
    } else {
      of_finding[std::string(entry.name)] = value;
    }
  }
  return document.dump(2) + "\n";
}

}  // namespace mpa

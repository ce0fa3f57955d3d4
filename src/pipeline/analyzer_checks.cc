// SPDX-License-Identifier: Apache-2.0
// What analyses can do with captures, as far as the facts of a survey tell.
#include "mpa/pipeline/analyzer_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "load_rank.h"
#include "mpa/base/language.h"

namespace mpa {

const std::vector<AnalyzerCheck>& AllAnalyzerChecks() {
  static const std::vector<AnalyzerCheck> all = [] {
    std::vector<AnalyzerCheck> checks;
    for (const Comparison& comparison : AllComparisons()) {
      checks.push_back(
          {fmt::format("compare: {}", comparison.title), comparison.can_run, &comparison, nullptr});
    }
    for (const Recipe& recipe : AllRecipes()) {
      checks.push_back({fmt::format("cluster: {}", recipe.name), recipe.can_run, nullptr, &recipe});
    }
    return checks;
  }();
  return all;
}

namespace {

// What the events of a capture would have to tell.
std::vector<const RecordedContent*> UnreadOf(const RankFacts& facts) {
  std::vector<const RecordedContent*> unread;
  for (const RecordedContent& content : kRecordedContents) {
    if (content.of_events && facts.recorded.*content.state == Recorded::kUnknown)
      unread.push_back(&content);
  }
  return unread;
}

// Which of the unread contents a verdict depends on, and in how many of the cases it runs.
struct Dependence {
  std::vector<std::string_view> on;
  bool always_runs = true;
};

Dependence DependenceOf(const AnalyzerCheck& check, RankFacts facts,
                        const std::vector<const RecordedContent*>& unread) {
  Dependence found;
  std::vector<bool> matters(unread.size());
  const auto judge = [&] {
    Verdict verdict = JudgeByFacts(check, facts);
    found.always_runs = found.always_runs && !verdict.CannotRun();
    return verdict;
  };
  for (const Recorded all : {Recorded::kYes, Recorded::kNo}) {
    for (const RecordedContent* content : unread) facts.recorded.*content->state = all;
    const Verdict verdict = judge();
    for (std::size_t i = 0; i < unread.size(); ++i) {
      Recorded& state = facts.recorded.*unread[i]->state;
      state = all == Recorded::kYes ? Recorded::kNo : Recorded::kYes;
      if (!(judge() == verdict)) matters[i] = true;
      state = all;
    }
  }
  for (std::size_t i = 0; i < unread.size(); ++i) {
    if (matters[i]) found.on.emplace_back(unread[i]->words);
  }
  return found;
}

Verdict JudgeUnread(const AnalyzerCheck& check, const RankFacts& facts) {
  Verdict verdict = JudgeByFacts(check, facts);
  if (verdict.CannotRun()) return verdict;
  Dependence dependence = DependenceOf(check, facts, UnreadOf(facts));
  if (check.recipe != nullptr && !check.recipe->only_with.empty()) {
    dependence.on.push_back(check.recipe->only_with);
    dependence.always_runs = false;
  }
  if (dependence.on.empty()) return verdict;
  verdict.ability = dependence.always_runs ? Ability::kRunsWithLess : Ability::kMayRun;
  verdict.lacks.push_back(
      {Say("only the events show {}", fmt::join(dependence.on, ", ")), kTrialTells});
  return verdict;
}

}  // namespace

Verdict JudgeByFacts(const AnalyzerCheck& check, const RankFacts& facts) {
  Verdict verdict = check.can_run(facts);
  const bool has_kernels = facts.recorded.kernels == Recorded::kYes;
  verdict.Refuse(
      facts.tables_alone && check.recipe != nullptr && NeedsTimeline(*check.recipe, has_kernels),
      "no trace_view.json and no profiler database there", "copy the whole capture");
  LeaveOutSettingsMade(facts, verdict);
  return verdict;
}

std::vector<JudgedCapture> JudgeCaptures(const std::vector<RankFacts>& ranks) {
  std::vector<JudgedCapture> judged(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const AnalyzerCheck& check : AllAnalyzerChecks())
      judged[i].verdicts.push_back(JudgeUnread(check, ranks[i]));
  }
  return judged;
}

}  // namespace mpa

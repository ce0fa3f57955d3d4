// SPDX-License-Identifier: Apache-2.0
// What analyses can do with captures, as far as the facts of a survey tell.
#include "mpa/pipeline/analyzer_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
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

namespace {

// What records contents that no analysis needs.
const char* SettingOf(const RecordedContent& content) {
  if (content.state == &Contents::l2_cache) return "l2_cache=True";
  return content.state == &Contents::op_attributes ? "op_attr=True with export_type=Db" : "";
}

}  // namespace

std::vector<Lack> WhyMissing(const RankFacts& facts) {
  constexpr std::size_t kContents = std::size(kRecordedContents);
  if (const Verdict readable = JudgeReadable(facts); readable.CannotRun())
    return std::vector<Lack>(kContents, readable.lacks.front());
  // What analyses say of a content: first what fewer other contents would mend as well, then what
  // more of them say.
  struct Said {
    Lack lack;
    std::size_t mended_by = 0, times = 0;
  };
  std::array<std::vector<Said>, kContents> said;
  const auto add = [&](std::size_t content, const Lack& lack, std::size_t mended_by) {
    auto found = std::ranges::find(said[content], lack, &Said::lack);
    if (found == said[content].end()) found = said[content].insert(found, {lack, mended_by});
    ++found->times;
  };
  RankFacts all = facts;
  for (const RecordedContent& content : kRecordedContents)
    all.recorded.*content.state = Recorded::kYes;
  for (const AnalyzerCheck& check : AllAnalyzerChecks()) {
    const Verdict verdict = JudgeByFacts(check, facts);
    const auto changed_by = [&](RankFacts changed, std::size_t content, Recorded state) {
      changed.recorded.*kRecordedContents[content].state = state;
      return JudgeByFacts(check, changed).lacks;
    };
    const std::vector<Lack> of_all = JudgeByFacts(check, all).lacks;
    std::array<std::vector<Lack>, kContents> rest;
    for (std::size_t i = 0; i < kContents; ++i) rest[i] = changed_by(facts, i, Recorded::kYes);
    for (const Lack& lack : verdict.lacks) {
      const auto mends = [&](const std::vector<Lack>& left) {
        return std::ranges::find(left, lack) == left.end();
      };
      const auto mended_by = static_cast<std::size_t>(std::ranges::count_if(rest, mends));
      for (std::size_t i = 0; i < kContents; ++i) {
        // Of an analysis that cannot run anyway, the content may be missing as well.
        if (mends(rest[i]))
          add(i, lack, mended_by);
        else if (verdict.CannotRun() && changed_by(all, i, Recorded::kNo) != of_all)
          add(i, lack, kContents);
      }
    }
  }
  std::vector<Lack> reasons;
  for (std::size_t i = 0; i < kContents; ++i) {
    const std::vector<Said>& of_content = said[i];
    const auto first = std::ranges::min_element(of_content, {}, [](const Said& one) {
      return std::pair(one.mended_by, -static_cast<std::ptrdiff_t>(one.times));
    });
    reasons.push_back(first != of_content.end() ? first->lack
                      : IsKineto(facts.kind)    ? Lack()
                                                : Lack{"", SettingOf(kRecordedContents[i])});
  }
  return reasons;
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

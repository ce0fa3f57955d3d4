// SPDX-License-Identifier: Apache-2.0
// What `check` says to programs that read little.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "check_report.h"
#include "mpa/base/language.h"
#include "mpa/base/notes.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/report/rank_cell.h"

namespace mpa {

namespace {

// The advisor needs what idle times need; without it, the first recipe that runs.
std::string NextOf(const CheckReport& report) {
  const auto runs = [&](std::size_t check) {
    return std::ranges::any_of(report.judged, [&](const JudgedCapture& of_rank) {
      return of_rank.verdicts[check].ability != Ability::kCannotRun;
    });
  };
  const std::string path = ShellWord(report.survey.path.string());
  constexpr std::string_view kRecipe = "cluster: ";
  std::string first;
  for (std::size_t i = 0; i < AllAnalyzerChecks().size(); ++i) {
    const std::string& name = AllAnalyzerChecks()[i].name;
    if (!name.starts_with(kRecipe) || !runs(i)) continue;
    if (name == "cluster: free_analysis")
      return fmt::format("msprof-analyze advisor all -d {}", path);
    if (first.empty())
      first = fmt::format("msprof-analyze -m {} -d {}", name.substr(kRecipe.size()), path);
  }
  return first;
}

}  // namespace

// Of ranks of which the same is to be said one row.
void TellAgent(const CheckReport& report, AgentAnswer& answer) {
  answer.question =
      "what captures hold, which analyses can use them, how to collect what is missing";
  // The path, then a sentence in lines.
  const std::vector<std::string> lines = CheckLines(report);
  const auto end = std::ranges::find(lines, "");
  answer.answer = {fmt::format("{}", fmt::join(lines.begin() + 1, end, " "))};
  AgentTable captures{.name = "captures",
                      .columns = {"rank", "kind", "steps", "bytes", "device", "problem", "path"},
                      .of = report.survey.ranks.size()};
  using Said = std::array<std::string, 3>;  // ability, reason, setting
  std::map<Said, std::pair<std::vector<std::string>, std::set<RankId>>> analyses;
  for (std::size_t i = 0; i < report.survey.ranks.size(); ++i) {
    const RankFacts& facts = report.survey.ranks[i];
    const auto steps = facts.steps ? Cell(static_cast<std::int64_t>(facts.steps->size())) : Cell();
    captures.rows.push_back({RankCell(facts.id), std::string(Name(facts.kind)), steps, facts.bytes,
                             facts.device_name, facts.problem, facts.path.string()});
    for (std::size_t k = 0; k < report.judged[i].verdicts.size(); ++k) {
      const Verdict& verdict = report.judged[i].verdicts[k];
      if (verdict.is_apart) continue;
      Said said{std::string(Name(verdict.ability)), "", ""};
      if (!verdict.lacks.empty()) {
        said[1] = Translated(verdict.lacks.front().reason);
        said[2] = Translated(verdict.lacks.front().setting);
      }
      auto& [names, ranks] = analyses[said];
      const std::string& name = AllAnalyzerChecks()[k].name;
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      ranks.insert(facts.id);
    }
    for (const Warning& warning : facts.warnings)
      AppendNew({fmt::format("{}; {}", Translated(warning.text), Translated(warning.advice))},
                answer.caveats);
  }
  AgentTable abilities{.name = "analyses",
                       .columns = {"ability", "ranks", "reason", "setting", "analyses"},
                       .of = analyses.size()};
  for (const auto& [said, whose] : analyses) {
    abilities.rows.push_back({said[0], RankList(whose.second).Names(RankList::kAllRuns), said[1],
                              said[2], fmt::format("{}", fmt::join(whose.first, ", "))});
  }
  answer.scope = {{"captures", static_cast<std::int64_t>(report.survey.ranks.size())},
                  {"events_read", report.tried ? "yes" : "no"}};
  answer.tables = {std::move(abilities), std::move(captures)};
  answer.next = NextOf(report);
}

}  // namespace mpa

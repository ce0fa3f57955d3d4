// SPDX-License-Identifier: Apache-2.0
#include "job_tables.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/capture/ability.h"
#include "mpa/capture/survey.h"
#include "mpa/change/step_account.h"
#include "mpa/collectives/arrivals.h"
#include "mpa/collectives/instances.h"
#include "mpa/collectives/rank_clocks.h"
#include "mpa/diagnosis/recipe.h"
#include "mpa/gate/history.h"
#include "mpa/measure/accounting.h"
#include "mpa/pipeline/analyzer_checks.h"
#include "mpa/pipeline/cluster.h"
#include "mpa/pipeline/history.h"
#include "sheet_rows.h"

namespace mpa::query {
namespace {

void AddArrivals(const Job& job, std::size_t side, ArrivalTable& table) {
  std::deque<RankCollectives> ranks;
  for (const auto& part : job.Parts()) {
    if (part->side != side) continue;
    ranks.push_back(CollectivesOfRank(part->trace));
    ranks.back().rank = part->rank;
  }
  const JobCollectives of_job(ranks.begin(), ranks.end());
  const CollectiveInstances instances = JoinInstances(of_job);
  const RankClocks clocks = AlignClocks(of_job, instances);
  const ArrivalFinder finder(of_job, clocks);
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const CollectiveInstance& instance = instances[i];
    const std::vector<Arrival> arrivals = finder.Of(instance).all;
    for (const Arrival& arrival : arrivals) {
      ArrivalTable::Row row{.side = job.Sides()[side].name,
                            .instance = static_cast<std::int64_t>(i),
                            .name = instance.name,
                            .comm_group = instance.group,
                            .rank = arrival.rank,
                            .arrived = arrival.time,
                            .late_ns = arrival.time - arrivals.front().time,
                            .wait_ns = arrivals.back().time - arrival.time,
                            .captured = arrival.source == ArrivalSource::kCaptured};
      for (const CollectiveInstance::Member& member : instance.members) {
        if (!row.captured || member.rank != static_cast<std::size_t>(arrival.position)) continue;
        const RankRuns::Row& run = ranks[member.rank].runs.rows[member.row];
        row.comm = run.operation;
        row.step = run.step;
      }
      table.Append(row);
    }
  }
}

// What a recipe answers of all captures of a side.
Report ReportOf(Job& job, const QuerySide& side, const Recipe& recipe, OutputSelection wanted) {
  ClusterOutcome outcome = ReduceRanks(recipe, {}, wanted, MapRanks(recipe, side.captures));
  job.AddNotes(outcome.report.notes, outcome.partial);
  return std::move(outcome.report);
}

nlohmann::json DiagnosisOf(Job& job, const QuerySide& side) {
  const Report report = ReportOf(job, side, DiagnosisRecipe(),
                                 {.sheets = false, .documents = true, .screen = Detail::kNone});
  for (const TextDocument& document : report.documents) {
    if (document.file_name == kWholeDiagnosis) return nlohmann::json::parse(document.text);
  }
  return {{"findings", nlohmann::json::array()}};
}

std::string RanksOf(const nlohmann::json& finding) {
  std::string text;
  const auto ranks = finding.find("ranks");
  if (ranks == finding.end() || !ranks->is_array()) return text;
  for (const auto& rank : *ranks) text += (text.empty() ? "" : ",") + rank.dump();
  return text;
}

// Of the words for people, which are below "text".
std::string WordsOf(const nlohmann::json& finding, const char* what) {
  const auto words = finding.find("text");
  return words != finding.end() && words->is_object() ? words->value(what, "") : "";
}

// The tree from its root on; each row comes behind its parent.
void AddChange(const ChangeNode& node, std::int64_t parent, RankId rank, ChangeTable& table) {
  const auto id = static_cast<std::int64_t>(table.Size());
  table.Append({.rank = rank,
                .parent = parent,
                .kind = node.kind,
                .name = node.name,
                .leaf = node.category,
                .base_ns = node.base,
                .comparison_ns = node.comparison,
                .change_ns = node.Change()});
  for (const ChangeNode& child : node.children) AddChange(child, id, rank, table);
}

AccountTimes MedianStep(const RankTrace& trace) {
  return MedianAccount(trace, AccountRank(trace), 0);
}

}  // namespace

TextTable TextsOf(Job& job) {
  std::set<std::string_view> texts;
  for (const auto& part : job.Parts()) {
    const StringPool& pool = part->trace.strings;
    for (std::size_t i = 1; i < pool.Size(); ++i) texts.insert(pool.View(static_cast<StringId>(i)));
  }
  TextTable table;
  for (const std::string_view text : texts) table.Append({.id = text, .value = text});
  return table;
}

RunTable RunsOf(Job& job) {
  RunTable table;
  for (const QuerySide& side : job.Sides()) {
    if (!IsHistoryFile(side.captures.directory)) continue;
    for (const gate::HistoryRun& run :
         ReadHistory(side.captures.directory, std::numeric_limits<std::int64_t>::max())) {
      for (const gate::HistoryRun::Value& value : run.values) {
        table.Append({.side = side.name,
                      .run = run.id,
                      .time = run.time,
                      .label = run.label,
                      .metric = value.metric,
                      .unit = std::string(ProgramUnit(value.quantity)),
                      .value = value.median,
                      .noise = value.noise,
                      .verdict = value.verdict,
                      .allowed = value.limit,
                      .exit_code = run.exit_code});
      }
    }
  }
  return table;
}

ArrivalTable ArrivalsOf(Job& job) {
  ArrivalTable table;
  for (std::size_t side = 0; side < job.Sides().size(); ++side) AddArrivals(job, side, table);
  return table;
}

FindingTable FindingsOf(Job& job) {
  FindingTable table;
  for (const QuerySide& side : job.Sides()) {
    const nlohmann::json document = DiagnosisOf(job, side);
    for (const auto& finding : document.at("findings")) {
      table.Append({.side = side.name,
                    .key = finding.value("key", ""),
                    .kind = finding.value("kind", ""),
                    .severity = finding.value("severity", ""),
                    .title = WordsOf(finding, "title"),
                    .advice = WordsOf(finding, "advice"),
                    .gain_ns = finding.value("gain_ns", std::int64_t{-1}),
                    .ranks = RanksOf(finding)});
    }
  }
  return table;
}

ChangeTable ChangesOf(Job& job) {
  ChangeTable table;
  for (const auto& base : job.Parts()) {
    const auto other = std::ranges::find_if(job.Parts(), [&](const auto& part) {
      return part->side > base->side && part->rank == base->rank;
    });
    if (other == job.Parts().end()) continue;
    AddChange(AccountChange("step", MedianStep(base->trace), MedianStep((*other)->trace)), -1,
              base->rank, table);
  }
  return table;
}

RlRoleTable RlRolesOf(Job& job) {
  RlRoleTable table;
  for (const QuerySide& side : job.Sides()) {
    try {
      const Report report = ReportOf(job, side, RecipeNamed("rl_roles"),
                                     {.documents = false, .screen = Detail::kNone});
      AppendRows(SheetNamed(report, "RlRoles"), side.name, table);
    } catch (const Error& error) {
      if (!IsBadInput(error)) throw;
      job.AddNotes({error.what()}, false);  // the captures have no roles
    }
  }
  return table;
}

CapturedTable CapturedOf(Job& job) {
  CapturedTable table;
  for (const QuerySide& side : job.Sides()) {
    Survey survey = SurveyCaptures(side.captures.directory, side.captures.open);
    TellRawDamage(false, survey.ranks);
    for (const RankFacts& rank : survey.ranks) {
      const auto add = [&](std::string what, std::string state, const Lack& lack) {
        table.Append({.side = side.name,
                      .rank = rank.id,
                      .what = std::move(what),
                      .state = std::move(state),
                      .why = std::string(Translated(lack.reason)),
                      .setting = std::string(Translated(lack.setting))});
      };
      const std::vector<Lack> reasons = WhyMissing(rank);
      for (std::size_t i = 0; i < reasons.size(); ++i) {
        const Recorded state = rank.recorded.*kRecordedContents[i].state;
        add(kRecordedContents[i].key,
            state == Recorded::kYes  ? "yes"
            : state == Recorded::kNo ? "no"
                                     : "",
            state == Recorded::kNo || !rank.problem.empty() ? reasons[i] : Lack());
      }
      for (const std::string& name : rank.unread_tables)
        add(name, "unread", {ToTranslate("no analysis reads this table"), ""});
      for (const Warning& warning : rank.warnings)
        add(warning.id, "warning", {warning.text, warning.advice});
    }
  }
  return table;
}

}  // namespace mpa::query

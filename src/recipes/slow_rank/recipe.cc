// SPDX-License-Identifier: Apache-2.0
// The ranks for which others waited in collectives.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/collectives/lateness.h"
#include "mpa/recipe/culprits.h"
#include "mpa/recipe/duration_sample.h"
#include "mpa/recipe/job_collectives.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "stragglers.h"

namespace mpa::recipes::slow_rank {
namespace {

using slow_rank::StragglersOf;
using Ranks = std::vector<OfRank<RankLoad>>;

RankLoad MapSlowRank(const RankTrace& trace, const RecipeArguments&) { return LoadOfRank(trace); }

// A collective to which a rank came late.
struct LateOp {
  const CollectiveInstance* op = nullptr;
  std::vector<RankId> late;  // ranks
  TimeNs first_start = 0;    // of these
  DurationStats stats;
};

// How often a rank was late.
struct Votes {
  RankId rank{};
  std::int64_t votes = 0;
};

struct Findings {
  std::vector<LateOp> ops;   // in order of time
  std::vector<Votes> ranks;  // with a vote, in order of rank
};

Findings FindStragglers(const Ranks& ranks, const CollectiveInstances& collectives) {
  Findings findings;
  std::vector<Votes> votes(ranks.size());
  for (const CollectiveInstance& op : collectives) {
    if (op.members.size() < 2) continue;
    const auto run_of = [&](std::size_t i) -> const RankRuns::Row& {
      return ranks[op.members[i].rank].part.collectives.runs.rows[op.members[i].row];
    };
    std::vector<TimeNs> durations;
    for (std::size_t i = 0; i < op.members.size(); ++i) durations.push_back(run_of(i).dur);
    const std::vector<std::size_t> late = StragglersOf(durations);
    if (late.empty()) continue;
    LateOp found{&op, {}, run_of(late.front()).start, StatsOf(DurationSample(durations))};
    for (const std::size_t i : late) {
      found.late.push_back(ranks[op.members[i].rank].rank);
      found.first_start = std::min(found.first_start, run_of(i).start);
      ++votes[op.members[i].rank].votes;
    }
    findings.ops.push_back(std::move(found));
  }
  StableSort(findings.ops, {}, &LateOp::first_start);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    votes[i].rank = ranks[i].rank;
    if (votes[i].votes > 0) findings.ranks.push_back(votes[i]);
  }
  return findings;
}

std::vector<ColumnOf<Votes>> VoteColumns() {
  return {CountColumn<&Votes::rank, kRank>("rankId", 10, "The rank."),
          CountColumn<&Votes::votes>(
              "slowAffectCount", 16,
              "Number of collectives to which the rank came late: the others waited for it.")};
}

std::vector<ColumnOf<LateOp>> LateOpColumns() {
  return Joined<LateOp>(
      {{NamedColumn("SlowRank", Format::kText, 10, "The ranks that came late, joined by ','."),
        [](const LateOp& op) -> Cell { return RankNames(op.late, ","); }},
       TextColumn<&LateOp::op, &CollectiveInstance::name>("OpName", 36, "The collective."),
       TextColumn<&LateOp::op, &CollectiveInstance::group>("GroupName", 50,
                                                           "Group of the collective."),
       CountColumn<&LateOp::first_start>(
           "Timestamp", 22, "When the first of the late ranks began the collective, in ns.")},
      StatsColumns<LateOp>());
}

// Late ranks as all commands tell them.
struct LateRow {
  const LateRanks* late = nullptr;
  const CollectiveInstance* worst = nullptr;
  std::string state{};
};

std::vector<ColumnOf<LateRow>> LateRowColumns() {
  return {
      {NamedColumn("ranks", Format::kText, 16,
                   "The ranks that came late together, joined by ','; empty: it is not recorded"
                   " which."),
       [](const LateRow& row) -> Cell { return RankNames(row.late->ranks, ","); }},
      TextColumn<&LateRow::state>("state", 16,
                                  "captured, or why the ranks were not analysed. The waits of other"
                                  " ranks show when such ranks came."),
      CountColumn<&LateRow::late, &LateRanks::times>(
          "collectives", 12, "Number of collectives to which the ranks came late."),
      CountColumn<&LateRow::late, &LateRanks::times_last>(
          "timesLast", 10,
          "Number of collectives to which the ranks came last, with no other late rank after"
          " them."),
      CountColumn<&LateRow::late, &LateRanks::sum>(
          "lateNs", 14,
          "How long the ranks came after the ranks before them, summed over these collectives, in"
          " ns."),
      CountColumn<&LateRow::late, &LateRanks::as_last>(
          "lateAsLastNs", 14,
          "Part of lateNs in the collectives to which the ranks came last: what the others waited,"
          " in ns."),
      CountColumn<&LateRow::late, &LateRanks::most>("mostNs", 14,
                                                    "Longest lateness in one collective, in ns."),
      TextColumn<&LateRow::worst, &CollectiveInstance::name>(
          "opName", 36, "The collective with the longest lateness."),
      TextColumn<&LateRow::worst, &CollectiveInstance::group>("groupName", 50,
                                                              "Group of that collective.")};
}

void AddLateSheets(const Findings& findings, const Lateness& lateness, Report& report) {
  ItemSheet votes({"SlowRank", ToTranslate("How often the others waited for each rank")},
                  VoteColumns(), {"rank_stats"});
  ItemSheet ops({"SlowOpStats", ToTranslate("How often each rank came last, by operator")},
                LateOpColumns(), {"slow_op_stats"});
  for (const Votes& rank : findings.ranks) votes.Add(rank, BeginRank(rank.rank, report));
  for (const LateOp& op : findings.ops) ops.Add(op);
  ItemSheet late({"LateRanks", ToTranslate("Ranks that came late to collectives, and how late")},
                 LateRowColumns(), {"late_ranks", TextFile::Unit::kAsTheyAre});
  for (const LateRanks& ranks : lateness.ranks)
    late.Add({&ranks, &lateness.instances[ranks.worst],
              LateStateText(ranks.ranks, ranks.captured, lateness.absent)});
  votes.sheet.charts = {{.kind = Chart::Kind::kBars,
                         .title = "How often each rank came late to a collective",
                         .labels = {"rankId"},
                         .values = {{"slowAffectCount", Tint::kWait}},
                         .measured = Measured::kCount,
                         .counted = "collectives",
                         .order = Chart::Order::kLargestFirst,
                         .of_ranks = true}};
  late.sheet.charts = {LargestBars("How long ranks came late, and how long others waited for them",
                                   {"ranks", "state"}, {{"lateNs"}, {"lateAsLastNs", Tint::kWait}},
                                   Measured::kNs)};
  report.sheets = {std::move(votes.sheet), std::move(ops.sheet), std::move(late.sheet)};
}

void ReduceSlowRank(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                    Report& report) {
  JobCollectives collectives;
  for (const auto& rank : ranks) collectives.emplace_back(rank.part.collectives);
  const Lateness lateness = FindLateness(collectives, report.absent);
  const CollectiveInstances known = KnownInstances("slow_rank", lateness.instances,
                                                   ranks.front().part.collectives.on_gpu, report);
  if (wanted.sheets) AddLateSheets(FindStragglers(ranks, known), lateness, report);
  if (wanted.screen == Detail::kNone) return;
  constexpr std::size_t kShownRanks = 8;
  const JobVerdict verdict = JudgeLoads(LoadedRanks(ranks), report.absent);
  AddVerdictLines(verdict, report.lines);
  if (wanted.sheets) report.sheets.front().charts.front().culprits = NamesOfCulprits(verdict);
  AddLateLines(verdict, kShownRanks, report.lines);
}

}  // namespace

Recipe SlowRank() {
  return MakeRecipe<MapSlowRank, ReduceSlowRank, CheckLoad>(
      {.name = "slow_rank",
       .folder = "SlowRankAnalysis",
       .summary = "which ranks the others waited for in collectives",
       .needs = kLoadTables,
       .can_run = JudgeCommunication,
       .next = kDiagnosisNext,
       .empty_is_answer = true});
}

}  // namespace mpa::recipes::slow_rank

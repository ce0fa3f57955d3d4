// SPDX-License-Identifier: Apache-2.0
// The ranks for which others waited in collectives.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "latecomers.h"
#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/recipe/duration_sample.h"
#include "mpa/recipe/joint_runs.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"

namespace mpa::recipes {
namespace {

using slow_rank::LatecomersOf;
using Ranks = std::vector<OfRank<RankRuns>>;

RankRuns MapSlowRank(const RankTrace& trace, const RecipeArguments&) {
  return CollectiveRuns(trace);
}

// A collective to which a rank came late.
struct LateOp {
  const JointRun* op = nullptr;
  std::vector<std::int64_t> late;  // ranks
  TimeNs first_start = 0;          // of these
  DurationStats stats;
};

// How often a rank was late. `waited` is what a usual rank waited for it, in all.
struct Votes {
  std::int64_t rank = -1, votes = 0, collectives = 0;
  double waited = 0;
};

struct Findings {
  std::vector<LateOp> ops;   // in order of time
  std::vector<Votes> ranks;  // with a vote, in order of rank
  std::size_t tested = 0;
};

Findings FindLatecomers(const Ranks& ranks, const std::vector<JointRun>& collectives) {
  Findings findings;
  std::vector<Votes> votes(ranks.size());
  for (const JointRun& op : collectives) {
    if (op.members.size() < 2) continue;
    ++findings.tested;
    std::vector<TimeNs> durations;
    for (const RunMember& member : op.members) {
      durations.push_back(member.row->dur);
      ++votes[member.rank].collectives;
    }
    const std::vector<std::size_t> late = LatecomersOf(durations);
    if (late.empty()) continue;
    LateOp found{&op, {}, op.members[late.front()].row->start, StatsOf(DurationSample(durations))};
    for (const std::size_t i : late) {
      const RunMember& member = op.members[i];
      found.late.push_back(ranks[member.rank].rank);
      found.first_start = std::min(found.first_start, member.row->start);
      ++votes[member.rank].votes;
      votes[member.rank].waited += found.stats.median - static_cast<double>(member.row->dur);
    }
    findings.ops.push_back(std::move(found));
  }
  std::stable_sort(findings.ops.begin(), findings.ops.end(),
                   [](const LateOp& a, const LateOp& b) { return a.first_start < b.first_start; });
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    votes[i].rank = ranks[i].rank;
    if (votes[i].votes > 0) findings.ranks.push_back(votes[i]);
  }
  return findings;
}

std::vector<ColumnOf<Votes>> VoteColumns() {
  return {{{.name = "rankId", .format = Format::kInteger, .meaning = "The rank."},
           [](const Votes& rank) -> Cell { return rank.rank; }},
          {{.name = "slowAffectCount",
            .format = Format::kInteger,
            .width = 16,
            .meaning = "How many collectives it came late to: the others waited for it."},
           [](const Votes& rank) -> Cell { return rank.votes; }}};
}

std::vector<ColumnOf<LateOp>> LateOpColumns() {
  std::vector<ColumnOf<LateOp>> columns = {
      {{.name = "SlowRank",
        .format = Format::kText,
        .meaning = "The ranks that came late, joined by ','."},
       [](const LateOp& op) -> Cell { return fmt::format("{}", fmt::join(op.late, ",")); }},
      {{.name = "OpName", .format = Format::kText, .width = 36, .meaning = "The collective."},
       [](const LateOp& op) -> Cell { return op.op->name; }},
      {{.name = "GroupName", .format = Format::kText, .width = 50, .meaning = "Its group."},
       [](const LateOp& op) -> Cell { return op.op->group; }},
      {{.name = "Timestamp",
        .format = Format::kInteger,
        .width = 22,
        .meaning = "When the late ranks began it, the first of them, in ns."},
       [](const LateOp& op) -> Cell { return op.first_start; }}};
  AddStatsColumns(columns);
  return columns;
}

void AddLateSheets(const Findings& findings, Report& report) {
  const auto vote_columns = VoteColumns();
  const auto op_columns = LateOpColumns();
  Sheet votes = SheetOf("SlowRank", vote_columns, {"rank_stats"});
  Sheet ops = SheetOf("SlowOpStats", op_columns, {"slow_op_stats"});
  for (const Votes& rank : findings.ranks) {
    AddRow(vote_columns, rank, BeginRank(rank.rank, report), votes);
  }
  for (const LateOp& op : findings.ops) AddRow(op_columns, op, 0, ops);
  report.sheets = {std::move(votes), std::move(ops)};
}

std::string TimeText(double ns) {
  return AmountText(Quantity::kTime, static_cast<std::int64_t>(ns + 0.5));
}

void AddLateLines(const Findings& findings, std::size_t rank_count, Report& report) {
  const std::string tested = fmt::format("{} collective{} of {} ranks", findings.tested,
                                         findings.tested == 1 ? "" : "s", rank_count);
  if (findings.ranks.empty()) {
    report.lines.push_back(fmt::format("no slow rank: none was late in {}", tested));
    return;
  }
  constexpr std::size_t kShownRanks = 8, kShownOps = 5;
  std::vector<Votes> most = findings.ranks;
  std::stable_sort(most.begin(), most.end(),
                   [](const Votes& a, const Votes& b) { return a.votes > b.votes; });
  report.lines.push_back(fmt::format("ranks that came late, in {}:", tested));
  report.lines.push_back("  rank       late  collectives  others waited");
  for (std::size_t i = 0; i < std::min(kShownRanks, most.size()); ++i) {
    report.lines.push_back(fmt::format("  {:<6} {:>8} {:>12} {:>14}", RankNumber(most[i].rank),
                                       most[i].votes, most[i].collectives,
                                       TimeText(most[i].waited)));
  }
  if (most.size() > kShownRanks) {
    report.lines.push_back(fmt::format("  ... and {} more ranks", most.size() - kShownRanks));
  }
  std::vector<const LateOp*> longest;
  for (const LateOp& op : findings.ops) longest.push_back(&op);
  const auto wait = [](const LateOp& op) {
    return op.stats.median - static_cast<double>(op.stats.min);
  };
  std::stable_sort(longest.begin(), longest.end(),
                   [&](const LateOp* a, const LateOp* b) { return wait(*a) > wait(*b); });
  report.lines.push_back("the longest waits:");
  for (std::size_t i = 0; i < std::min(kShownOps, longest.size()); ++i) {
    const LateOp& op = *longest[i];
    report.lines.push_back(fmt::format("  {:<44} {:>10} for {}",
                                       CutBeginning(Printable(op.op->name), 44), TimeText(wait(op)),
                                       RankText(op.late.front())));
  }
}

void ReduceSlowRank(const Ranks& ranks, const RecipeArguments&, Wanted wanted, Report& report) {
  std::vector<const RankRuns*> parts;
  for (const auto& rank : ranks) parts.push_back(&rank.part);
  const JointRuns collectives = JoinRuns(parts);
  NoteRuns("slow_rank", collectives, report);
  const Findings findings = FindLatecomers(ranks, collectives.all);
  if (wanted.sheets) AddLateSheets(findings, report);
  if (wanted.screen != Detail::kNone) AddLateLines(findings, ranks.size(), report);
}

}  // namespace

Recipe SlowRank() {
  return MakeRecipe<MapSlowRank, ReduceSlowRank>(
      {.name = "slow_rank",
       .folder = "SlowRankAnalysis",
       .summary = "ranks for which others waited in collectives",
       .needs = Tables::kCommunications,
       .can_run = JudgeCollectives,
       .empty_is_answer = true});
}

}  // namespace mpa::recipes

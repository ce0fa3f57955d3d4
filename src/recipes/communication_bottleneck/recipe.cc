// SPDX-License-Identifier: Apache-2.0
// Which rank the longest communication operators of a rank waited for, and what made that one late.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "find_causes.h"
#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/collectives/lateness.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/job_collectives.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/report.h"

namespace mpa::recipes::communication_bottleneck {
namespace {

using bottleneck::Bound;
using bottleneck::Ranks;
using bottleneck::SlowRun;

std::int64_t ReadRank(const std::string& text) {
  const auto rank = WholeNumber<std::int64_t>(text);
  if (!rank || *rank < 0) Fail(ErrorKind::kUsage, "give the number of a rank");
  return *rank;
}

constexpr bottleneck::Limits kUsualLimits;
constexpr Option<std::int64_t> kRankId{.name = "rank_id",
                                       .type_name = "N",
                                       .help = "Rank whose operators are explained",
                                       .read = ReadRank};
constexpr Option<std::size_t> kTopNum{"top_num", "N", "Number of its longest operators to explain",
                                      10};
constexpr Option<double> kSlowNpu{
    "slow_npu_happen", "PART",
    "A rank is late if its operator differs from the others by this share of the duration",
    kUsualLimits.slow_npu_happen},
    kWaiting{"diff_waiting_time", "NS",
             "Work counts as waiting on the device if it waits this much longer there than on the"
             " host, in ns",
             kUsualLimits.diff_waiting_time},
    kProportion{"device_bound_proportion", "PART",
                "The device is the cause if this share of the work waits there",
                kUsualLimits.device_bound_proportion},
    kShifted{"start_ns_shifted", "NS",
             "Ranks are in step where events start at most this far apart, in ns",
             kUsualLimits.start_ns_shifted};

bottleneck::Limits LimitsOf(const RecipeArguments& arguments) {
  const auto get = [&](const Option<double>& limit) { return std::min(arguments[limit], 1e18); };
  return {get(kSlowNpu), get(kWaiting), get(kShifted), get(kProportion)};
}

// The rank that was asked for; else rank 0, or the first one.
std::size_t TargetOf(const Ranks& ranks, const RecipeArguments& arguments) {
  const std::int64_t given = arguments[kRankId];
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].rank == given) return i;
  }
  if (!arguments.Has(kRankId.name)) return 0;
  Fail(ErrorKind::kInput, "--{} {}: no such rank was read; there are {} ranks, {} to {}",
       kRankId.name, given, ranks.size(), RankName(ranks.front().rank),
       RankName(ranks.back().rank));
}

std::vector<ColumnOf<SlowRun>> SlowRunColumns() {
  return {TextColumn<&SlowRun::start, MicrosecondsText>(
              "startTime(us)", 22, "Start of the operator on the rank that is explained, in us.",
              "Start Time(us)"),
          TextColumn<&SlowRun::End, MicrosecondsText>(
              "endTime(us)", 22, "End of the operator on the rank that is explained, in us.",
              "End Time(us)"),
          NumberColumn<&SlowRun::dur, kAsUs>(
              "duration(us)", Format::kDecimals3, 22,
              "Duration of the operator on the rank that is explained, in us.", "Duration(us)"),
          TextColumn<&SlowRun::name>("communicationOp", 22, "The operator.", "Communication Op"),
          CountColumn<&SlowRun::slow, kRank>(
              "slowRankId", 22,
              "The rank that came last, whose operator is the shortest; empty where the ranks"
              " hardly differ.",
              "Slow Rank ID"),
          CountColumn<&SlowRun::fast, kRank>(
              "fastRankId", 22, "The rank that waited most, whose operator is the longest.",
              "Fast Rank ID"),
          TextColumn<&SlowRun::reason>("reason", 22,
                                       "Where the slow rank fell behind the fast one.", "Reason")};
}

// The ranks that came last to an operator; all commands show the same ones.
struct LastToOp {
  bool known = true;            ///< false: who came last cannot be known
  std::vector<RankId> ranks{};  ///< with `is_late` and none: not recorded which
  bool is_late = false;
  bool captured = true;
  std::optional<TimeNs> behind{};  ///< the ranks before them; empty: not measured
  std::string who{}, state{};      ///< "rank 6 (not captured)", "not captured"
};

class LastRanks {
 public:
  LastRanks(const Ranks& ranks, std::size_t target, const AbsentRanks& absent) : target_(target) {
    for (const auto& rank : ranks) collectives_.emplace_back(rank.part.load.collectives);
    lateness_ = FindLateness(collectives_, absent);
  }

  const Lateness& Of() const { return lateness_; }

  LastToOp Find(const SlowRun& item) const {
    const auto number = FindInstance(lateness_, collectives_, target_, item.operation);
    if (!number || !lateness_.instances[*number].is_barrier) {
      if (!item.slow) return {};
      return Late({*item.slow}, true, std::nullopt);
    }
    const InstanceLateness& found = lateness_.of_instance[*number];
    if (!found.known || found.late.empty()) return {.known = found.known};
    const LateMembers& late = found.late.front();
    return Late(late.ranks, late.captured, late.Behind());
  }

 private:
  LastToOp Late(const std::vector<RankId>& ranks, bool captured,
                std::optional<TimeNs> behind) const {
    return {.ranks = ranks,
            .is_late = true,
            .captured = captured,
            .behind = behind,
            .who = LateRanksText(ranks, captured, lateness_.absent),
            .state = LateStateText(ranks, captured, lateness_.absent)};
  }

  const std::size_t target_;
  JobCollectives collectives_;
  Lateness lateness_;
};

std::string TextOf(const LastToOp& last) {
  if (!last.known) return Say("the last rank is unknown");
  if (!last.is_late) return Say("no late rank");
  return Say("last: {}", last.who);
}

// An operator of the rank that is explained, and who came last to it.
struct ExplainedOp {
  const SlowRun* op = nullptr;
  LastToOp last;
};

// Ranks that came last together, over these operators.
struct LateInOps {
  LastToOp last;  // `behind` over all of them
  std::size_t times = 0, device = 0, host = 0;
  TimeNs duration = 0;
};

// The longest waits first.
std::vector<LateInOps> LateRanksOf(const std::vector<ExplainedOp>& ops) {
  std::map<std::pair<bool, std::vector<RankId>>, LateInOps> by_ranks;
  for (const auto& [op, last] : ops) {
    if (!last.is_late) continue;
    LateInOps& late = by_ranks[{last.captured, last.ranks}];
    const std::optional<TimeNs> before = late.last.behind;
    late.last = last;
    if (before) late.last.behind = *before + last.behind.value_or(0);
    ++late.times;
    const bool is_explained = op->slow && last.captured && last.ranks == std::vector{*op->slow};
    late.device += is_explained && op->bound == Bound::kDevice ? 1 : 0;
    late.host += is_explained && op->bound == Bound::kHost ? 1 : 0;
    late.duration += op->dur;
  }
  std::vector<LateInOps> order;
  for (auto& [ranks, late] : by_ranks) order.push_back(std::move(late));
  StableSort(order, std::greater(), &LateInOps::duration);
  return order;
}

Cell RanksCell(const LastToOp& last) { return RankNames(last.ranks, ","); }
Cell StateCell(const LastToOp& last) { return last.is_late ? Cell(last.state) : Cell(); }

std::vector<ColumnOf<ExplainedOp>> LastColumns() {
  return {
      CountColumn<&ExplainedOp::op, &SlowRun::start>(
          "startNs", 22, "Start of the operator on the rank that is explained, in ns."),
      CountColumn<&ExplainedOp::op, &SlowRun::dur>(
          "durationNs", 14, "Duration of the operator on the rank that is explained, in ns."),
      TextColumn<&ExplainedOp::op, &SlowRun::name>("communicationOp", 36, "The operator."),
      {NamedColumn("lastKnown", Format::kInteger, 10,
                   "1: it is known which rank came last; 0: it cannot be known."),
       [](const ExplainedOp& row) -> Cell { return std::int64_t{row.last.known}; }},
      {NamedColumn("lastRanks", Format::kText, 16,
                   "The ranks that came last, joined by ','; empty: none came late, or it is not"
                   " recorded which."),
       [](const ExplainedOp& row) -> Cell { return RanksCell(row.last); }},
      {NamedColumn("state", Format::kText, 16,
                   "Whether the last ranks were captured, or why not; empty: none came late."),
       [](const ExplainedOp& row) -> Cell { return StateCell(row.last); }},
      {NamedColumn("lateNs", Format::kInteger, 14,
                   "How long the last ranks came after the ranks before them, in ns."),
       [](const ExplainedOp& row) -> Cell { return CellOf(row.last.behind); }}};
}

std::vector<ColumnOf<LateInOps>> LateInOpsColumns() {
  return {
      {NamedColumn("ranks", Format::kText, 16,
                   "The ranks that came last together, joined by ','; empty: it is not recorded"
                   " which."),
       [](const LateInOps& row) -> Cell { return RanksCell(row.last); }},
      {NamedColumn("state", Format::kText, 16, "captured, or why the ranks were not."),
       [](const LateInOps& row) -> Cell { return StateCell(row.last); }},
      CountColumn<&LateInOps::times>("timesLast", 10,
                                     "Number of operators to which the ranks came last."),
      CountColumn<&LateInOps::duration>(
          "durationNs", 14, "Duration of these operators on the rank that is explained, in ns."),
      {NamedColumn("lateNs", Format::kInteger, 14,
                   "How long the ranks came after the ranks before them, summed over the operators"
                   " where it is known, in ns."),
       [](const LateInOps& row) -> Cell { return CellOf(row.last.behind); }},
      CountColumn<&LateInOps::device>(
          "deviceBound", 12, "Number of operators to which the ranks' devices made them late."),
      CountColumn<&LateInOps::host>(
          "hostBound", 12, "Number of operators to which the ranks' hosts made them late.")};
}

// Without late ranks that cost next to nothing over all of the operators, but for those that hold
// up the job: they may come one shortly after the other. What two ranks exchange has no time by
// which one of them is late.
std::vector<ExplainedOp> WithoutTrifles(std::vector<ExplainedOp> ops, const JobVerdict& verdict) {
  constexpr TimeNs kShare = 20;  // 1 / kShare of the operators
  for (const LateInOps& late : LateRanksOf(ops)) {
    const TimeNs behind = late.last.behind.value_or(late.duration);
    if (behind >= std::max(verdict.LeastCost(), late.duration / kShare) ||
        verdict.HoldUp(late.last.ranks, late.last.captured))
      continue;
    for (ExplainedOp& op : ops) {
      if (op.last.is_late && op.last.captured == late.last.captured &&
          op.last.ranks == late.last.ranks)
        op.last = {};
    }
  }
  return ops;
}

void AddLines(const Lateness& lateness, RankId target, const std::vector<ExplainedOp>& ops,
              Report& report) {
  const std::vector<LateInOps> order = LateRanksOf(ops);
  if (const std::string coverage = CoverageText(lateness); !coverage.empty())
    report.lines.push_back(coverage);
  report.lines.push_back(
      Say("the {} longest communication operators of {}:", ops.size(), RankText(target)));
  constexpr std::size_t kShownRanks = 3, kShownOps = 6;
  TimeNs longest = 0;
  for (const auto& [op, last] : ops) longest = std::max(longest, op->dur);
  const AmountScale scale(Quantity::kTime, longest);
  const auto time_text = [&](TimeNs time) {
    return fmt::format("{} {}", scale.Text(scale.Rounded(time)), scale.unit());
  };
  for (std::size_t i = 0; i < std::min(kShownRanks, order.size()); ++i) {
    const LateInOps& late = order[i];
    const std::string bound =
        late.device + late.host == 0
            ? ""
            : Say(" ({} device-bound, {} host-bound)", late.device, late.host);
    report.lines.push_back(Say("  {} came last in {}, which took {}{}", late.last.who, late.times,
                               time_text(late.duration), bound));
  }
  AddMoreLine(order.size(), kShownRanks, "rank", report.lines);
  for (std::size_t i = 0; i < std::min(kShownOps, ops.size()); ++i) {
    const auto& [op, last] = ops[i];
    report.lines.push_back(
        fmt::format("  {} {:>10}  {}", NameCell(op->name, 34), time_text(op->dur), TextOf(last)));
  }
  AddMoreLine(ops.size(), kShownOps, "operator", report.lines);
  AddClockLines(lateness, report.lines);
}

void AddSheets(const std::vector<SlowRun>& found, const std::vector<ExplainedOp>& ops,
               RankId target, Report& report) {
  constexpr TextFile::Unit kPlain = TextFile::Unit::kAsTheyAre;
  ItemSheet list({"CommunicationBottleneck",
                  ToTranslate("The longest communication operators, and which rank came last")},
                 SlowRunColumns(), {"communication_bottleneck", kPlain});
  ItemSheet last({"CommunicationBottleneckLast", ToTranslate("How often each rank came last")},
                 LastColumns(), {"communication_bottleneck_last", kPlain});
  ItemSheet late(
      {"CommunicationBottleneckLateRanks", ToTranslate("Ranks that came late, and how late")},
      LateInOpsColumns(), {"communication_bottleneck_late_ranks", kPlain});
  list.sheet.charts = {LargestBars("The longest communication operators", {"communicationOp"},
                                   {{"duration(us)", Tint::kUnsplit}}, Measured::kUs)};
  late.sheet.charts = {LargestBars("How long these operators waited for the ranks that came last",
                                   {"ranks", "state"}, {{"lateNs", Tint::kWait}}, Measured::kNs)};
  const RankIndex rank = BeginRank(target, report);
  for (const SlowRun& item : found) list.Add(item, rank);
  for (const ExplainedOp& item : ops) last.Add(item, rank);
  for (const LateInOps& item : LateRanksOf(ops)) late.Add(item, rank);
  report.sheets = {std::move(list.sheet), std::move(last.sheet), std::move(late.sheet)};
}

void ReduceBottleneck(const Ranks& ranks, const RecipeArguments& arguments, OutputSelection wanted,
                      Report& report) {
  const std::size_t target = TargetOf(ranks, arguments);
  const std::vector<SlowRun> found =
      FindCauses(ranks, target, arguments[kTopNum], LimitsOf(arguments));
  if (found.empty()) {
    report.notes.push_back(Say("{} recorded no communication operators; {}",
                               RankText(ranks[target].rank),
                               Translated(ranks[target].part.load.collectives.on_gpu
                                              ? "no kernel of NCCL ran"
                                              : "collect with profiler_level=Level1")));
  }
  const auto alone = std::ranges::count_if(
      found, [](const SlowRun& item) { return item.bound == Bound::kUnknown && !item.slow; });
  if (alone > 0) {
    report.notes.push_back(
        Say("{} of the operators ran on {} alone, or a different number of times on the"
            " other ranks; give captures of the same steps of all ranks",
            alone, RankText(ranks[target].rank)));
  }
  const LastRanks last(ranks, target, report.absent);
  std::vector<ExplainedOp> ops;
  for (const SlowRun& item : found) ops.push_back({&item, last.Find(item)});
  const RankId rank = ranks[target].rank;
  if (wanted.sheets) AddSheets(found, ops, rank, report);
  if (wanted.screen == Detail::kNone || found.empty()) return;
  std::vector<LoadedRank> loaded;
  for (const auto& of : ranks) loaded.push_back({of.rank, of.part.load});
  const JobVerdict verdict = JudgeLoads(loaded, report.absent);
  AddVerdictLines(verdict, report.lines);
  AddLines(last.Of(), rank, WithoutTrifles(std::move(ops), verdict), report);
}

Verdict JudgeBottleneck(const RankFacts& facts) {
  return JudgeCommunication(facts).AddLack(
      facts.recorded.host_ops == Recorded::kNo,
      "no operators of the host; why a rank came late stays unknown",
      "activities with ProfilerActivity.CPU");
}

void CheckEvents(const bottleneck::RankEvents& part) {
  CheckLoad(part.load);
  for (const bottleneck::LaunchedTask& task : part.tasks) {
    if (!IsTime(task.start) || !IsDuration(task.end - task.start))
      Fail(ErrorKind::kCorrupt, "a task has impossible times");
  }
}

}  // namespace

Recipe CommunicationBottleneck() {
  return MakeRecipe<bottleneck::MapEvents, ReduceBottleneck, CheckEvents>(
      {.name = "communication_bottleneck",
       .folder = "CommunicatonBottleneckAnalysis",  // spelt as the Python tool does
       .summary = "for which rank the longest communication operators waited, and why",
       .needs = Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications |
                Tables::kScheduleKernels | Tables::kHostOps | Tables::kLaunches |
                Tables::kHostCalls | kLoadTables,
       .options = {kRankId, kTopNum, kSlowNpu, kWaiting, kProportion, kShifted},
       .can_run = JudgeBottleneck,
       .next = kDiagnosisNext,
       .cuts_steps = true});
}

}  // namespace mpa::recipes::communication_bottleneck

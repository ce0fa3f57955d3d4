// SPDX-License-Identifier: Apache-2.0
// Which rank the longest communication operators of a rank waited for, and what made that one late.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "find_causes.h"
#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/rank_names.h"
#include "mpa/base/time.h"
#include "mpa/collectives/check_collectives.h"
#include "mpa/collectives/lateness.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/job_collectives.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/report.h"

namespace mpa::recipes {
namespace {

using bottleneck::Bound;
using bottleneck::Ranks;
using bottleneck::SlowRun;

constexpr std::string_view kRankId = "rank_id", kTopNum = "top_num";
constexpr std::string_view kSlowNpu = "slow_npu_happen", kWaiting = "diff_waiting_time",
                           kShifted = "start_ns_shifted", kProportion = "device_bound_proportion";
constexpr std::int64_t kUsualTop = 10;

std::string ProblemOfRank(const std::string& value) {
  const RecipeArguments given = {{std::string(kRankId), value}};
  const bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  return digits && NumberArgument<std::int64_t>(given, kRankId) ? "" : "give the number of a rank";
}

bottleneck::Limits LimitsOf(const RecipeArguments& arguments) {
  bottleneck::Limits limits;
  const auto take = [&](std::string_view name, double& limit) {
    limit = std::min(NumberArgument<double>(arguments, name).value_or(limit), 1e18);
  };
  take(kSlowNpu, limits.slow_npu_happen);
  take(kWaiting, limits.diff_waiting_time);
  take(kShifted, limits.start_ns_shifted);
  take(kProportion, limits.device_bound_proportion);
  return limits;
}

// The rank that was asked for; else rank 0, or the first one.
std::size_t TargetOf(const Ranks& ranks, const RecipeArguments& arguments) {
  const auto given = NumberArgument<std::int64_t>(arguments, kRankId);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].rank == given.value_or(0)) return i;
  }
  if (!given) return 0;
  Fail(ErrorKind::kInput, "--{} {}: no such rank was read; there are {} ranks, {} to {}", kRankId,
       *given, ranks.size(), RankName(ranks.front().rank), RankName(ranks.back().rank));
}

std::vector<ColumnOf<SlowRun>> SlowRunColumns() {
  return {TextColumn<&SlowRun::start, MicrosecondsText>(
              "startTime(us)", 22, "When the operator began on the rank that is explained.",
              "Start Time(us)"),
          TextColumn<&SlowRun::End, MicrosecondsText>("endTime(us)", 22, "When it ended there.",
                                                      "End Time(us)"),
          NumberColumn<&SlowRun::dur, kAsUs>("duration(us)", Format::kDecimals3, 22,
                                             "How long it took there.", "Duration(us)"),
          TextColumn<&SlowRun::name>("communicationOp", 22, "The operator.", "Communication Op"),
          CountColumn<&SlowRun::slow, kRank>(
              "slowRankId", 22,
              "The rank that came last, whose operator is the shortest; empty where the ranks "
              "hardly differ.",
              "Slow Rank ID"),
          CountColumn<&SlowRun::fast, kRank>(
              "fastRankId", 22, "The rank that waited most, whose operator is the longest.",
              "Fast Rank ID"),
          TextColumn<&SlowRun::reason>("reason", 22,
                                       "Where the slow rank fell behind the fast one.", "Reason")};
}

// What all commands say of who came last to an operator of the rank at `target`.
class LastRanks {
 public:
  LastRanks(const Ranks& ranks, std::size_t target, const AbsentRanks& absent) : target_(target) {
    for (const auto& rank : ranks) collectives_.emplace_back(rank.part.collectives);
    lateness_ = FindLateness(collectives_, absent);
  }

  const Lateness& Of() const { return lateness_; }

  std::string TextOf(const SlowRun& item) const {
    const auto number = FindInstance(lateness_, collectives_, target_, item.operation);
    if (!number || !lateness_.instances[*number].is_barrier) {
      return item.slow ? "last: " + RankText(*item.slow) : "no late rank";
    }
    const InstanceLateness& found = lateness_.of_instance[*number];
    if (!found.known) return "the last rank cannot be known";
    if (found.late.empty()) return "no late rank";
    return "last: " +
           LateRanksText(found.late.front().ranks, found.late.front().captured, lateness_.absent);
  }

 private:
  const std::size_t target_;
  JobCollectives collectives_;
  Lateness lateness_;
};

void AddLines(const LastRanks& last, std::int64_t target, const std::vector<SlowRun>& found,
              Report& report) {
  struct Late {
    std::size_t times = 0, device = 0, host = 0;
    TimeNs duration = 0;
  };
  std::map<std::string, Late> late_ranks;  // by what the screen says
  for (const SlowRun& item : found) {
    const std::string text = last.TextOf(item);
    if (!text.starts_with("last: ")) continue;
    Late& late = late_ranks[text.substr(6)];
    ++late.times;
    const bool is_explained = item.slow && text.substr(6) == RankText(*item.slow);
    late.device += is_explained && item.bound == Bound::kDevice ? 1 : 0;
    late.host += is_explained && item.bound == Bound::kHost ? 1 : 0;
    late.duration += item.dur;
  }
  std::vector<std::pair<std::string, Late>> order(late_ranks.begin(), late_ranks.end());
  std::ranges::stable_sort(
      order, [](const auto& a, const auto& b) { return a.second.duration > b.second.duration; });
  if (const std::string coverage = CoverageText(last.Of()); !coverage.empty())
    report.lines.push_back(coverage);
  report.lines.push_back(
      fmt::format("the {} longest communication operators of {}:", found.size(), RankText(target)));
  constexpr std::size_t kShownRanks = 3, kShownOps = 6;
  TimeNs longest = 0;
  for (const SlowRun& item : found) longest = std::max(longest, item.dur);
  const AmountScale scale(Quantity::kTime, longest);
  const auto time_text = [&](TimeNs time) {
    return fmt::format("{} {}", scale.Text(scale.Rounded(time)), scale.unit());
  };
  for (std::size_t i = 0; i < std::min(kShownRanks, order.size()); ++i) {
    const auto& [text, late] = order[i];
    const std::string bound =
        late.device + late.host == 0
            ? ""
            : fmt::format(" ({} device-bound, {} host-bound)", late.device, late.host);
    report.lines.push_back(fmt::format("  {} came last in {}, which took {}{}", text, late.times,
                                       time_text(late.duration), bound));
  }
  AddMoreLine(order.size(), kShownRanks, "rank", report.lines);
  for (std::size_t i = 0; i < std::min(kShownOps, found.size()); ++i) {
    const SlowRun& item = found[i];
    report.lines.push_back(fmt::format("  {} {:>10}  {}", NameCell(item.name, 34),
                                       time_text(item.dur), last.TextOf(item)));
  }
  AddMoreLine(found.size(), kShownOps, "operator", report.lines);
  AddClockLines(last.Of(), report.lines);
}

void ReduceBottleneck(const Ranks& ranks, const RecipeArguments& arguments, OutputSelection wanted,
                      Report& report) {
  const std::size_t target = TargetOf(ranks, arguments);
  const auto most = static_cast<std::size_t>(
      NumberArgument<std::int64_t>(arguments, kTopNum).value_or(kUsualTop));
  const std::vector<SlowRun> found = FindCauses(ranks, target, most, LimitsOf(arguments));
  if (found.empty()) {
    report.notes.push_back(
        fmt::format("{} recorded no communication operators; {}", RankText(ranks[target].rank),
                    ranks[target].part.collectives.on_gpu ? "no kernel of NCCL ran"
                                                          : "collect with profiler_level=Level1"));
  }
  const auto alone = std::ranges::count_if(
      found, [](const SlowRun& item) { return item.bound == Bound::kUnknown && !item.slow; });
  if (alone > 0) {
    report.notes.push_back(
        fmt::format("{} of the operators ran on {} alone, or a different number of times on the "
                    "other ranks; give the "
                    "captures of all ranks, of the same steps",
                    alone, RankText(ranks[target].rank)));
  }
  if (wanted.sheets) {
    ItemSheet list("CommunicationBottleneck", SlowRunColumns(),
                   {"communication_bottleneck", TextFile::Unit::kAsTheyAre});
    const std::size_t rank = BeginRank(ranks[target].rank, report);
    for (const SlowRun& item : found) list.Add(item, rank);
    report.sheets.push_back(std::move(list.sheet));
  }
  if (wanted.screen != Detail::kNone && !found.empty())
    AddLines(LastRanks(ranks, target, report.absent), ranks[target].rank, found, report);
}

Verdict JudgeBottleneck(const RankFacts& facts) {
  return JudgeCollectives(facts).AddLack(
      facts.recorded.host_ops == Recorded::kNo,
      "no operators of the host; why a rank came late stays unknown",
      "activities with ProfilerActivity.CPU");
}

void CheckEvents(const bottleneck::RankEvents& part) {
  CheckCollectives(part.collectives);
  for (const bottleneck::LaunchedTask& task : part.tasks) {
    if (!IsTime(task.start) || !IsDuration(task.end - task.start))
      Fail(ErrorKind::kCorrupt, "a task has impossible times");
  }
}

}  // namespace

Recipe CommunicationBottleneck() {
  using Value = RecipeParameter::Value;
  return MakeRecipe<bottleneck::MapEvents, ReduceBottleneck, CheckEvents>(
      {.name = "communication_bottleneck",
       .folder = "CommunicatonBottleneckAnalysis",  // spelt as the Python tool does
       .summary = "which rank the longest communication operators waited for, and why",
       .needs = Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications |
                Tables::kScheduleKernels | Tables::kHostOps | Tables::kLaunches |
                Tables::kHostCalls | kLatenessTables,
       .parameters =
           {{kRankId,
             "N",
             "Rank whose operators are explained [default: 0]",
             Value::kText,
             {},
             ProblemOfRank},
            {kTopNum, "N", "Its longest operators to explain [default: 10]", Value::kCount},
            {kSlowNpu, "PART",
             "A rank is late if its operator differs from the others by this part of the duration "
             "[default: 0.05]",
             Value::kPositive},
            {kWaiting, "NS",
             "Work waits on the device if it waits this much longer there than on the host, in ns "
             "[default: 100000]",
             Value::kPositive},
            {kProportion, "PART",
             "The device is the cause if this part of the work waits there [default: 0.5]",
             Value::kPositive},
            {kShifted, "NS",
             "Ranks are in step where events start at most this far apart, in ns [default: "
             "1000000]",
             Value::kPositive}},
       .can_run = JudgeBottleneck,
       .cuts_steps = true});
}

}  // namespace mpa::recipes

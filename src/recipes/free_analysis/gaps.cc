// SPDX-License-Identifier: Apache-2.0
// The longest times without device work, why they are there, and what the account says of them.
#include "gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>

#include "mpa/base/first_seen.h"
#include "mpa/base/language.h"
#include "mpa/base/reword.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/time.h"
#include "mpa/measure/activities.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/memory_copies.h"

namespace mpa::recipes::free_analysis {
namespace {

// What the device did in order of start, asked for what lies next to a gap.
class Neighbours {
 public:
  Neighbours(const RankTrace& trace, bool with_copies) : trace_(trace) {
    for (const Dispatch& dispatch : FindDispatches(trace)) {
      if (!with_copies && IsDeviceCopy(dispatch.work.category)) continue;
      if (dispatch.work.end > dispatch.work.begin) work_.push_back(dispatch);
    }
    for (std::size_t i = 0; i < work_.size(); ++i) {
      const bool outlasts = i > 0 && work_[last_[i - 1]].work.end > work_[i].work.end;
      last_.push_back(outlasts ? last_[i - 1] : i);
    }
  }

  // Of the work that begins before the gap what ends last.
  HostSide Before(const Interval& gap) const {
    const std::size_t next = FirstFrom(gap.begin);
    return next > 0 ? SideOf(work_[last_[next - 1]])
                    : HostSide{.call = {}, .op_end = {}, .known = false};
  }
  HostSide Behind(const Interval& gap) const {
    const std::size_t next = FirstFrom(gap.begin);
    return next < work_.size() ? SideOf(work_[next])
                               : HostSide{.call = {}, .op_end = {}, .known = false};
  }

 private:
  std::size_t FirstFrom(TimeNs time) const {
    const auto at = std::partition_point(
        work_.begin(), work_.end(), [&](const Dispatch& one) { return one.work.begin < time; });
    return static_cast<std::size_t>(at - work_.begin());
  }

  HostSide SideOf(const Dispatch& dispatch) const {
    HostSide side;
    if (dispatch.call >= 0) {
      const auto row = static_cast<std::size_t>(dispatch.call);
      const TimeNs begin = trace_.host_calls.start[row];
      side.call = Interval{begin, begin + trace_.host_calls.dur[row]};
      side.call_thread = ThreadOfTrack(trace_, trace_.host_calls.track[row]);
    }
    if (dispatch.op >= 0) {
      const auto row = static_cast<std::size_t>(dispatch.op);
      side.op_end = trace_.host_ops.start[row] + trace_.host_ops.dur[row];
      side.op_thread = ThreadOfTrack(trace_, trace_.host_ops.track[row]);
    }
    return side;
  }

  const RankTrace& trace_;
  std::vector<Dispatch> work_;
  std::vector<std::size_t> last_;  // by work: of it and those before what ends last
};

// Tasks that take time, in order of start. Ranges that the program marked are not tasks.
std::vector<std::size_t> RunningTasks(const RankTrace& trace) {
  const DeviceTasks& tasks = trace.device_tasks;
  std::vector<std::size_t> rows = tasks.RowsByStart();
  std::erase_if(rows, [&](std::size_t row) {
    return tasks.dur[row] <= 0 || trace.strings.View(tasks.type[row]).starts_with("MSTX_");
  });
  return rows;
}

void AddTasks(const RankTrace& trace, const std::vector<std::size_t>& by_start, Gap& gap) {
  const DeviceTasks& tasks = trace.device_tasks;
  FirstSeen<std::string, std::size_t> counts;
  std::vector<Interval> running;
  auto at = std::partition_point(by_start.begin(), by_start.end(), [&](std::size_t row) {
    return tasks.start[row] < gap.time.begin;
  });
  for (; at != by_start.end() && tasks.start[*at] < gap.time.end; ++at) {
    const TimeNs end = tasks.start[*at] + tasks.dur[*at];
    if (end > gap.time.end) continue;
    ++counts[std::string(TaskKind(trace, *at))];
    running.push_back({tasks.start[*at], end});
  }
  gap.tasks = counts.rows();
  StableSort(gap.tasks, [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const Interval& rest : Difference({gap.time}, Union(std::move(running)))) {
    gap.longest_rest = std::max(gap.longest_rest, rest.end - rest.begin);
  }
}

// What took most of the time between the two dispatches. Where the task queue's thread makes the
// calls, it may wait for the one that runs the operators.
void AddHeldThread(const RankTrace& trace, const ThreadTimes& threads, Gap& gap) {
  const auto end_of = [](const HostSide& side) {
    return side.call ? std::optional(side.call->end) : side.op_end;
  };
  const auto from = end_of(gap.before), to = end_of(gap.behind);
  if (threads.Empty() || !from || !to || *to <= *from) return;
  const HostSide& side = gap.behind;
  const std::int64_t thread = side.call_thread >= 0 ? side.call_thread : side.op_thread;
  const std::vector<HoldUp> holds = threads.HoldUps(thread, side.op_thread, {*from, *to});
  constexpr TimeNs kMinShare = 10;
  if (holds.empty() || kMinShare * holds.front().time < *to - *from) return;
  const HoldUp& most = holds.front();
  gap.held =
      HeldThread{most.doing, std::string(trace.strings.View(threads.NameOfThread(most.thread))),
                 std::string(trace.strings.View(most.by)), most.time};
}

// Keeps the longest; of equal ones the earlier come first.
void KeepLongest(std::size_t most, std::vector<Gap>& gaps) {
  StableSort(gaps, [](const Gap& a, const Gap& b) {
    return a.time.end - a.time.begin > b.time.end - b.time.begin;
  });
  std::size_t certain = 0;
  const auto behind = std::ranges::find_if(gaps, [&](const Gap& gap) {
    certain += gap.maybe_busy ? 0 : 1;
    return certain > most;
  });
  gaps.erase(behind, gaps.end());
}

void AddSurroundings(const RankTrace& trace, bool with_copies, std::vector<Gap>& gaps) {
  if (gaps.empty()) return;
  const Neighbours neighbours(trace, with_copies);
  const std::vector<std::size_t> tasks = RunningTasks(trace);
  const ThreadTimes threads(trace);
  for (Gap& gap : gaps) {
    gap.before = neighbours.Before(gap.time);
    gap.behind = neighbours.Behind(gap.time);
    AddTasks(trace, tasks, gap);
    AddHeldThread(trace, threads, gap);
  }
}

Edge EdgeOf(TimeCategory category) {
  if (IsDeviceCopy(category)) return Edge::kCopy;
  return IsCompute(category) ? Edge::kKernel : Edge::kCollective;
}

// A stream whose first recorded work was queued long before it began may have run work that is not
// recorded: the gap that it ends is not certain to be idle, nor are those before all other work.
// Copies count as other work: those that were queued may have waited for the host.
void FindMaybeBusy(const RankTrace& trace, std::vector<Gap>& gaps) {
  std::map<std::int64_t, TimeNs> first_of_stream;
  TimeNs first = std::numeric_limits<TimeNs>::max();
  for (const DeviceItem& item : FindDeviceItems(trace)) {
    if (IsDeviceCopy(item.category)) continue;
    first_of_stream.try_emplace(item.stream, item.begin);
    first = std::min(first, item.begin);
  }
  std::set<TimeNs> begins;
  for (const auto& [stream, begin] : first_of_stream) begins.insert(begin);
  constexpr TimeNs kLong = 100'000;  // streams hand over to each other in a few us
  for (Gap& gap : gaps) {
    gap.maybe_busy =
        gap.was_queued && begins.contains(gap.time.end) && gap.time.end - gap.time.begin >= kLong;
  }
  const bool from_begin = std::ranges::any_of(
      gaps, [&](const Gap& gap) { return gap.maybe_busy && gap.time.end == first; });
  if (!from_begin) return;
  for (Gap& gap : gaps) gap.maybe_busy = gap.maybe_busy || gap.time.end <= first;
}

void AddGapsOf(const StepAccount& step, std::span<const Piece> pieces, std::vector<Gap>& gaps) {
  bool is_open = false;
  Edge last = Edge::kStep;
  for (const Piece& piece : pieces) {
    if (!IsFree(piece.category)) {
      last = EdgeOf(piece.category);
      if (is_open) gaps.back().to = last;
      is_open = false;
      continue;
    }
    if (!is_open) {
      Gap& gap = gaps.emplace_back();
      gap.time.begin = piece.begin;
      gap.step = step.id;
      gap.from = last;
      gap.to = Edge::kStep;  // until work ends it
      is_open = true;
    }
    gaps.back().time.end = piece.end;
    gaps.back().was_queued = piece.category == TimeCategory::kDeviceQueue;
  }
}

}  // namespace

std::string_view NameOf(Edge edge, bool at_begin) {
  switch (edge) {
    case Edge::kKernel:
      return "kernel";
    case Edge::kCollective:
      return "collective";
    case Edge::kCopy:
      return "copy";
    case Edge::kStep:
      break;
  }
  return at_begin ? "start of the step" : "end of the step";
}

std::vector<Gap> FindGaps(const RankTrace& trace, const RankAccount& account, std::size_t most) {
  std::vector<Gap> gaps;
  for (const StepAccount& step : account.steps) AddGapsOf(step, account.PiecesOf(step), gaps);
  FindMaybeBusy(trace, gaps);
  KeepLongest(most, gaps);
  AddSurroundings(trace, true, gaps);
  return gaps;
}

std::vector<Gap> FindReferenceGaps(const RankTrace& trace, std::size_t most) {
  const Activities activities = ActivitiesOf(trace);
  const Intervals busy =
      Union(Union(activities.computing, activities.exposed), Union(activities.lccl));
  std::vector<Gap> gaps;
  if (busy.empty()) return gaps;
  for (const Interval& time : Difference({{busy.front().begin, busy.back().end}}, busy))
    gaps.emplace_back().time = time;
  KeepLongest(most, gaps);
  AddSurroundings(trace, false, gaps);
  return gaps;
}

namespace {

// A call may wait that much longer behind its operator than the one before.
constexpr TimeNs kUsualWait = 50'000;

std::string TasksText(const Gap& gap) {
  std::string text = "Device task running: ";
  for (std::size_t i = 0; i < gap.tasks.size(); ++i) {
    text +=
        fmt::format("{}{} {} tasks", i > 0 ? ", " : "", gap.tasks[i].second, gap.tasks[i].first);
  }
  if (gap.longest_rest == 0) return text + ".";
  return text + fmt::format(", max remaining free {} us", PythonUs(gap.longest_rest));
}

// What took longest: one of the two launches, or the time between them.
std::string LaunchText(const Interval& before, const Interval& behind) {
  const TimeNs between = behind.begin - before.end;
  const TimeNs launch = std::max(before.end - before.begin, behind.end - behind.begin);
  if (between >= launch) {
    return fmt::format("long time between two node@launch {} us", PythonUs(between));
  }
  return fmt::format("long node@launch {} us", PythonUs(launch));
}

}  // namespace

namespace {

GapReason ReasonOfDispatches(const Gap& gap, std::string_view runtime) {
  GapReason reason;
  if (gap.maybe_busy) {
    reason.kind = IdleReason::kMaybeBusy;
    reason.text =
        "Perhaps not idle: the first recorded work of a stream began long after its launch; earlier"
        " work was not recorded.";
    return reason;
  }
  if (!gap.tasks.empty()) {
    reason.kind = IdleReason::kDevice;
    reason.text = TasksText(gap);
    return reason;
  }
  const HostSide &before = gap.before, &behind = gap.behind;
  if (!before.known || !behind.known) {
    reason.kind = IdleReason::kEdge;
    reason.text = "Skip free analysis due to no prev or next task.";
    return reason;
  }
  if (before.op_end && behind.op_end) reason.framework_idle = *behind.op_end - *before.op_end;
  if (before.call && behind.call) reason.runtime_idle = behind.call->end - before.call->end;
  if (!reason.runtime_idle) {
    reason.text = fmt::format("Skip free analysis due to no {} dispatch time.",
                              reason.framework_idle ? runtime : "pytorch");
    return reason;
  }
  if (!reason.framework_idle) {
    reason.kind = IdleReason::kHost;
    reason.text = "Host, no pytorch dispatch time: " + LaunchText(*before.call, *behind.call);
    return reason;
  }
  const TimeNs waited_before = before.call->begin - *before.op_end;
  const TimeNs waited_behind = behind.call->begin - *behind.op_end;
  if (waited_behind - waited_before < kUsualWait) {
    reason.kind = IdleReason::kFramework;
    reason.text = fmt::format("Idle Pytorch layer: no task dispatched in {} us",
                              PythonUs(*reason.framework_idle));
    return reason;
  }
  reason.kind = IdleReason::kRuntime;
  reason.text =
      fmt::format("Abnormal {} layer: {}", runtime, LaunchText(*before.call, *behind.call));
  return reason;
}

std::string HeldText(const HeldThread& held) {
  const std::string by = held.by.empty() ? "an idle core" : held.by;
  switch (held.doing) {
    case ThreadDoing::kPreempted:
      return fmt::format("thread {} was preempted by {} for {} us", held.thread, by,
                         PythonUs(held.time));
    case ThreadDoing::kInterrupted:
      return fmt::format("thread {} was interrupted by {} for {} us", held.thread, by,
                         PythonUs(held.time));
    default:
      return fmt::format("thread {} was woken and waited for {} for {} us", held.thread, by,
                         PythonUs(held.time));
  }
}

}  // namespace

GapReason ReasonOf(const Gap& gap, std::string_view runtime) {
  GapReason reason = ReasonOfDispatches(gap, runtime);
  const bool is_of_host = reason.kind == IdleReason::kHost || reason.kind == IdleReason::kRuntime ||
                          reason.kind == IdleReason::kFramework;
  if (is_of_host && gap.held) reason.text = HeldText(*gap.held) + "; " + reason.text;
  return reason;
}

std::string ReasonInWords(const std::string& reason) {
  // As ReasonOf() writes them.
  static constexpr const char* kForms[] = {
      ToTranslate("thread {} was preempted by {} for {} us; {}"),
      ToTranslate("thread {} was interrupted by {} for {} us; {}"),
      ToTranslate("thread {} was woken and waited for {} for {} us; {}"),
      ToTranslate("Perhaps not idle: the first recorded work of a stream began long after its"
                  " launch; earlier work was not recorded."),
      ToTranslate("Skip free analysis due to no prev or next task."),
      ToTranslate("Skip free analysis due to no {} dispatch time."),
      ToTranslate("Host, no pytorch dispatch time: {}"),
      ToTranslate("Idle Pytorch layer: no task dispatched in {} us"),
      ToTranslate("Abnormal {} layer: {}"),
      ToTranslate("long time between two node@launch {} us"),
      ToTranslate("long node@launch {} us"),
      ToTranslate("Device task running: {}, max remaining free {} us"),
      ToTranslate("Device task running: {}."),
      ToTranslate("{} {} tasks, {}"),
      ToTranslate("{} {} tasks")};
  return Reworded(reason, kForms);
}

namespace {

std::string TextOf(const CategoryTimes& categories) {
  std::vector<std::pair<TimeNs, TimeCategory>> largest;
  for (std::size_t i = 0; i < kTimeCategories; ++i) {
    const auto category = static_cast<TimeCategory>(i);
    if (categories[category] > 0) largest.push_back({categories[category], category});
  }
  StableSort(largest, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [time, category] : largest) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {} us", NameOf(category), PythonUs(time));
  }
  return text;
}

}  // namespace

StepAccounts::StepAccounts(const RankTrace& trace)
    : trace_(trace), account_(AccountRank(trace)), sites_(trace, account_.clock) {}

CategoryTimes StepAccounts::Categories() const {
  CategoryTimes all;
  for (const StepAccount& step : account_.steps) {
    for (std::size_t i = 0; i < kTimeCategories; ++i) {
      all[static_cast<TimeCategory>(i)] += step.categories[static_cast<TimeCategory>(i)];
    }
  }
  return all;
}

GapAccount StepAccounts::Of(const Interval& gap) const {
  CategoryTimes categories;
  using Doing = std::pair<PieceTable, std::int32_t>;
  std::map<Doing, std::pair<TimeNs, const Piece*>> doings;  // by row of a table of the host
  auto piece = std::partition_point(account_.pieces.begin(), account_.pieces.end(),
                                    [&](const Piece& one) { return one.end <= gap.begin; });
  for (; piece != account_.pieces.end() && piece->begin < gap.end; ++piece) {
    const TimeNs time = std::min(piece->end, gap.end) - std::max(piece->begin, gap.begin);
    categories[piece->category] += time;
    if (!IsFree(piece->category) || piece->row < 0) continue;
    auto& [sum, first] = doings[{piece->table, piece->row}];
    sum += time;
    if (first == nullptr) first = &*piece;
  }
  GapAccount account{TextOf(categories), ""};
  constexpr TimeNs kMinShare = 10;  // what took less than a tenth of the gap does not explain it
  TimeNs longest = (gap.end - gap.begin) / kMinShare;
  for (const auto& [doing, found] : doings) {
    if (found.first <= longest) continue;
    std::string place = HostPlaceOf(trace_, sites_, *found.second);
    if (place.empty()) continue;
    longest = found.first;
    account.place = std::move(place);
  }
  return account;
}

}  // namespace mpa::recipes::free_analysis

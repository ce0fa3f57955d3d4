// SPDX-License-Identifier: Apache-2.0
// Records that were written twice, and steps that do not follow each other.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "checks.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/time.h"
#include "mpa/model/repeated_rows.h"
#include "mpa/promises/promise.h"
#include "repeated_events.h"

namespace mpa {

std::size_t DropRepeatedTimes(StepTimes& times) {
  return DropRepeated(times, [&](std::size_t i) {
    return std::tuple(times.step[i], times.computing[i], times.communication[i], times.free[i],
                      times.stage[i], times.preparing[i]);
  });
}

namespace promises {

void CountRepeated(RankTrace& trace, const char* table, std::size_t rows) {
  for (std::size_t i = 0; i < rows; ++i) {
    trace.issues.Count(Promise::kOnceEach, kWrittenTwice, table);
  }
}

namespace {

void LeaveOutRepeatedRowsOfTasks(RankTrace& trace) {
  const auto task_key = [](const auto& table) {
    return [&table](std::size_t i) {
      return std::tuple(table.start[i], table.task_id[i], table.dur[i], table.stream[i]);
    };
  };
  const auto has_ids = [](const auto& table) { return !table.Empty() && table.task_id[0] >= 0; };
  std::size_t rows = 0;
  if (has_ids(trace.device_tasks)) {
    rows = std::max(rows, DropRepeated(trace.device_tasks, task_key(trace.device_tasks)));
  }
  if (has_ids(trace.kernels)) {
    const std::vector<bool> repeated = Repeated(trace.kernels, task_key(trace.kernels));
    const auto count = static_cast<std::size_t>(std::ranges::count(repeated, true));
    if (count > 0) {
      KeepRows(trace, trace.kernels, [&](std::size_t row) { return !repeated[row]; });
    }
    rows = std::max(rows, count);
  }
  if (has_ids(trace.schedule_kernels)) {
    rows = std::max(rows, DropRepeated(trace.schedule_kernels, task_key(trace.schedule_kernels)));
  }
  const ListedKernels& listed = trace.listed_kernels;
  rows = std::max(rows, DropRepeated(trace.listed_kernels, [&](std::size_t i) {
                    // Collectives have no number.
                    return std::tuple(listed.start[i], listed.id[i], listed.dur[i],
                                      listed.id[i] < 0 ? i : 0);
                  }));
  const CommTasks& tasks = trace.comm_tasks;
  rows =
      std::max(rows, DropRepeated(trace.comm_tasks, [&](std::size_t i) {
                 return std::tuple(tasks.start[i], tasks.dur[i], tasks.stream[i], tasks.plane[i],
                                   tasks.op_id[i], tasks.name[i], tasks.peer[i], tasks.notify[i]);
               }));
  CountRepeated(trace, "TASK", rows);
}

// Of old versions, which round times, a few short operators follow each other within one
// microsecond.
void LeaveOutRepeatedOperators(RankTrace& trace) {
  HostOps& ops = trace.host_ops;
  std::vector<bool> repeated = RepeatedEvents(ops, [&](std::size_t i) {
    return std::tuple(ops.start[i], ops.track[i], ops.dur[i], ops.name[i]);
  });
  if (repeated.empty()) return;
  constexpr TimeNs kMicrosecond = 1'000, kShort = 10 * kMicrosecond;
  const bool rounded =
      std::ranges::all_of(ops.start, [](TimeNs time) { return time % kMicrosecond == 0; });
  std::size_t count = 0;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    repeated[i] = repeated[i] && ops.dur[i] > (rounded ? kShort : kMicrosecond);
    if (!repeated[i]) continue;
    ++count;
    trace.issues.Count(Promise::kOnceEach,
                       "operator left out, it was recorded twice; collect again",
                       Say("\"{}\" at {} us", Printable(trace.strings.View(ops.name[i])),
                           ops.start[i] / kMicrosecond));
  }
  if (count > 0) ops.Filter([&](std::size_t row) { return !repeated[row]; });
}

// Two pieces of work on one stream do not run at the same time.
template <typename Table, typename KeyOf>
void LeaveOutRepeatedWork(const char* what, Table& table, KeyOf key_of, RankTrace& trace) {
  const std::vector<bool> repeated = RepeatedEvents(table, key_of);
  if (repeated.empty()) return;
  for (std::size_t i = 0; i < table.Size(); ++i) {
    if (!repeated[i]) continue;
    trace.issues.Count(Promise::kOnceEach,
                       Say("{} left out, it was recorded twice; collect again", Translated(what)),
                       Say("\"{}\" at {} us", Printable(trace.strings.View(table.name[i])),
                           table.start[i] / 1000));
  }
  table.Filter([&](std::size_t row) { return !repeated[row]; });
}

void LeaveOutRepeatedRowsOfTrace(RankTrace& trace) {
  const auto key = [](const auto& table) {
    return [&table](std::size_t i) {
      return std::tuple(table.start[i], table.dur[i], table.stream[i], table.name[i]);
    };
  };
  LeaveOutRepeatedWork("kernel", trace.kernels, key(trace.kernels), trace);
  LeaveOutRepeatedWork("copy", trace.device_tasks, key(trace.device_tasks), trace);
  const Communications& comms = trace.communications;
  LeaveOutRepeatedWork(
      "collective", trace.communications,
      [&](std::size_t i) {
        return std::tuple(comms.start[i], comms.dur[i], comms.link[i], comms.name[i]);
      },
      trace);
  LeaveOutRepeatedOperators(trace);
}

}  // namespace

void LeaveOutRepeatedTasks(RankTrace& trace) {
  if (trace.source == "database") LeaveOutRepeatedRowsOfTasks(trace);
  if (IsKinetoTrace(trace)) LeaveOutRepeatedRowsOfTrace(trace);
  LeaveOutRepeatedEvents(trace);
}

void LeaveOutRepeatedSteps(RankTrace& trace) {
  CountRepeated(trace, trace.source == "database" ? "StepTraceTime" : "step_trace_time.csv",
                DropRepeatedTimes(trace.step_times));
  const Steps& steps = trace.steps;
  const std::size_t rows = DropRepeated(trace.steps, [&](std::size_t i) {
    return std::tuple(steps.id[i], steps.start[i], steps.end[i]);
  });
  CountRepeated(trace, trace.source == "database" ? "STEP_TIME" : "ProfilerStep", rows);
  const std::vector<std::size_t> order = steps.RowsByStart();
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t step = order[i - 1], next = order[i];
    constexpr TimeNs kMicrosecond = 1'000;
    if (steps.end[next] == steps.start[next]) continue;  // takes nothing from the other
    if (steps.start[next] + kMicrosecond >= steps.end[step]) continue;
    trace.issues.Count(Promise::kStepsFollow,
                       "steps overlap, their times are wrong or belong to several runs",
                       Say("step {} begins {} us before step {} ends", steps.id[next],
                           (steps.end[step] - steps.start[next]) / kMicrosecond, steps.id[step]));
  }
}

namespace {

// Spans of time, in order and apart from each other, and whether anything ran in them.
class Watched {
 public:
  void Add(TimeNs from, TimeNs to) { spans_.push_back({from, to}); }
  bool Empty() const { return spans_.empty(); }

  template <typename Table>
  void Note(const Table& table) {
    begun_.resize(spans_.size() + 1);
    std::size_t next = 0;  // the first span that ends behind the start of the row
    for (std::size_t row = 0; row < table.Size(); ++row) {
      const TimeNs start = table.start[row], end = start + table.dur[row];
      const bool is_next = (next == spans_.size() || spans_[next].to > start) &&
                           (next == 0 || spans_[next - 1].to <= start);
      if (!is_next) next = PlaceOf(std::ranges::upper_bound(spans_, start, {}, &Span::to));
      if (next == spans_.size() || spans_[next].from >= end) continue;
      ++begun_[next];
      --begun_[PlaceOf(std::ranges::lower_bound(spans_, end, {}, &Span::from))];
    }
  }

  // By span, after the last table.
  std::vector<bool> Ran() const {
    std::vector<bool> ran;
    std::int64_t running = 0;
    for (std::size_t i = 0; i < spans_.size(); ++i) ran.push_back((running += begun_[i]) > 0);
    return ran;
  }

 private:
  struct Span {
    TimeNs from = 0, to = 0;
  };

  std::size_t PlaceOf(std::vector<Span>::const_iterator span) const {
    return static_cast<std::size_t>(span - spans_.begin());
  }

  std::vector<Span> spans_;
  std::vector<std::int64_t> begun_;  // how many more rows run in a span than in the one before
};

}  // namespace

// Steps follow each other, and the host works between them. Of raw data the reader says it.
void CheckGaps(Tables read, RankTrace& trace) {
  const Steps& steps = trace.steps;
  if (steps.Size() < 2 || trace.source == "raw") return;
  std::vector<TimeNs> lengths;
  for (std::size_t i = 0; i < steps.Size(); ++i) lengths.push_back(steps.end[i] - steps.start[i]);
  std::ranges::nth_element(lengths,
                           lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2));
  constexpr TimeNs kShortest = 1'000'000, kLongest = 1'000'000'000;
  const TimeNs step_length = lengths[lengths.size() / 2];
  // Where host or device were not read, something else may have happened between two steps.
  const bool knows_all = !trace.host_ops.Empty() && Intersects(read, Tables::kHostOps) &&
                         Intersects(read, Tables::kKernels | Tables::kDeviceTasks) &&
                         Intersects(read, Tables::kCommunications);
  const TimeNs allowed = knows_all ? std::clamp(step_length, kShortest, kLongest) : kLongest;
  const std::vector<std::size_t> order = steps.RowsByStart();
  struct Gap {
    TimeNs length = 0;
    std::int32_t next = 0;  // the step behind it
  };
  std::vector<Gap> gaps;
  Watched inner;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const TimeNs end = steps.end[order[i - 1]], begin = steps.start[order[i]];
    // Where the numbers say that steps are missing, half of one is too long.
    const bool follows = steps.id[order[i]] == steps.id[order[i - 1]] + 1;
    if (begin - end <= (follows ? allowed : allowed / 2)) continue;
    // The device may still work for the one step, and a collection begin before the other.
    const TimeNs quarter = (begin - end) / 4;
    gaps.push_back({begin - end, steps.id[order[i]]});
    inner.Add(end + quarter, begin - quarter);
  }
  if (inner.Empty()) return;
  inner.Note(trace.host_ops);
  inner.Note(trace.host_calls);
  inner.Note(trace.python_calls);
  inner.Note(trace.kernels);
  inner.Note(trace.device_tasks);
  inner.Note(trace.communications);
  const std::vector<bool> ran = inner.Ran();
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (ran[i]) continue;
    trace.issues.Count(
        Promise::kStepsFollow,
        "nothing was recorded between two steps, which counts as free in the first and end to end",
        Say("{:.3f} ms before step {}", InMs(gaps[i].length), gaps[i].next));
  }
}

}  // namespace promises
}  // namespace mpa

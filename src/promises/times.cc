// SPDX-License-Identifier: Apache-2.0
// Times that are valid one by one, and impossible together.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "checks.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/time.h"

namespace mpa::promises {
namespace {

constexpr TimeNs kSecond = 1'000'000'000;
constexpr TimeNs kMicrosecond = 1'000;
constexpr TimeNs kDay = 24 * 3600 * kSecond;

struct Window {
  TimeNs begin = std::numeric_limits<TimeNs>::max();
  TimeNs end = std::numeric_limits<TimeNs>::min();

  template <typename Table>
  void Add(const Table& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      begin = std::min(begin, table.start[i]);
      end = std::max(end, table.start[i] + table.dur[i]);
    }
  }
  bool IsEmpty() const { return begin > end; }
};

std::string Seconds(TimeNs time) {
  return fmt::format("{}.{:03} s", time / kSecond, time % kSecond / 1'000'000);
}

void CheckWindow(RankTrace& trace) {
  Window work;
  work.Add(trace.kernels);
  work.Add(trace.device_tasks);
  work.Add(trace.communications);
  if (work.IsEmpty()) return;
  if (work.end - work.begin > kDay) {
    trace.issues.Count(Promise::kTimesPossible,
                       "times of the device span more than a day, some of them are damaged",
                       Say("{} to {}", Seconds(work.begin), Seconds(work.end)));
  }
  constexpr TimeNs kMargin = 60 * kSecond;
  if (trace.session_start < 0 || trace.session_end < trace.session_start) return;
  if (work.begin < trace.session_start - kMargin || work.end > trace.session_end + kMargin) {
    trace.issues.Count(Promise::kTimesPossible,
                       "times of the device lie outside of the session, they are damaged",
                       Say("{} to {}, session {} to {}", Seconds(work.begin), Seconds(work.end),
                           Seconds(trace.session_start), Seconds(trace.session_end)));
  }
}

// A few rows may take less than the clock shows, but not all of a capture.
void CheckDurations(const char* what, const std::vector<TimeNs>& durations, Issues& issues) {
  constexpr std::size_t kEnough = 8;
  if (durations.size() < kEnough || std::ranges::any_of(durations, [](TimeNs d) { return d != 0; }))
    return;
  issues.Count(Promise::kTimesPossible,
               Say("all {}s take no time, their durations are damaged", Translated(what)),
               Say("{} of them", durations.size()));
}

TimeNs DurationOf(const auto& table, std::size_t row) {
  if constexpr (requires { table.dur; }) {
    return table.dur[row];
  } else {
    return table.end[row] - table.start[row];
  }
}

// Tables whose times are of one clock, with what a row is called.
template <typename Visit>
void VisitTimed(RankTrace& trace, Visit visit) {
  visit("step", trace.steps);
  visit("operator", trace.host_ops);
  visit("Python call", trace.python_calls);
  visit("mark", trace.mstx);
  visit("host call", trace.host_calls);
  visit("device task", trace.device_tasks);
  visit("collective", trace.communications);
  visit("task of a collective", trace.comm_tasks);
  visit("kernel", trace.schedule_kernels);
  visit("device run", trace.device_runs);
  visit("activity of the device", trace.overlaps);
}

template <typename Visit>
void VisitKernels(RankTrace& trace, Visit visit) {
  visit("kernel", trace.kernels);
  visit("collective", trace.listed_collectives);
  visit("kernel", trace.listed_kernels);
}

// The stretch of time without gaps of a day in which most different starts are, the last of equals.
// Damage is mostly the same time over and over.
Window MainStretch(std::vector<TimeNs> starts) {
  std::ranges::sort(starts);
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  Window best;
  std::size_t most = 0;
  for (std::size_t first = 0, i = 0; i < starts.size(); ++i) {
    if (i + 1 < starts.size() && starts[i + 1] - starts[i] <= kDay) continue;
    if (i + 1 - first >= most) {
      most = i + 1 - first;
      best.begin = starts[first];
      best.end = starts[i];
    }
    first = i + 1;
  }
  return best;
}

// Leaves out the rows of one table for which is_wrong(row) holds.
template <typename Table, typename IsWrong>
void LeaveOutRows(RankTrace& trace, Table& table, IsWrong is_wrong) {
  std::vector<bool> kept(table.Size(), true);
  for (std::size_t i = 0; i < table.Size(); ++i) kept[i] = !is_wrong(i);
  if (std::ranges::find(kept, false) == kept.end()) return;
  KeepRows(trace, table, [&](std::size_t row) { return kept[row]; });
}

// Leaves out single rows with times that cannot be: one such row would stretch steps over years.
// `visit` calls its argument with each table of one clock.
template <typename VisitTables>
void DropFarRows(RankTrace& trace, VisitTables visit) {
  Window all;
  visit(trace, [&](const char*, const auto& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      all.begin = std::min(all.begin, table.start[i]);
      all.end = std::max(all.end, table.start[i] + DurationOf(table, i));
    }
  });
  if (all.IsEmpty() || all.end - all.begin <= kDay) return;
  std::vector<TimeNs> starts;
  visit(trace, [&](const char*, const auto& table) {
    starts.insert(starts.end(), table.start.begin(), table.start.end());
  });
  const Window main = MainStretch(std::move(starts));
  visit(trace, [&](const char* what, auto& table) {
    LeaveOutRows(trace, table, [&](std::size_t i) {
      const TimeNs start = table.start[i];
      if (start >= main.begin && start <= main.end && DurationOf(table, i) <= kDay) return false;
      trace.issues.Count(
          Promise::kTimesPossible,
          Say("{} left out: times span more than a day, and its own is far from the others",
              Translated(what)),
          Say("at {}, most begin between {} and {}", Seconds(start), Seconds(main.begin),
              Seconds(main.end)));
      return true;
    });
  });
}

// The ends of all rows that lie furthest out, and whether each is of the device.
class Outermost {
 public:
  void Add(TimeNs time, bool of_device) {
    if (times_.size() == kMost && time <= times_.back().first) return;
    times_.insert(std::ranges::upper_bound(times_, std::pair(time, of_device), std::greater()),
                  {time, of_device});
    if (times_.size() > kMost) times_.pop_back();
  }
  // The last time of all others, where a few rows of the device alone lie further behind it than
  // the run from `begin` takes; empty: none do.
  std::optional<TimeNs> LastOfOthers(TimeNs begin) const {
    for (std::size_t few = 1; few < times_.size() && times_[few - 1].second; ++few) {
      constexpr TimeNs kShortest = 10'000'000;
      const TimeNs last = times_[few].first;
      if (times_[few - 1].first - last > std::max(last - begin, kShortest)) return last;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kMost = 9;       // tables may have the same row
  std::vector<std::pair<TimeNs, bool>> times_;  // the latest first
};

template <typename Table>
constexpr bool kIsOfHost = std::is_same_v<Table, Steps> || std::is_same_v<Table, HostOps> ||
                           std::is_same_v<Table, PythonCalls> || std::is_same_v<Table, HostCalls> ||
                           std::is_same_v<Table, MstxEvents>;

// A kernel whose duration or time is damaged makes the run longer, in which nothing else happens.
// The host ends when its last work is done, or soon before.
void DropStretchingRows(RankTrace& trace) {
  const auto visit = [](RankTrace& rank, auto with) {
    VisitTimed(rank, with);
    VisitKernels(rank, with);
  };
  Window host, device;
  std::size_t device_rows = 0;
  visit(trace, [&]<typename Table>(const char*, const Table& table) {
    if constexpr (!kIsOfHost<Table>) device_rows += table.Size();
    Window& window = kIsOfHost<Table> ? host : device;
    for (std::size_t i = 0; i < table.Size(); ++i) {
      window.begin = std::min(window.begin, table.start[i]);
      window.end = std::max(window.end, table.start[i] + DurationOf(table, i));
    }
  });
  constexpr std::size_t kEnough = 8;
  if (host.IsEmpty() || device_rows < kEnough) return;
  // Nearly all captures end here: the rows that lie furthest out are looked for in few.
  const TimeNs length = host.end - host.begin;
  if (device.end - host.end <= length && host.begin - device.begin <= length) return;
  Outermost ends, begins;  // of these the negative
  visit(trace, [&]<typename Table>(const char*, const Table& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      const TimeNs start = table.start[i], end = start + DurationOf(table, i);
      ends.Add(end, !kIsOfHost<Table>);
      begins.Add(-end, !kIsOfHost<Table>);
    }
  });
  const auto last = ends.LastOfOthers(host.begin);
  const auto first = begins.LastOfOthers(-host.end);
  if (!last && !first) return;
  visit(trace, [&]<typename Table>(const char* what, Table& table) {
    if constexpr (!kIsOfHost<Table>) {
      LeaveOutRows(trace, table, [&](std::size_t i) {
        const TimeNs start = table.start[i], end = start + DurationOf(table, i);
        if ((!last || end <= *last) && (!first || end >= -*first)) return false;
        trace.issues.Count(
            Promise::kTimesPossible,
            Say("{} left out, its times are impossible: the run would be more than twice"
                " as long, and nothing else was recorded then; collect again",
                Translated(what)),
            Say("at {}, for {:.3f} ms; all else from {} to {}", Seconds(start), InMs(end - start),
                Seconds(first ? -*first : host.begin), Seconds(last ? *last : host.end)));
        return true;
      });
    }
  });
}

// Text captures list each kernel in a table and in the trace.
void CheckClocks(RankTrace& trace) {
  const Kernels& kernels = trace.kernels;
  if (trace.source != "text" || trace.device == DeviceKind::kGpu) return;
  if (kernels.Empty() || trace.device_tasks.Empty()) return;
  Window of_kernels, of_tasks;
  of_kernels.Add(kernels);
  of_tasks.Add(trace.device_tasks);
  if (of_kernels.end < of_tasks.begin || of_tasks.end < of_kernels.begin) {
    trace.issues.Count(
        Promise::kTimesPossible,
        "the clocks of kernel_details.csv and trace_view.json do not fit, operators have no"
        " kernels",
        Say("{} and {}", Seconds(of_kernels.begin), Seconds(of_tasks.begin)));
    return;
  }
  std::vector<TimeNs> starts = trace.device_tasks.start;
  std::ranges::sort(starts);
  std::size_t both = 0, found = 0;  // a trace that breaks off lacks the last ones
  for (const TimeNs start : kernels.start) {
    if (start < of_tasks.begin || start > of_tasks.end) continue;
    ++both;
    const auto task = std::lower_bound(starts.begin(), starts.end(), start - kMicrosecond);
    if (task != starts.end() && *task <= start + kMicrosecond) ++found;
  }
  constexpr std::size_t kEnough = 8;
  if (both < kEnough || 2 * found >= both) return;
  trace.issues.Count(
      Promise::kTimesPossible,
      "times of kernel_details.csv are not those of trace_view.json; a spreadsheet may have"
      " rounded them",
      Say("{} of {} kernels are in both", found, both));
}

// Work begins soon after it was launched.
void CheckHostClock(RankTrace& trace) {
  Window work, launches;
  work.Add(trace.kernels);
  work.Add(trace.device_tasks);
  work.Add(trace.communications);
  for (const TimeNs time : trace.launches.host_time) {
    launches.begin = std::min(launches.begin, time);
    launches.end = std::max(launches.end, time);
  }
  constexpr TimeNs kMargin = 60 * kSecond;
  if (work.IsEmpty() || launches.IsEmpty()) return;
  if (work.begin <= launches.end + kMargin && work.end >= launches.begin - kMargin) return;
  trace.issues.Count(
      Promise::kTimesPossible,
      "the clocks of host and device do not fit, waits between them are wrong",
      Say("launches from {}, work from {}", Seconds(launches.begin), Seconds(work.begin)));
}

struct StreamWork {
  std::int64_t stream;
  TimeNs start, end;
  std::int64_t link;
  StringId name;
};

}  // namespace

void LeaveOutFarRows(RankTrace& trace) {
  if (trace.source == "text") {  // kernels come from a table, whose clock may be another
    DropFarRows(trace, [](RankTrace& rank, auto visit) { VisitTimed(rank, visit); });
    DropFarRows(trace, [](RankTrace& rank, auto visit) { VisitKernels(rank, visit); });
  } else {
    DropFarRows(trace, [](RankTrace& rank, auto visit) {
      VisitTimed(rank, visit);
      VisitKernels(rank, visit);
    });
  }
  DropStretchingRows(trace);
}

void CheckTimes(RankTrace& trace) {
  CheckWindow(trace);
  CheckDurations("kernel", trace.kernels.dur, trace.issues);
  CheckDurations("device task", trace.device_tasks.dur, trace.issues);
  CheckDurations("collective", trace.communications.dur, trace.issues);
  CheckClocks(trace);
  CheckHostClock(trace);
}

// Work on a stream of a GPU runs one after the other, but for what one graph launched.
void CheckStreams(RankTrace& trace) {
  if (trace.device != DeviceKind::kGpu) return;
  std::vector<StreamWork> works;
  const auto add = [&](const auto& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      works.push_back({table.stream[i], table.start[i], table.start[i] + table.dur[i],
                       table.link[i], table.name[i]});
    }
  };
  add(trace.kernels);
  add(trace.device_tasks);
  StableSort(works, [](const StreamWork& a, const StreamWork& b) {
    return std::tie(a.stream, a.start, a.end) < std::tie(b.stream, b.start, b.end);
  });
  for (std::size_t i = 0; i + 1 < works.size(); ++i) {
    const StreamWork &work = works[i], &next = works[i + 1];
    const bool one_launch = work.link >= 0 && work.link == next.link;
    if (work.stream != next.stream || one_launch || work.end <= next.end + kMicrosecond) continue;
    trace.issues.Count(Promise::kStreamsInOrder,
                       "kernel runs on under its successor on the same stream, which is impossible",
                       Say("\"{}\" at {} us", Printable(trace.strings.View(work.name)),
                           work.start / kMicrosecond));
  }
}

}  // namespace mpa::promises

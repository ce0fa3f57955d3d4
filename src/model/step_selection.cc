// SPDX-License-Identifier: Apache-2.0
// Cuts one step out of a rank.
#include "mpa/model/step_selection.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/queue_index.h"
#include "mpa/model/rank_tables.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

using Rows = std::vector<std::size_t>;

// Which rows belong to a step, by the rule of their table. Looks at the whole rank: nothing may be
// cut before all rows are found.
class RowsOfStep {
 public:
  /// `finished`: the end of the step on the device, on the clock of the host.
  RowsOfStep(const RankTrace& trace, const StepBounds& bounds, std::size_t step, TimeNs finished)
      : trace_(trace), bounds_(bounds), step_(step), id_(bounds.Id(step)), finished_(finished) {
    const auto note = [&](const auto& table) {
      for (std::size_t i = 0; i < table.Size(); ++i) {
        if (table.connection[i] >= 0 && OnDevice(table.link[i], table.start[i]))
          connections_.insert(table.connection[i]);
      }
    };
    note(trace.device_tasks);
    note(trace.communications);
  }

  template <OfStep kRule, typename Table>
  Rows Of(const Table& table) const {
    Rows rows;
    if (RowsIn(table) == 0) return rows;
    const auto belongs = [&] {
      if constexpr (kRule == OfStep::kStepId) {
        return [&](std::size_t i) { return NamesStep(table, i); };
      } else if constexpr (kRule == OfStep::kHostTime) {
        return [&](std::size_t i) { return OnHost(HostTime(table, i)); };
      } else if constexpr (kRule == OfStep::kAroundHost) {
        return [&](std::size_t i) { return OnHostOrAround(table.start[i], table.dur[i]); };
      } else if constexpr (kRule == OfStep::kMeanwhile) {
        return [&](std::size_t i) { return Meanwhile(table.start[i], table.dur[i]); };
      } else if constexpr (kRule == OfStep::kHostCall) {
        return [&](std::size_t i) {
          return Meanwhile(HostTime(table, i), Duration(table, i)) ||
                 connections_.contains(table.connection[i]);
        };
      } else if constexpr (kRule == OfStep::kQueued) {
        return [&](std::size_t i) {
          return Meanwhile(table.queued[i], table.queued_dur[i]) ||
                 Meanwhile(table.start[i], table.dur[i]);
        };
      } else if constexpr (kRule == OfStep::kAllocation) {
        return [this, &table, queued = QueuedAllocations(trace_)](std::size_t i) {
          const auto work = queued.IsQueued(i) ? queued.Work(i) : std::nullopt;
          return OnHost(work ? trace_.queued_work.queued[*work] : table.allocated[i]);
        };
      } else if constexpr (kRule == OfStep::kLaunch) {
        return [&](std::size_t i) { return Launched(table.host_time[i], table.device_time[i]); };
      } else if constexpr (kRule == OfStep::kDeviceWork) {
        return [&](std::size_t i) { return OnDevice(Link(table, i), table.start[i]); };
      } else if constexpr (kRule == OfStep::kOfKernels) {
        return [&](std::size_t i) {
          return OnDevice(trace_.kernels.link[i], trace_.kernels.start[i]);
        };
      } else if constexpr (kRule == OfStep::kOfOperation) {
        return [this, &table, operation_of = OperationsOfTasks(trace_)](std::size_t i) {
          if (operation_of[i] < 0) return OnDevice(-1, table.start[i]);
          const auto operation = static_cast<std::size_t>(operation_of[i]);
          return OnDevice(trace_.communications.link[operation],
                          trace_.communications.start[operation]);
        };
      } else if constexpr (kRule == OfStep::kHeldOnDevice) {
        return [&table, ends = EndsOfValues(table), work = WindowOfWork()](std::size_t i) {
          return table.start[i] < work.second && ends[i] > work.first;
        };
      } else if constexpr (kRule == OfStep::kCutOnDevice) {
        return [&](std::size_t i) {
          return table.activity[i] != Activity::kFree &&
                 WithinStep(table.start[i], table.End(i)) > 0;
        };
      } else {
        static_assert(kRule == OfStep::kNothing, "every rule has its rows");
        return [](std::size_t) { return false; };
      }
    }();
    for (std::size_t i = 0; i < RowsIn(table); ++i) {
      if (belongs(i)) rows.push_back(i);
    }
    return rows;
  }

 private:
  template <typename Table>
  bool NamesStep(const Table& table, std::size_t i) const {
    if constexpr (requires { table.step[i]; }) {
      return table.step[i] == id_;
    } else if constexpr (requires { table.id[i]; }) {
      return table.id[i] == id_;
    } else {
      return table[i].step == "step" + std::to_string(id_);
    }
  }

  template <typename Table>
  static TimeNs HostTime(const Table& table, std::size_t i) {
    if constexpr (requires { table.start; }) {
      return table.start[i];
    } else if constexpr (requires { table.time; }) {
      return table.time[i];
    } else {
      return table.forward_time[i];
    }
  }

  template <typename Table>
  static TimeNs Duration(const Table& table, std::size_t i) {
    if constexpr (requires { table.dur; }) {
      return table.dur[i];
    } else {
      return 0;
    }
  }

  template <typename Table>
  static std::int64_t Link(const Table& table, std::size_t i) {
    if constexpr (requires { table.link; }) {
      return table.link[i];
    } else {
      return -1;
    }
  }

  bool OnHost(TimeNs time) const { return bounds_.OfHostTime(time) == step_; }

  bool OnHostOrAround(TimeNs start, TimeNs dur) const {
    const TimeNs begin = bounds_.HostBegin(step_);
    return (start < begin && start + dur > begin) || OnHost(start);
  }

  // Also what runs while the device finishes the step: why it waits then is a matter of the step.
  bool Meanwhile(TimeNs start, TimeNs dur) const {
    return OnHost(start) || (start < finished_ && start + dur > bounds_.HostBegin(step_));
  }

  bool OnDevice(std::int64_t link, TimeNs start) const {
    return bounds_.OfDeviceWork(link, start) == step_;
  }

  TimeNs WithinStep(TimeNs begin, TimeNs end) const {
    return std::min(end, bounds_.DeviceEnd(step_)) - std::max(begin, bounds_.DeviceBegin(step_));
  }

  // The work of a launch between the steps may be found by its link alone.
  bool Launched(TimeNs host, TimeNs device) const {
    if (device < 0 && !bounds_.OfHostTime(host)) return true;
    return bounds_.OfLaunchedWork(host, device) == step_;
  }

  // From the begin of the step on the device to the end of what it launched.
  std::pair<TimeNs, TimeNs> WindowOfWork() const {
    std::pair window{bounds_.DeviceBegin(step_), bounds_.DeviceFinish(step_)};
    for (const std::size_t i : Of<OfStep::kDeviceWork>(trace_.kernels)) {
      window.first = std::min(window.first, trace_.kernels.start[i]);
      window.second = std::max(window.second, trace_.kernels.End(i));
    }
    return window;
  }

  static std::vector<TimeNs> EndsOfValues(const CounterSamples& samples) {
    std::vector<TimeNs> ends(samples.Size());
    for (std::size_t i = 0; i < samples.Size(); ++i) ends[i] = samples.End(i);
    return ends;
  }
  // A value holds until the next one of its device.
  static std::vector<TimeNs> EndsOfValues(const CoreClocks& clocks) {
    std::vector<TimeNs> ends(clocks.Size());
    std::unordered_map<std::int64_t, TimeNs> next;
    for (std::size_t i = clocks.Size(); i-- > 0;) {
      const auto [known, is_last] =
          next.try_emplace(clocks.device[i], std::numeric_limits<TimeNs>::max());
      ends[i] = known->second;
      known->second = clocks.start[i];
    }
    return ends;
  }

  const RankTrace& trace_;
  const StepBounds& bounds_;
  std::size_t step_;
  std::int32_t id_;
  TimeNs finished_;
  std::unordered_set<std::int64_t> connections_;  // of device work of the step
};

template <typename Table>
void KeepRows(const Rows& rows, Table& table) {
  if (rows.size() == RowsIn(table)) return;
  if constexpr (requires { table.Reorder(rows); }) {
    table.Reorder(rows);
  } else {
    Table kept;
    for (const std::size_t row : rows) kept.push_back(std::move(table[row]));
    table = std::move(kept);
  }
}

void CutOverlaps(TimeNs begin, TimeNs end, Overlaps& overlaps) {
  for (std::size_t i = 0; i < overlaps.Size(); ++i) {
    const TimeNs from = std::max(overlaps.start[i], begin);
    overlaps.dur[i] = std::min(overlaps.End(i), end) - from;
    overlaps.start[i] = from;
  }
}

}  // namespace

void DropEmptySteps(RankTrace& trace) {
  if (trace.steps.Empty()) return;
  const StepBounds bounds(trace, kAsRecorded);
  std::size_t used = 0;  // up to the last step with work
  const auto note = [&](const auto& table) {
    // Mostly the last row says that all are used.
    for (std::size_t i = table.Size(); i-- > 0 && used < bounds.Count();) {
      if (const auto step = bounds.OfDeviceWork(table.link[i], table.start[i]))
        used = std::max(used, *step + 1);
    }
  };
  note(trace.kernels);
  note(trace.communications);
  note(trace.device_tasks);
  const Overlaps& overlaps = trace.overlaps;
  for (std::size_t i = 0; i < overlaps.Size(); ++i) {
    const auto step = bounds.OfDeviceWork(-1, overlaps.start[i]);
    if (step && overlaps.activity[i] != Activity::kFree) used = std::max(used, *step + 1);
  }
  if (used == 0) return;
  std::vector<bool> kept(trace.steps.Size(), true);
  const std::vector<std::size_t> rows = trace.steps.RowsByStart();
  for (std::size_t step = used; step < rows.size(); ++step) kept[rows[step]] = false;
  trace.steps.Filter([&](std::size_t row) { return kept[row]; });
}

void SelectStep(RankTrace& trace, std::int32_t id, TimeNs host_offset) {
  const StepBounds bounds(trace, kAsRecorded);
  const std::optional<std::size_t> step = bounds.Find(id);
  if (!step) {
    if (trace.steps.Empty()) {
      Fail(ErrorKind::kInput,
           "the capture has no step markers; profile with step() or leave the"
           " step options out");
    }
    Fail(ErrorKind::kInput, "step {} not found; available steps: {}", id, bounds.Ids());
  }

  const StepBounds on_clock(trace, host_offset);
  const bool is_last = *step + 1 == on_clock.Count();
  trace.step_begin = on_clock.DeviceBegin(*step);
  trace.step_end = is_last ? on_clock.DeviceFinish(*step) : on_clock.DeviceBegin(*step + 1);
  trace.host_begin = bounds.HostBegin(*step);
  trace.host_end = bounds.HostEnd(*step);
  if (!is_last) trace.host_end = std::min(trace.host_end, bounds.HostBegin(*step + 1) - 1);

  // Rules look at several tables: all rows are found before the first is dropped.
  const RowsOfStep of_step(trace, bounds, *step, trace.step_end + host_offset);
  std::vector<Rows> kept;
  VisitRankTables(trace, [&](const auto& info, const auto& table) {
    using Info = std::remove_cvref_t<decltype(info)>;
    kept.emplace_back();
    if constexpr (Info::kRule != OfStep::kAll) kept.back() = of_step.Of<Info::kRule>(table);
  });
  CutOverlaps(bounds.DeviceBegin(*step), bounds.DeviceEnd(*step), trace.overlaps);
  std::size_t at = 0;
  VisitRankTables(trace, [&](const auto& info, auto& table) {
    const Rows rows = std::move(kept[at++]);
    if constexpr (std::remove_cvref_t<decltype(info)>::kRule != OfStep::kAll) KeepRows(rows, table);
  });
  trace.is_one_step = true;
}

}  // namespace mpa

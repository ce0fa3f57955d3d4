// SPDX-License-Identifier: Apache-2.0
// What the profiler sums up in tables: the times of steps, of operators and of kinds of kernels.
#include "mpa/raw/summaries.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/raw/labels.h"
#include "mpa/raw/step_ranges.h"

namespace mpa::raw {
namespace {

// The spans of the steps on the device, longer by `more`.
std::vector<StepRange> DeviceSpans(const Steps& steps, TimeNs more) {
  std::vector<StepRange> ranges;
  for (std::size_t i = 0; i < steps.Size(); ++i) {
    if (steps.device_start[i] < 0) continue;
    ranges.push_back(
        {steps.id[i], steps.start[i], {steps.device_start[i], steps.device_end[i] + more}});
  }
  return ranges;
}

// Start of the first operator: where a capture without steps begins on the host.
TimeNs FirstOperator(const Session& session) {
  return session.ops.Empty() ? -1 : session.ops.start.front();
}

constexpr Span kAlways{0, std::numeric_limits<TimeNs>::max()};

// Without steps, the whole capture is one range.
StepRanges OrAll(std::vector<StepRange> ranges, const Session& session) {
  if (ranges.empty()) ranges.push_back({-1, FirstOperator(session), kAlways});
  return StepRanges(std::move(ranges));
}

// The spans that the table StepTraceTime takes: all work of the node calls inside the range of the
// step on the host, whoever made them.
StepRanges RangesOfCalls(const Session& session) {
  const Steps& steps = session.steps;
  const HostCalls& calls = session.calls;
  std::vector<Span> work(steps.Size());
  for (std::size_t task = 0; task < session.tasks.Size(); ++task) {
    const std::int32_t call = session.tasks.call[task];
    if (call < 0 || calls.level[call] != Level::kNode) continue;
    const auto after = std::upper_bound(steps.start.begin(), steps.start.end(), calls.start[call]);
    if (after == steps.start.begin()) continue;
    const std::ptrdiff_t step = after - steps.start.begin() - 1;
    if (calls.End(call) > steps.end[static_cast<std::size_t>(step)]) continue;
    work[static_cast<std::size_t>(step)].Add(session.tasks.start[task], session.tasks.end[task]);
  }
  std::vector<StepRange> ranges;
  for (std::size_t i = 0; i < steps.Size(); ++i) {
    const TimeNs start = work[i].Empty() ? steps.start[i] : work[i].start;
    ranges.push_back({steps.id[i], steps.start[i], {start, std::max(work[i].end, steps.end[i])}});
  }
  return OrAll(std::move(ranges), session);
}

}  // namespace

StepRanges::StepRanges(std::vector<StepRange> steps) : steps_(std::move(steps)) {
  TimeNs latest = -1;
  for (const StepRange& step : steps_) {
    latest = std::max(latest, step.device.end);
    ends_.push_back(latest);
  }
}

std::ptrdiff_t StepRanges::At(TimeNs time) const {
  const auto end = std::upper_bound(ends_.begin(), ends_.end(), time);
  if (end == ends_.end()) return -1;
  const std::ptrdiff_t step = end - ends_.begin();
  return steps_[static_cast<std::size_t>(step)].device.start <= time ? step : -1;
}

StepRanges StepsOnDevice(const Steps& steps) { return StepRanges(DeviceSpans(steps, 1)); }

// The work of the device in each step.

namespace {

constexpr std::string_view kReceive = "hcom_receive";

// Time in which at least one of a sequence of ranges was open; they come in order of start.
class UnionLength {
 public:
  void Add(TimeNs start, TimeNs end) {
    const TimeNs from = std::max(start, end_);
    if (end > from) length_ += static_cast<double>(end - from);
    end_ = std::max(end_, end);
  }
  double Length() const { return length_; }

 private:
  TimeNs end_ = 0;
  double length_ = 0;
};

// What is summed up for one step of one device.
struct StepWork {
  StepTime time;
  Span extent;        // of everything
  TimeNs first = -1;  // begin of the first work
  bool empty = true;
  UnionLength computing, communication, any;  // of operations

  void Begin(TimeNs start) { first = first < 0 ? start : std::min(first, start); }
};

// The steps of each device in which something happened.
class WorkTable {
 public:
  explicit WorkTable(const StepRanges& steps) : steps_(steps) {}

  /// Null: `start` is not in a step.
  StepWork* At(std::int64_t device, TimeNs start) {
    const std::ptrdiff_t step = steps_.At(start);
    if (step < 0) return nullptr;
    std::vector<StepWork>& works = devices_[device];
    works.resize(steps_.All().size());
    StepWork& work = works[static_cast<std::size_t>(step)];
    work.empty = false;
    return &work;
  }

  /// By device, then in the order of the steps.
  template <typename Finish>
  std::vector<StepTime> Rows(bool with_empty, Finish finish) {
    std::vector<StepTime> rows;
    for (auto& [device, works] : devices_) {
      for (std::size_t i = 0; i < works.size(); ++i) {
        if (works[i].empty && !with_empty) continue;
        finish(i, device, works[i]);
        rows.push_back(works[i].time);
      }
    }
    return rows;
  }

 private:
  const StepRanges& steps_;
  std::map<std::int64_t, std::vector<StepWork>> devices_;  // ordered for the rows
};

// The values derived from the sums.
void Complete(std::int64_t device, const StepRange& step, StepWork& work) {
  StepTime& time = work.time;
  time.device = device;
  time.step = step.id;
  time.overlapped = time.communication - time.exposed_communication;
  time.exposed_without_receive = std::max(time.exposed_communication - time.bubble, 0.0);
  if (!work.extent.Empty()) {
    time.stage = static_cast<double>(work.extent.end - work.extent.start) - time.bubble;
  }
  if (work.first >= 0 && step.host_start >= 0) {
    time.preparing = static_cast<double>(work.first - step.host_start);
  }
}

template <typename Visit>
void ForEachReceive(const Session& session, Visit visit) {
  const Collectives& collectives = session.collectives;
  for (std::size_t i = 0; i < collectives.Size(); ++i) {
    if (session.strings.View(collectives.name[i]).starts_with(kReceive)) visit(i);
  }
}

double* SumOf(Activity activity, StepTime& time) {
  switch (activity) {
    case Activity::kComputing:
      return &time.computing;
    case Activity::kCommunication:
      return &time.communication;
    case Activity::kExposedCommunication:
      return &time.exposed_communication;
    case Activity::kFree:
      break;
  }
  return &time.free;
}

// Sums of the activities that begin in a step, regardless of where they end.
std::vector<StepTime> FromActivities(const Session& session) {
  const StepRanges steps = OrAll(DeviceSpans(session.steps, 0), session);
  WorkTable table(steps);
  const Overlaps& activities = session.overlaps;
  for (std::size_t i = 0; i < activities.Size(); ++i) {
    StepWork* work = table.At(activities.device[i], activities.start[i]);
    if (work == nullptr) continue;
    const Activity activity = activities.activity[i];
    *SumOf(activity, work->time) += static_cast<double>(activities.dur[i]);
    work->extent.Add(activities.start[i], activities.start[i] + activities.dur[i]);
    const bool is_work = activity == Activity::kComputing || activity == Activity::kCommunication;
    if (is_work) work->Begin(activities.start[i]);
  }
  const Collectives& collectives = session.collectives;
  ForEachReceive(session, [&](std::size_t i) {
    StepWork* work = table.At(collectives.device[i], collectives.start[i]);
    if (work == nullptr) return;
    work->time.bubble += collectives.dur[i];
    work->extent.Add(collectives.start[i], collectives.end[i]);
  });
  return table.Rows(false, [&](std::size_t step, std::int64_t device, StepWork& work) {
    Complete(device, steps.All()[step], work);
  });
}

struct DeviceOp {
  TimeNs start = 0, end = 0;
  std::int64_t device = 0;
  bool is_collective = false;
};

// Kernels and collectives in order of start.
std::vector<DeviceOp> DeviceOps(const Session& session) {
  std::vector<DeviceOp> ops;
  ops.reserve(session.kernels.Size() + session.collectives.Size());
  for (const std::int32_t task : session.kernels.task) {
    ops.push_back(
        {session.tasks.start[task], session.tasks.end[task], session.tasks.device[task], false});
  }
  const Collectives& collectives = session.collectives;
  for (std::size_t i = 0; i < collectives.Size(); ++i) {
    ops.push_back({collectives.start[i], collectives.end[i], collectives.device[i], true});
  }
  StableSort(ops, {}, &DeviceOp::start);
  return ops;
}

std::vector<StepTime> FromOperations(const Session& session) {
  const StepRanges steps = RangesOfCalls(session);
  WorkTable table(steps);
  for (const DeviceOp& op : DeviceOps(session)) {
    StepWork* work = table.At(op.device, op.start);
    if (work == nullptr) continue;
    (op.is_collective ? work->communication : work->computing).Add(op.start, op.end);
    work->any.Add(op.start, op.end);
    work->extent.Add(op.start, op.end);
    work->Begin(op.start);
  }
  ForEachReceive(session, [&](std::size_t i) {
    const Collectives& collectives = session.collectives;
    StepWork* work = table.At(collectives.device[i], collectives.start[i]);
    if (work != nullptr) work->time.bubble += collectives.dur[i];
  });
  return table.Rows(true, [&](std::size_t step, std::int64_t device, StepWork& work) {
    work.time.computing = work.computing.Length();
    work.time.communication = work.communication.Length();
    work.time.exposed_communication = work.any.Length() - work.computing.Length();
    if (!work.extent.Empty()) {
      work.time.free = static_cast<double>(work.extent.end - work.extent.start) - work.any.Length();
    }
    Complete(device, steps.All()[step], work);
  });
}

}  // namespace

std::vector<StepTime> StepTimes(const Session& session, StepTimeForm form) {
  return form == StepTimeForm::kText ? FromActivities(session) : FromOperations(session);
}

// The time that operators take on the host and on the device.

namespace {

// Operators inside one that run in parallel may take more time than it has.
TimeNs Minus(TimeNs a, TimeNs b) {
  TimeNs difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? a : difference;
}

// What the profiler counts for each collective: of the rows of its timeline the first one that an
// arrow of the launch leads to. That is the first copy where the parts are tasks of their own. On
// HWTS chips copies and collective have arrows of their own, and both count.
std::vector<double> CountedDurations(const Session& session) {
  std::vector<double> counted = session.collectives.dur;
  const bool adds = IsHwts(session);
  const std::vector<std::int32_t> copies = FirstCopiesOfCollectives(session);
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (copies[i] >= 0) counted[i] = (adds ? counted[i] : 0) + session.tasks.Exact(copies[i]);
  }
  return counted;
}

void SumDeviceWork(const Session& session, OperatorTimes& times) {
  const std::vector<double> collectives = CountedDurations(session);
  for (std::size_t i = 0; i < session.links.Size(); ++i) {
    const std::int32_t op = session.links.op[i];
    const std::int32_t task = session.links.task[i];
    if (task < 0) {
      times.device_self[op] += collectives[session.links.collective[i]];
      continue;
    }
    const double dur = session.tasks.Exact(task);
    times.device_self[op] += dur;
    if (session.tasks.kind[task] != TaskKind::kKernel) continue;
    const StringId core = session.kernels.core[session.tasks.detail[task]];
    if (session.strings.View(core) == "AI_CORE") times.cube_self[op] += dur;
  }
}

}  // namespace

OperatorTimes SumOperatorTimes(const Session& session) {
  const TorchOps& ops = session.ops;
  OperatorTimes times;
  times.host_total.resize(ops.Size());
  times.device_self.resize(ops.Size());
  times.cube_self.resize(ops.Size());
  for (std::size_t row = 0; row < ops.Size(); ++row) {
    times.host_total[row] = ops.dur[row];
  }
  SumDeviceWork(session, times);
  times.host_self = times.host_total;
  times.device_total = times.device_self;
  times.cube_total = times.cube_self;
  for (std::size_t row = ops.Size(); row-- > 0;) {  // children come after their parents
    const std::int32_t parent = ops.parent[row];
    if (parent < 0) continue;
    times.host_self[parent] = Minus(times.host_self[parent], times.host_total[row]);
    times.device_total[parent] += times.device_total[row];
    times.cube_total[parent] += times.cube_total[row];
  }
  return times;
}

// The kernels of a type on a kind of core.

namespace {

struct Sum {
  KernelStatistic row;
  bool whole = true;  // no duration has a fraction of a ns
};

void Add(double dur, Sum& to) {
  to.row.durations.AddOne(dur);
  to.whole = to.whole && dur == std::floor(dur);
}

}  // namespace

std::vector<KernelStatistic> SumKernels(const Session& session) {
  const Kernels& kernels = session.kernels;
  std::map<std::tuple<std::int64_t, StringId, StringId>, Sum> sums;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const auto task = static_cast<std::size_t>(kernels.task[i]);
    Add(session.tasks.Exact(task),
        sums[{session.tasks.device[task], kernels.op_type[i], kernels.core[i]}]);
  }
  const auto text = [&](StringId id) { return session.strings.View(id); };
  std::vector<KernelStatistic> listed;
  for (auto& [key, found] : sums) {
    KernelStatistic& row = found.row;
    std::tie(row.device, row.op_type, row.core) = key;
    const double average = row.durations.Mean();
    row.average = found.whole ? std::floor(average) : average;
    const bool is_piece =
        IsOneOf(text(row.core), {"WRITE_BACK", "INVALID", "HCCL_AI_CPU", "COMMUNICATION"});
    if (text(row.op_type) != "N/A" && !is_piece) listed.push_back(row);
  }
  StableSort(listed, [&](const KernelStatistic& a, const KernelStatistic& b) {
    return std::tuple(a.device, -a.durations.sum, text(a.op_type), text(a.core)) <
           std::tuple(b.device, -b.durations.sum, text(b.op_type), text(b.core));
  });
  return listed;
}

}  // namespace mpa::raw

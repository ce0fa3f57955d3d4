// SPDX-License-Identifier: Apache-2.0
// The kernels and operators of a rank by name and shapes, and its slow events.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "mpa/base/fields.h"
#include "mpa/base/stable_sort.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/cache_hits.h"
#include "mpa/measure/call_paths.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/host_places.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/op_tree.h"
#include "mpa/model/launches.h"
#include "mpa/model/step_bounds.h"
#include "top.h"

namespace mpa::recipes::top_operators {
namespace {

constexpr std::size_t kMaxEvents = 100'000;

// True for a counter that is a share, or an amount per time; others are amounts of a call.
bool IsRate(std::string_view name) {
  return name.ends_with("_ratio") || name.ends_with("_rate") || name.ends_with("_utilization") ||
         name.find("_bw") != std::string_view::npos;
}

std::string RecordedText(std::string_view text) {
  if (text == "N/A") return "";
  if (text.size() > 1 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  std::string one_line(text);
  std::erase_if(one_line, [](char c) { return c == '\r' || c == '\n'; });
  return one_line;
}

std::size_t At(std::int64_t row) { return static_cast<std::size_t>(row); }

// What a group or an event is of, so that its texts are made only if it is listed.
struct Call {
  Kind kind{};
  PieceTable table{};
  std::int32_t row = -1;  // of an operator its own
  std::int64_t op = Nesting::kNone;
  TimeNs start = 0, dur = 0;
};

struct Group {
  Top sums;
  Call longest;
};

class Collector {
 public:
  Collector(const RankTrace& trace, TimeNs over)
      : trace_(trace),
        over_(over),
        clock_(HostClockOf(trace)),
        bounds_(trace, clock_.offset),
        sites_(trace, clock_),
        launches_(trace),
        ops_(OpSpans(trace)),
        cache_(trace) {
    const std::vector<StepWindow> steps = FindStepWindows(trace, clock_);
    if (!steps.empty()) window_ = {steps.front().window.begin, steps.back().window.end};
    op_of_kernel_.assign(trace.kernels.Size(), Nesting::kNone);
    op_of_collective_.assign(trace.communications.Size(), Nesting::kNone);
  }

  TopOfRank Collect() && {
    AddOperators();
    AddDeviceItems();
    AddHostEvents();
    part_.steps = window_.end - window_.begin;
    part_.has_python = HasPythonFrames(trace_);
    part_.is_gpu = trace_.device == DeviceKind::kGpu;
    const auto known = [&](StringId id) { return !RecordedText(View(id)).empty(); };
    part_.has_shapes = std::ranges::any_of(trace_.kernels.shapes, known) ||
                       std::ranges::any_of(trace_.host_ops.shapes, known);
    part_.kernels = List(kernels_);
    part_.operators = List(operators_);
    ListEvents();
    return std::move(part_);
  }

 private:
  using Key = std::tuple<Kind, std::string_view, StringId, StringId>;  // name, shapes, core
  using Groups = std::map<Key, Group>;

  std::string_view View(StringId id) const { return trace_.strings.View(id); }

  void Add(const Key& key, const Call& call, TimeNs in_steps, Groups& groups) {
    Group& group = groups[key];
    Top& sums = group.sums;
    sums.kind = call.kind;
    ++sums.calls;
    sums.total += call.dur;
    sums.in_steps += in_steps;
    if (sums.calls == 1 || call.dur > sums.max ||
        (call.dur == sums.max && call.start < group.longest.start)) {
      sums.max = call.dur;
      group.longest = call;
    }
    if (call.kind == Kind::kOperator) sums.host += trace_.host_ops.dur[At(call.row)];
    if (call.table != PieceTable::kKernels || trace_.kernel_loads.Empty()) return;
    AddCounters(call, sums);
    const UnitLoads loads = LoadsOf(trace_.kernel_loads, At(call.row));
    if (BusiestLoad(loads) <= 0) return;
    part_.has_loads = true;
    sums.measured += call.dur;
    const auto units = FieldsOf(loads);
    std::size_t unit = 0;
    std::apply(
        [&](const auto&... load) {
          ((sums.loads[unit++] += std::max<double>(load, 0) * static_cast<double>(call.dur)), ...);
        },
        units);
  }

  void AddCounters(const Call& call, Top& sums) const {
    const auto time = static_cast<double>(call.dur);
    if (const auto hits = cache_.Of(At(call.row))) {
      sums.cache_time += call.dur;
      sums.cache_hits += *hits * time;
    }
    const std::vector<double>& counters = trace_.kernel_loads.counters[At(call.row)];
    if (sums.counters.size() < counters.size()) sums.counters.resize(counters.size());
    for (std::size_t i = 0; i < counters.size(); ++i) {
      const std::string_view name = View(trace_.counter_names[i]);
      if (!std::isfinite(counters[i]) || name == kHitRate) continue;  // which has a column
      CounterMean& mean = sums.counters[i];
      mean.name = name;
      const double weight = IsRate(mean.name) ? time : 1;
      mean.sum += weight * counters[i];
      mean.weight += weight;
    }
  }

  TimeNs WithinSteps(TimeNs begin, TimeNs end) const {
    return std::max<TimeNs>(0, std::min(end, window_.end) - std::max(begin, window_.begin));
  }

  // What operators launched, by FindOpWork() as in other commands. Copies are rows of their own.
  void AddOperators() {
    for (const OpWork& work : FindOpWork(trace_).ops) {
      const auto op = static_cast<std::int32_t>(work.op);
      Call call{Kind::kOperator, PieceTable::kHostOps, op, op, trace_.host_ops.start[work.op], 0};
      TimeNs in_steps = 0;
      for (const DeviceWork& one : work.kernels) {
        if (one.kernel != DeviceWork::kNone) op_of_kernel_[At(one.kernel)] = op;
        if (one.collective != DeviceWork::kNone) op_of_collective_[At(one.collective)] = op;
        if (one.schedule != DeviceWork::kNone) continue;  // the collective counts
        call.dur += one.dur;
        in_steps += WithinSteps(one.start, one.start + one.dur);
      }
      if (call.dur == 0) continue;
      Add({call.kind, View(trace_.host_ops.name[work.op]), trace_.host_ops.shapes[work.op], {}},
          call, in_steps, operators_);
    }
  }

  void AddDeviceItems() {
    for (const DeviceItem& item : FindDeviceItems(trace_)) {
      Call call{Kind::kKernel, item.table, item.row, OpOf(item), item.begin, item.end - item.begin};
      Key key;
      if (item.table == PieceTable::kCommunications) {
        call.kind = Kind::kCommunication;
        key = {call.kind, TypeOfCollective(item.row), {}, {}};
      } else if (IsDeviceCopy(item.category)) {
        call.kind = Kind::kCopy;
        key = {call.kind, TaskKind(trace_, At(item.row)), {}, {}};
      } else if (item.table == PieceTable::kKernels) {
        // Names of kernels in compiled graphs are numbered.
        const StringId type = trace_.kernels.op_type[At(item.row)];
        const StringId name = trace_.kernels.name[At(item.row)];
        key = {call.kind, View(type != StringId::kEmpty ? type : name),
               trace_.kernels.shapes[At(item.row)], trace_.kernels.core[At(item.row)]};
      } else {
        key = {call.kind, View(trace_.device_tasks.name[At(item.row)]), {}, {}};
      }
      Add(key, call, WithinSteps(item.begin, item.end), kernels_);
      part_.busy += call.dur;
      if (call.dur > over_) events_.push_back(call);
    }
  }

  std::int64_t OpOf(const DeviceItem& item) const {
    if (item.table == PieceTable::kKernels && op_of_kernel_[At(item.row)] != Nesting::kNone)
      return op_of_kernel_[At(item.row)];
    if (item.table == PieceTable::kCommunications) return op_of_collective_[At(item.row)];
    const auto launch = launches_.Find(item.link);
    if (!launch) return Nesting::kNone;
    return ops_.Find(trace_.launches.host_track[*launch], trace_.launches.host_time[*launch]);
  }

  // One text for each type: the key refers to it.
  std::string_view TypeOfCollective(std::int32_t row) {
    return *types_.insert(KernelNameOf(trace_, {.collective = row})).first;
  }

  // Rows of a table of the host; `op_of` says in which operator a row lies.
  template <typename OpOfRow>
  void AddLane(Kind kind, PieceTable table, const std::vector<TimeNs>& start,
               const std::vector<TimeNs>& dur, OpOfRow op_of) {
    for (std::size_t i = 0; i < start.size(); ++i) {
      if (dur[i] <= over_ || !trace_.IsOfStep(start[i])) continue;
      events_.push_back({kind, table, static_cast<std::int32_t>(i), op_of(i), start[i], dur[i]});
    }
  }

  void AddLanes() {
    const QueuedWork& queue = trace_.queued_work;
    AddLane(Kind::kQueuedWork, PieceTable::kQueuedWork, queue.start, queue.dur, [&](std::size_t i) {
      return queue.queued_track[i] < 0 ? Nesting::kNone
                                       : ops_.Find(queue.queued_track[i], queue.queued[i]);
    });
    const HostCalls& calls = trace_.host_calls;
    AddLane(Kind::kRuntimeCall, PieceTable::kHostCalls, calls.start, calls.dur, [&](std::size_t i) {
      return calls.track[i] < 0 ? Nesting::kNone : ops_.Find(calls.track[i], calls.start[i]);
    });
    const PythonCalls& functions = trace_.python_calls;
    AddLane(Kind::kPython, PieceTable::kPythonCalls, functions.start, functions.dur,
            [](std::size_t) { return Nesting::kNone; });
  }

  void AddHostEvents() {
    AddLanes();
    const HostOps& ops = trace_.host_ops;
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      if (ops.dur[i] <= over_ || ops.replayed[i] != 0 || IsStepMark(View(ops.name[i]))) continue;
      const auto row = static_cast<std::int32_t>(i);
      events_.push_back(
          {Kind::kOperator, PieceTable::kHostOps, row, row, ops.start[i], ops.dur[i]});
    }
  }

  std::string NameOfCall(const Call& call) const {
    if (call.kind == Kind::kCommunication)
      return std::string(View(trace_.communications.name[At(call.row)]));
    if (call.kind == Kind::kCopy) return std::string(TaskKind(trace_, At(call.row)));
    if (const auto name = NameOfHost(call)) return std::string(View(*name));
    return std::string(View(call.table == PieceTable::kKernels
                                ? trace_.kernels.name[At(call.row)]
                                : trace_.device_tasks.name[At(call.row)]));
  }

  std::optional<StringId> NameOfHost(const Call& call) const {
    switch (call.kind) {
      case Kind::kOperator:
        return trace_.host_ops.name[At(call.row)];
      case Kind::kQueuedWork:
        return trace_.queued_work.name[At(call.row)];
      case Kind::kRuntimeCall:
        return trace_.host_calls.name[At(call.row)];
      case Kind::kPython:
        return trace_.python_calls.name[At(call.row)];
      default:
        return std::nullopt;
    }
  }

  // -1: of the device, or not recorded.
  std::int32_t TrackOf(const Call& call) const {
    switch (call.kind) {
      case Kind::kOperator:
        return trace_.host_ops.track[At(call.row)];
      case Kind::kQueuedWork:
        return trace_.queued_work.track[At(call.row)];
      case Kind::kRuntimeCall:
        return trace_.host_calls.track[At(call.row)];
      case Kind::kPython:
        return trace_.python_calls.track[At(call.row)];
      default:
        return -1;
    }
  }

  std::string ShapesOf(const Call& call) const {
    if (call.kind == Kind::kOperator)
      return RecordedText(View(trace_.host_ops.shapes[At(call.row)]));
    if (call.table != PieceTable::kKernels) return "";
    return RecordedText(View(trace_.kernels.shapes[At(call.row)]));
  }

  std::string LaunchedBy(const Call& call) const {
    if (call.kind == Kind::kOperator || call.op == Nesting::kNone) return "";
    return std::string(View(trace_.host_ops.name[At(call.op)]));
  }

  std::string SiteOf(const Call& call) const {
    return call.op != Nesting::kNone && sites_.Known() ? sites_.At(ops_.At(At(call.op))) : "";
  }

  std::vector<Top> List(Groups& groups) const {
    std::vector<Top> list;
    for (auto& [key, group] : groups) {
      Top& top = list.emplace_back(std::move(group.sums));
      const Call& call = group.longest;
      // Of collectives and copies the name is the type, for that of a call occurs once.
      top.name =
          call.kind == Kind::kCommunication ? std::string(std::get<1>(key)) : NameOfCall(call);
      top.type = call.kind == Kind::kOperator ? "" : std::string(std::get<1>(key));
      top.core = View(std::get<3>(key));
      top.shapes = ShapesOf(call);
      top.longest_start = call.start;
      top.launched_by = LaunchedBy(call);
      top.call_site = SiteOf(call);
      std::erase_if(top.counters, [](const CounterMean& mean) { return mean.weight == 0; });
      if (call.table == PieceTable::kKernels && !trace_.kernel_loads.Empty())
        top.attributes = RecordedText(View(trace_.kernel_loads.attributes[At(call.row)]));
    }
    return list;
  }

  void ListEvents() {
    const auto longer = [](const Call& a, const Call& b) {
      return std::tie(b.dur, a.start, a.kind, a.row) < std::tie(a.dur, b.start, b.kind, b.row);
    };
    if (events_.size() > kMaxEvents) {
      part_.events_left_out = static_cast<std::int64_t>(events_.size() - kMaxEvents);
      std::ranges::nth_element(events_, events_.begin() + kMaxEvents, longer);
      events_.resize(kMaxEvents);
    }
    // An operator that holds another comes first.
    StableSort(events_, [](const Call& a, const Call& b) {
      return std::tie(a.start, b.dur, a.kind, a.row) < std::tie(b.start, a.dur, b.kind, b.row);
    });
    std::map<std::int32_t, std::size_t> functions;  // by thread, the event of the last one
    for (const Call& call : events_) {
      std::optional<std::size_t> step;
      const std::int32_t track = TrackOf(call);
      if (call.kind == Kind::kPython) {
        const auto [last, is_first] = functions.try_emplace(track, part_.events.size());
        SlowEvent* outer = is_first ? nullptr : &part_.events[last->second];
        if (outer != nullptr && call.start < outer->start + outer->dur) outer->is_innermost = false;
        last->second = part_.events.size();
      }
      if (NameOfHost(call)) {
        step = bounds_.OfHostTime(call.start);
      } else {
        step = bounds_.OfDeviceWork(LinkOf(call), call.start);
      }
      part_.events.push_back({.kind = call.kind,
                              .start = call.start,
                              .dur = call.dur,
                              .thread = track < 0 ? -1 : trace_.tracks.tid[At(track)],
                              .step = step ? bounds_.Id(*step) : -1,
                              .name = NameOfCall(call),
                              .shapes = ShapesOf(call),
                              .launched_by = LaunchedBy(call),
                              .call_site = SiteOf(call)});
    }
  }

  std::int64_t LinkOf(const Call& call) const {
    return call.table == PieceTable::kKernels          ? trace_.kernels.link[At(call.row)]
           : call.table == PieceTable::kCommunications ? trace_.communications.link[At(call.row)]
                                                       : trace_.device_tasks.link[At(call.row)];
  }

  const RankTrace& trace_;
  const TimeNs over_;
  const HostClock clock_;
  const StepBounds bounds_;
  const CallSites sites_;
  const LaunchIndex launches_;
  const Nesting ops_;
  const CacheHits cache_;
  Interval window_;
  std::vector<std::int64_t> op_of_kernel_, op_of_collective_;
  std::set<std::string> types_;
  Groups kernels_, operators_;
  std::vector<Call> events_;
  TopOfRank part_;
};

}  // namespace

std::string_view NameOf(Kind kind) {
  constexpr std::string_view kNames[] = {"kernel",     "communication", "copy",  "operator",
                                         "task queue", "runtime call",  "Python"};
  return kNames[static_cast<int>(kind)];
}

UnitLoads Top::Loads() const {
  UnitLoads mean;
  if (measured == 0) return mean;
  std::size_t unit = 0;
  std::apply(
      [&](auto&... load) {
        ((load = static_cast<std::int16_t>(
              std::lround(loads[unit++] / static_cast<double>(measured)))),
         ...);
      },
      FieldsOf(mean));
  return mean;
}

std::optional<double> Top::HitRate() const {
  if (cache_time == 0) return std::nullopt;
  return cache_hits / static_cast<double>(cache_time);
}

std::string Top::CountersText() const {
  std::string text;
  for (const CounterMean& mean : counters) {
    text += fmt::format("{}{} {:.4g}", text.empty() ? "" : "; ", mean.name, mean.sum / mean.weight);
  }
  return text;
}

namespace {

// Captures number texts differently, so the texts decide between equal ones.
void Sort(std::vector<Top>& list) {
  StableSort(list, [](const Top& a, const Top& b) {
    return std::tie(b.total, a.kind, a.type, a.name, a.shapes, a.core) <
           std::tie(a.total, b.kind, b.type, b.name, b.shapes, b.core);
  });
}

}  // namespace

TopOfRank TopOf(const RankTrace& trace, TimeNs over) {
  TopOfRank part = Collector(trace, over).Collect();
  Sort(part.kernels);
  Sort(part.operators);
  return part;
}

std::vector<Top> Together(const Ranks& ranks, std::vector<Top> TopOfRank::*list) {
  using Key = std::tuple<Kind, std::string_view, std::string_view, std::string_view>;
  std::map<Key, std::size_t> places;
  std::vector<Top> all;
  for (const auto& [rank, part] : ranks) {
    for (const Top& top : part.*list) {
      const Key key{top.kind, top.kind == Kind::kOperator ? top.name : top.type, top.shapes,
                    top.core};
      const auto [place, is_new] = places.try_emplace(key, all.size());
      if (is_new) {
        all.push_back(top);
        continue;
      }
      Top& sum = all[place->second];
      if (top.max > sum.max) {
        sum.max = top.max;
        sum.name = top.name;
        sum.longest_start = top.longest_start;
        sum.launched_by = top.launched_by;
        sum.call_site = top.call_site;
        sum.attributes = top.attributes;
      }
      sum.calls += top.calls;
      sum.total += top.total;
      sum.in_steps += top.in_steps;
      sum.host += top.host;
      sum.measured += top.measured;
      sum.cache_time += top.cache_time;
      sum.cache_hits += top.cache_hits;
      for (const CounterMean& mean : top.counters) {
        const auto known = std::ranges::find(sum.counters, mean.name, &CounterMean::name);
        if (known == sum.counters.end()) {
          sum.counters.push_back(mean);
        } else {
          known->sum += mean.sum;
          known->weight += mean.weight;
        }
      }
      for (std::size_t unit = 0; unit < sum.loads.size(); ++unit)
        sum.loads[unit] += top.loads[unit];
    }
  }
  Sort(all);
  return all;
}

}  // namespace mpa::recipes::top_operators

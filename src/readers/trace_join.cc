// SPDX-License-Identifier: Apache-2.0
#include "trace_join.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "mpa/base/rows_by.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/device_tasks.h"
#include "trace_checks.h"
#include "trace_copies.h"
#include "trace_counters.h"
#include "trace_events.h"
#include "trace_mstx.h"
#include "trace_processes.h"

namespace mpa::readers {
namespace {

// Finds the collectives that tasks are pieces of: both have the connection of the call of CANN that
// launched them.
class CollectiveIndex {
 public:
  void Add(std::int64_t connection, TimeNs start, std::size_t row) {
    if (connection >= 0) rows_.try_emplace({connection, start}, row);
  }

  // The row of the collective. Of several runs of one call it is the last that had begun, or the
  // first: a piece may begin before those by which the collective is timed.
  std::optional<std::size_t> Find(std::int64_t connection, TimeNs time) const {
    const auto later = rows_.upper_bound({connection, time});
    const auto is_found = [&](auto at) { return at->first.first == connection; };
    if (later != rows_.begin() && is_found(std::prev(later))) return std::prev(later)->second;
    if (later != rows_.end() && is_found(later)) return later->second;
    return std::nullopt;
  }

 private:
  std::map<std::pair<std::int64_t, TimeNs>, std::size_t> rows_;
};

std::optional<Activity> ActivityOf(std::string_view name) {
  if (name == "Computing") return Activity::kComputing;
  if (name == "Communication(Not Overlapped)") return Activity::kExposedCommunication;
  if (name == "Communication") return Activity::kCommunication;
  if (name == "Free") return Activity::kFree;
  return std::nullopt;
}

// Brings the device events of a trace into the tables of the rank, once the processes are known.
class DeviceJoin {
 public:
  DeviceJoin(const Processes& processes, RankTrace& trace, RuntimeTrace* runtime, MstxTrace* mstx)
      : processes_(processes),
        trace_(trace),
        threads_(processes, trace),
        without_steps_(trace.steps.Empty()),
        runtime_(runtime),
        mstx_(mstx) {}

  void Add(const DeviceEvent& event, const CommArgs& comm_args, const RuntimeArgs& runtime_args,
           const MstxArgs& mstx_args) {
    const EventPlace place{event.pid, event.tid, event.start};
    if (event.pid == processes_.hardware) {
      AddTask(event);
    } else if (event.pid == processes_.communication) {
      AddCommunication(event, comm_args, runtime_args);
    } else if (event.pid == processes_.overlap) {
      if (const auto activity = ActivityOf(trace_.strings.View(event.name))) {
        trace_.overlaps.Append({.start = event.start, .dur = event.dur, .activity = *activity});
      }
    } else {
      // Programs that mark their steps themselves (mstx).
      const std::string_view name = trace_.strings.View(event.name);
      if (event.dur > 0 && without_steps_) AppendStep(name, event.start, event.dur, trace_);
      AppendServingMark(name, event.start, event.dur, trace_);
      if (mstx_ != nullptr) mstx_->Add(mstx_args, place, event.dur, event.name, trace_);
    }
    if (runtime_ == nullptr) return;
    const auto process = processes_.runtime.find(event.pid);
    if (process == processes_.runtime.end()) return;
    runtime_->Add(process->second, place, event.dur, event.name, runtime_args);
  }

  void LinkMarks(const std::vector<FlowPoint>& arrows) {
    if (mstx_ != nullptr) mstx_->Link(arrows, task_places_, trace_);
  }

  void Link(LaunchFlows& launches) {
    launches.Link(task_places_, trace_.device_tasks.link);
    launches.Link(communication_places_, trace_.communications.link);
    FindLostWork(launches.EndsWithoutEvent());
    LinkCollectives();
  }

  // Links are numbered by the launches: after the last one was appended.
  void DropLostLaunches() {
    if (lost_.empty()) return;
    trace_.launches.Filter([&](std::size_t i) { return !lost_.contains(trace_.launches.link[i]); });
  }

  // The copies at which no arrow from an operator ends, without the pieces of collectives.
  std::vector<PlacedRow> UnlinkedCopies() const {
    const DeviceTasks& tasks = trace_.device_tasks;
    std::vector<PlacedRow> copies;
    for (std::size_t i = 0; i < tasks.Size(); ++i) {
      if (tasks.link[i] >= 0 || !IsCopy(trace_.strings.View(tasks.name[i]))) continue;
      if (!CollectiveOf(i)) copies.emplace_back(task_places_[i], i);
    }
    return copies;
  }

 private:
  // Arrows of launches may also end at pieces of collectives, and at what another device did.
  void FindLostWork(const std::vector<EventPlace>& ends) {
    std::set<EventPlace> lost;
    for (const EventPlace& end : ends) {
      if (end.pid == processes_.hardware || end.pid == processes_.communication) lost.insert(end);
    }
    if (lost.empty()) return;
    const CommTasks& pieces = trace_.comm_tasks;
    for (std::size_t i = 0; i < pieces.Size(); ++i)
      lost.erase({*processes_.communication, pieces.plane[i], pieces.start[i]});
    std::set<std::pair<TimeNs, std::int64_t>> ends_of_lost;
    for (const EventPlace& end : lost) ends_of_lost.emplace(end.start, end.tid);
    const Launches& launches = trace_.launches;
    for (std::size_t i = 0; i < launches.Size() && !lost.empty(); ++i) {
      if (!ends_of_lost.contains({launches.device_time[i], launches.stream[i]})) continue;
      trace_.unanswered_launches.Append(
          {.time = launches.host_time[i], .track = launches.host_track[i]});
      lost_.insert(launches.link[i]);
    }
  }

  std::optional<std::size_t> CollectiveOf(std::size_t task) const {
    return collectives_.Find(trace_.device_tasks.connection[task], trace_.device_tasks.start[task]);
  }

  // The arrow to a collective ends at its first copy, if it makes one.
  void LinkCollectives() {
    DeviceTasks& tasks = trace_.device_tasks;
    for (std::size_t i = 0; i < tasks.Size(); ++i) {
      if (tasks.link[i] < 0 || !IsCopy(trace_.strings.View(tasks.name[i]))) continue;
      const auto collective = CollectiveOf(i);
      if (!collective) continue;
      std::int64_t& link = trace_.communications.link[*collective];
      if (link < 0) link = tasks.link[i];
      tasks.link[i] = -1;
    }
  }

  void AddTask(const DeviceEvent& event) {
    if (IsLcclKernel(trace_.strings.View(event.name)))
      AppendOperation(event, CommArgs(), /*group=*/-1);
    trace_.device_tasks.Append(event);
    task_places_.push_back({event.pid, event.tid, event.start});
  }

  void AddCommunication(const DeviceEvent& event, const CommArgs& comm_args,
                        const RuntimeArgs& runtime_args) {
    const CommThreads::Place place = threads_.Of(event.tid);
    if (place.is_group) {
      collectives_.Add(event.connection, event.start, trace_.communications.Size());
      AppendOperation(event, comm_args, place.group);
      if (runtime_ != nullptr) {
        runtime_->AddRun({event.pid, event.tid, event.start},
                         {.start = event.start,
                          .dur = event.dur,
                          .name = event.name,
                          .is_collective = true,
                          .connection = runtime_args.connection});
      }
    } else {
      trace_.comm_tasks.Append({.start = event.start,
                                .dur = event.dur,
                                .name = event.name,
                                .group = place.group,
                                .plane = event.tid,
                                .dur_rest = event.dur_rest,
                                .own_rank = comm_args.own_rank,
                                .peer = comm_args.peer,
                                .bytes = comm_args.bytes,
                                .transport = comm_args.transport,
                                .link_type = comm_args.link_type,
                                .notify = comm_args.notify,
                                .stream = comm_args.stream});
    }
  }

  void AppendOperation(const DeviceEvent& event, const CommArgs& args, std::int32_t group) {
    trace_.communications.Append({.start = event.start,
                                  .dur = event.dur,
                                  .name = event.name,
                                  .op_type = event.name,
                                  .group = group,
                                  .dur_rest = event.dur_rest,
                                  .data_type = args.data_type,
                                  .count = args.count,
                                  .connection = event.connection});
    communication_places_.push_back({event.pid, event.tid, event.start});
  }

  const Processes& processes_;
  RankTrace& trace_;
  CommThreads threads_;
  bool without_steps_;     // no operator is one
  RuntimeTrace* runtime_;  // null when nobody asks; so are the marks
  MstxTrace* mstx_;
  std::vector<EventPlace> task_places_, communication_places_;
  CollectiveIndex collectives_;
  std::set<std::int64_t> lost_;  // launches whose work is not there
};

}  // namespace

void TraceJoin::Add(const TraceFragment& fragment) {
  StringMapping texts(fragment.strings, trace_.strings);
  AppendHostOps(fragment.host, texts, tracks_, trace_);
  AppendPythonCalls(fragment.python, texts, tracks_, trace_);
  const auto add = [&](const auto& from, auto& to) {
    for (auto record : from) {
      MapTexts(record, texts);
      to.push_back(record);
    }
  };
  const std::size_t first_event = device_.size(), first_args = comm_args_.size();
  add(fragment.comm_args, comm_args_);
  for (std::size_t i = first_args; i < comm_args_.size(); ++i) comm_args_[i].event += first_event;
  for (DeviceEvent event : fragment.device) {
    MapTexts<DeviceTasks::Row>(event, texts);
    device_.push_back(event);
  }
  add(fragment.runtime_args, runtime_args_);
  add(fragment.mstx_args, mstx_args_);
  add(fragment.metadata, metadata_);
  add(fragment.queue, queue_);
  add(fragment.counters, counters_);
  trace_.core_clocks.AppendAll(fragment.core_clocks);
  trace_.garbage_collections.AppendAll(fragment.garbage_collections);
  if (fragment.backward_tid != -1) trace_.backward_tid = fragment.backward_tid;
  trace_.issues.Merge(fragment.issues);
  AppendAll(fragment.flows, flows_);
  AppendAll(fragment.backward_flows, backward_flows_);
  AppendAll(fragment.runtime_flows, runtime_flows_);
  AppendAll(fragment.mstx_flows, mstx_flows_);
}

namespace {

// Analyses go by the order of the rows, which must not depend on that of the file.
void SortDeviceWork(RankTrace& trace) {
  const auto sort = [&](auto& table, auto place) {
    table.Reorder(RowsBy(table.Size(), [&](std::size_t i) {
      return std::tuple{table.start[i], table.group[i], place(i), table.dur[i],
                        trace.strings.View(table.name[i])};
    }));
  };
  sort(trace.comm_tasks, [&](std::size_t i) { return trace.comm_tasks.plane[i]; });
  sort(trace.communications, [](std::size_t) { return 0; });
  DeviceTasks& tasks = trace.device_tasks;
  if (std::ranges::is_sorted(tasks.start)) return;
  tasks.Reorder(RowsBy(tasks.Size(), [&](std::size_t i) {
    return std::tuple{tasks.start[i], tasks.stream[i], tasks.task_id[i]};
  }));
}

}  // namespace

void TraceJoin::Finish() {
  if (device_.empty() && metadata_.empty() && trace_.host_ops.Empty() && trace_.issues.Empty()) {
    trace_.issues.Count(Promise::kFileIsWhole,
                        "the trace holds no events, what it tells is unknown; copy or parse the"
                        " capture again",
                        "trace_view.json");
  }
  Processes processes = FindProcesses(metadata_, device_, trace_.strings, trace_.issues);
  CheckProcesses(device_, processes, trace_);
  if (processes.device) trace_.device_id = *processes.device;
  DropProcesses(processes.other_owners, trace_);
  const bool with_runtime = Intersects(wanted_, kRuntimeTables);
  const bool with_mstx = Intersects(wanted_, Tables::kMstx);
  RuntimeTrace runtime(Intersects(wanted_, Tables::kDeviceRuns), trace_);
  MstxTrace mstx;
  DeviceJoin device(processes, trace_, with_runtime ? &runtime : nullptr,
                    with_mstx ? &mstx : nullptr);
  auto args = comm_args_.begin();
  for (std::size_t i = 0; i < device_.size(); ++i) {
    const bool has_args = args != comm_args_.end() && args->event == i;
    device.Add(device_[i], has_args ? *args++ : CommArgs(),
               with_runtime ? runtime_args_[i] : RuntimeArgs(),
               with_mstx ? mstx_args_[i] : MstxArgs());
  }
  device_ = {};  // its memory is not needed while the rest is joined
  comm_args_ = {};
  LaunchFlows launches;
  launches.Append(flows_, tracks_, trace_);
  if (processes.other_owners.empty()) CheckLaunchers(trace_);
  device.Link(launches);
  device.LinkMarks(mstx_flows_);
  AppendBackwardLinks(backward_flows_, tracks_, trace_);
  CheckQueue(queue_, trace_.issues);
  AppendQueuedWork(queue_, tracks_, trace_);
  if (flows_.empty()) AppendUnanswered(runtime_flows_, tracks_, trace_);
  if (Intersects(wanted_, kRuntimeTables | Tables::kQueuedWork))
    LinkDirectCopies(device.UnlinkedCopies(), runtime_flows_, trace_);
  device.DropLostLaunches();
  mstx.Place(tracks_, trace_);
  if (with_runtime) runtime.Finish(runtime_flows_, tracks_);
  if (Intersects(wanted_, Tables::kHostCalls)) AppendCallStamps(runtime_flows_, trace_);
  SortDeviceWork(trace_);
  trace_.core_clocks.Reorder(trace_.core_clocks.RowsByStart());
  AppendCounters(counters_, metadata_, processes, trace_);
}

}  // namespace mpa::readers

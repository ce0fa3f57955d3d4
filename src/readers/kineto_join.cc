// SPDX-License-Identifier: Apache-2.0
// Puts the fragments of a Kineto trace together.
#include "kineto_join.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/printable.h"

namespace mpa::readers {

void KinetoTraceJoin::Add(const KinetoFragment& fragment) {
  const RankTrace& part = fragment.part;
  StringMapping texts(part.strings, trace_.strings);
  AppendHostOps(fragment.host, texts, tracks_, trace_);
  AppendPythonCalls(fragment.python, texts, tracks_, trace_);
  AddDeviceWork(part, texts);
  unknown_.AppendAll(fragment.unknown, texts);
  AppendAll(fragment.unknown_events, unknown_events_);
  AppendAll(fragment.unknown_is_work, unknown_is_work_);
  for (const CollectiveOperator& op : fragment.collective_operators) {
    operators_.push_back({op.place, op.end, collective_args_.Adopt(op.asked, part, texts)});
  }
  for (const NamedCall& call : fragment.named_launches) {
    trace_.named_launches.Append({.time = call.place.start,
                                  .track = tracks_.Of(call.place.pid, call.place.tid),
                                  .kernel = texts[call.kernel]});
  }
  trace_.memory_samples.AppendAll(part.memory_samples);
  trace_.lacks_addresses = trace_.lacks_addresses || part.lacks_addresses;
  if (trace_.backward_tid == -1 && fragment.first_backward_tid) {
    trace_.backward_tid = *fragment.first_backward_tid;
  }
  trace_.issues.Merge(part.issues);
  rest_.Add(fragment.rest);
}

void KinetoTraceJoin::Finish(const ReadRequest& request, std::string_view file_name,
                             const std::function<bool()>& is_job) {
  AddUnknownWork(file_name);
  if (trace_.host_ops.Empty() && rest_.work.IsEmpty() && trace_.issues.Empty()) {
    trace_.issues.Count(Promise::kFileIsWhole,
                        "the trace holds no operators and no work of the device; collect again",
                        file_name);
  }
  LinkLaunches(request, file_name);
  TakeFromOperators(std::move(operators_), tracks_, trace_);
  if (trace_.device == DeviceKind::kNpu)
    FinishNpuTrace(file_name, Intersects(request.wanted, Tables::kLaunches), trace_);
  else if (trace_.unanswered_launches.Empty() && !trace_.kernels.Empty() && is_job())
    CountLackOfCollectives(file_name, trace_);
  AppendBackwardLinks(rest_.backward_flows, tracks_, trace_);
  AppendAllocations(std::move(rest_.memory), trace_.allocations);
}

void KinetoTraceJoin::AddDeviceWork(const RankTrace& part, StringMapping& texts) {
  trace_.kernels.AppendAll(part.kernels, texts);
  for (std::size_t i = 0; i < part.communications.Size(); ++i) {
    trace_.communications.Append(collective_args_.Adopt(part.communications.At(i), part, texts));
  }
  trace_.device_tasks.AppendAll(part.device_tasks, texts);
}

void KinetoTraceJoin::AddUnknownWork(std::string_view file_name) {
  if (unknown_.Empty()) return;
  std::set<std::pair<std::int64_t, std::int64_t>> streams;
  const GpuWork& work = rest_.work;
  for (const auto* events : {&work.kernels, &work.communications, &work.tasks}) {
    for (const CorrelatedEvent& event : *events) streams.emplace(event.place.pid, event.place.tid);
  }
  for (std::size_t i = 0; i < unknown_.Size(); ++i) {
    const CorrelatedEvent& event = unknown_events_[i];
    if (!unknown_is_work_[i] && !streams.contains({event.place.pid, event.place.tid})) continue;
    Kernels::Row row = unknown_.At(i);
    trace_.issues.Count(
        Promise::kCategoriesKnown,
        "work of the device is of an unknown category, it is counted as a kernel; say which"
        " program wrote the trace",
        Say("{}: \"{}\" of \"{}\"", file_name, Printable(trace_.strings.View(row.name)),
            Printable(trace_.strings.View(row.op_type))));
    row.op_type = {};
    trace_.kernels.Append(row);
    rest_.work.kernels.push_back(event);
  }
}

void KinetoTraceJoin::LinkLaunches(const ReadRequest& request, std::string_view file_name) {
  GpuWork& work = rest_.work;
  if (trace_.device == DeviceKind::kNpu)
    rest_.flows = ArrowsFromOperators(rest_.flows, rest_.numbered);
  GpuLaunches launches(rest_.flows, rest_.calls, !request.gpu_flow_cat.empty());
  if (trace_.device == DeviceKind::kGpu)
    FindLostWork(launches, rest_.calls, work, file_name, tracks_, trace_);
  KeepOneDevice(launches, file_name, work, trace_);
  launches.Link(work.kernels, trace_.kernels.link);
  launches.Link(work.communications, trace_.communications.link);
  launches.Link(work.tasks, trace_.device_tasks.link);
  launches.Append(tracks_, trace_,
                  {&trace_.kernels.link, &trace_.communications.link, &trace_.device_tasks.link});
  // A list of the user decides alone.
  if (request.masks.communication == BuiltInMasks().communication) MoveCollectives(trace_);
}

}  // namespace mpa::readers

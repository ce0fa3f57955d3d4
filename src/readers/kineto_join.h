// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "begin_ends.h"
#include "gpu_launches.h"
#include "kineto_collectives.h"
#include "kineto_memory.h"
#include "lost_work.h"
#include "mpa/readers/reader.h"
#include "npu_kineto.h"
#include "trace_builder.h"
#include "trace_events.h"
#include "trace_pieces.h"

namespace mpa::readers {

/// The data that is joined after all pieces were read.
struct KinetoJoined {
  GpuWork work;
  std::vector<RuntimeCall> calls;
  std::vector<MemoryEvent> memory;
  std::vector<FlowPoint> flows, backward_flows;
  std::vector<NumberedOperator> numbered;  // of NPUs

  void Add(const KinetoJoined& other) {
    AppendAll(other.work.kernels, work.kernels);
    AppendAll(other.work.communications, work.communications);
    AppendAll(other.work.tasks, work.tasks);
    AppendAll(other.calls, calls);
    AppendAll(other.memory, memory);
    AppendAll(other.numbered, numbered);
    AppendAll(other.flows, flows);
    AppendAll(other.backward_flows, backward_flows);
  }
};

/// A call of the runtime and the kernel that it launches.
struct NamedCall {
  EventPlace place;
  StringId kernel{};
};

/// The contents of one piece of the file.
struct KinetoFragment {
  // strings, kernels, communications with their groups, device_tasks, memory_samples, issues,
  // lacks_addresses
  RankTrace part;
  Kernels unknown;  // spans of unknown categories, their texts are those of the part; op_type has
  std::vector<CorrelatedEvent> unknown_events;  // the category
  std::vector<bool> unknown_is_work;            // they say on which stream they were launched
  std::vector<HostEvent> host, python;
  std::vector<CollectiveOperator> collective_operators;
  std::vector<NamedCall> named_launches;
  KinetoJoined rest;
  std::optional<std::int64_t> first_backward_tid;
  BeginEnds begin_ends;
};

/// Puts the fragments of a trace together.
class KinetoTraceJoin {
 public:
  explicit KinetoTraceJoin(RankTrace& trace)
      : trace_(trace), tracks_(trace.tracks), collective_args_(trace) {}

  void Add(const KinetoFragment& fragment);
  /// `is_job`: whether ranks beside this one would take part in collectives.
  void Finish(const ReadRequest& request, std::string_view file_name,
              const std::function<bool()>& is_job);

 private:
  void AddDeviceWork(const RankTrace& part, StringMapping& texts);
  // Spans of an unknown category on a stream of the device are work of a kind that is not known.
  void AddUnknownWork(std::string_view file_name);
  void LinkLaunches(const ReadRequest& request, std::string_view file_name);

  RankTrace& trace_;
  TrackNumbers tracks_;
  CollectiveArgs collective_args_;
  std::vector<CollectiveOperator> operators_;
  KinetoJoined rest_;
  Kernels unknown_;  // see KinetoFragment
  std::vector<CorrelatedEvent> unknown_events_;
  std::vector<bool> unknown_is_work_;
};

}  // namespace mpa::readers

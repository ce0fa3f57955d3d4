// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/model/rank_trace.h"
#include "trace_builder.h"
#include "trace_fragment.h"

namespace mpa::readers {

/// Brings the fragments of a trace into the tables of the rank, in file order.
class TraceJoin {
 public:
  TraceJoin(Tables wanted, RankTrace& trace)
      : wanted_(wanted), trace_(trace), tracks_(trace.tracks) {}

  void Add(const TraceFragment& fragment);
  /// Fills the tables of the device, of the runtime and all links; must be called after all
  /// fragments were added. Device events are separated by their process, whose name may come last.
  void Finish();

 private:
  Tables wanted_;
  RankTrace& trace_;
  TrackNumbers tracks_;
  // Data that waits for the end; texts are those of the rank.
  std::vector<DeviceEvent> device_;
  std::vector<CommArgs> comm_args_;
  std::vector<RuntimeArgs> runtime_args_;
  std::vector<MstxArgs> mstx_args_;
  std::vector<Metadata> metadata_;
  std::vector<QueueEvent> queue_;
  std::vector<CounterEvent> counters_;
  std::vector<FlowPoint> flows_, backward_flows_, runtime_flows_, mstx_flows_;
};

}  // namespace mpa::readers

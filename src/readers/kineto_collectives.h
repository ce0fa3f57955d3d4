// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "gpu_launches.h"
#include "mpa/model/rank_trace.h"
#include "trace_builder.h"
#include "trace_events.h"

namespace mpa::readers {

/// What the args of a collective say of it; its texts, and the number of its group, are those of
/// one trace.
struct CollectiveFields {
  std::int32_t group = -1;  ///< row of CommGroups
  StringId kind{};          ///< "allreduce"; empty: not recorded
  StringId data_type{};     ///< see BytesOfElement()
  std::int64_t count = -1;  ///< of elements that a rank gives, of reducescatter those that it gets
};

/// Reads the args of collectives: since PyTorch 2.3 those of record_param_comms ("Process Group
/// Name", "Group size", "Collective name", "In msg nelems", "dtype"), which Kineto repeats on the
/// kernels; and "commName" of torch_npu's plug-in. Groups are added to the trace.
class CollectiveArgs {
 public:
  explicit CollectiveArgs(RankTrace& trace) : trace_(trace) {}
  CollectiveFields Read(const TraceEvent& event);
  /// Gives fields of another trace the texts and groups of this one.
  CollectiveFields Adopt(const CollectiveFields& fields, const RankTrace& from,
                         StringMapping& texts);

 private:
  std::int32_t GroupOf(const CommGroups::Row& group, const JobGroup& of_job);

  RankTrace& trace_;
  std::map<StringId, std::int32_t> rows_;  // of groups, by name
};

/// An operator record_param_comms, which asked for a collective.
struct CollectiveOperator {
  EventPlace place;
  TimeNs end = 0;
  CollectiveFields fields;
};

/// Gives the collectives whose own args say nothing what the operator says that launched them. To
/// be called when the work is linked.
void TakeFromOperators(std::vector<CollectiveOperator> operators, TrackNumbers& tracks,
                       RankTrace& trace);

}  // namespace mpa::readers

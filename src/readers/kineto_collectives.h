// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "trace_builder.h"
#include "trace_events.h"

namespace mpa::readers {

/// Reads the args of collectives: since PyTorch 2.3 those of record_param_comms ("Process Group
/// Name", "Group size", "Collective name", "In msg nelems", "dtype"), which Kineto repeats on the
/// kernels; and "commName" of torch_npu's plug-in. Groups are added to the trace.
class CollectiveArgs {
 public:
  explicit CollectiveArgs(RankTrace& trace) : trace_(trace) {}
  /// What they say: group, kind ("allreduce"; empty: not recorded), type of the elements (see
  /// BytesOfElement()), and how many a rank gives, of reducescatter how many it gets.
  Communications::Row Read(const TraceEvent& event);
  /// Gives a row of another trace the texts and the group of this one.
  Communications::Row Adopt(Communications::Row row, const RankTrace& from, StringMapping& texts);

 private:
  std::int32_t GroupOf(const CommGroups::Row& group, const JobGroup& of_job);

  RankTrace& trace_;
  std::map<StringId, std::int32_t> rows_;  // of groups, by name
};

/// An operator record_param_comms, which asked for a collective.
struct CollectiveOperator {
  EventPlace place;
  TimeNs end = 0;
  Communications::Row asked;  ///< as CollectiveArgs::Read() gives it
};

/// Gives the collectives whose own args say nothing what the operator says that launched them. To
/// be called when the work is linked.
void TakeFromOperators(std::vector<CollectiveOperator> operators, TrackNumbers& tracks,
                       RankTrace& trace);

}  // namespace mpa::readers

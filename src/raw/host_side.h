// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "graph_capture.h"
#include "host_records.h"
#include "host_tree.h"
#include "tensors.h"

namespace mpa::raw {

/// The host's records of a capture, apart from its calls; lives while the capture is read.
struct HostSide {
  HostTree tree;
  std::vector<HostTask> tasks;             ///< in order of time
  std::vector<std::int32_t> call_of_task;  ///< innermost call around each task; -1: none

  std::vector<NodeInfo> nodes;
  RecordsOfCalls nodes_of;        ///< by the innermost node range, in order of time
  NumberedRecords nodes_by_name;  ///< the same, by hash of the name
  // By the outermost node range and the hash of the name.
  std::vector<NodeAttributes> attributes;
  NumberedRecords attributes_by_name;
  std::vector<TensorRecord> tensors;
  NumberedRecords tensors_by_name;

  std::vector<ContextIds> contexts;
  NumberedRecords contexts_by_id;  ///< of nodes: by the outermost node range and each context
  RecordsOfCalls contexts_of_communication;

  GraphCapture capture;
};

/// `calls` are those of the session, complete and in order.
HostSide ReadHostSide(const HostInput& input, const HostCalls& calls, TensorSets& sets);

}  // namespace mpa::raw

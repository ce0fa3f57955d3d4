// SPDX-License-Identifier: Apache-2.0
// Assigns the records of the host to the calls in which they were written.
#include "host_side.h"

namespace mpa::raw {
namespace {

// The calls of a level around each record.
template <typename T>
std::vector<std::int32_t> CallsOf(const HostCalls& calls, const HostTree& tree,
                                  const std::vector<T>& records,
                                  const std::vector<std::int32_t>& level) {
  return AtLevel(CallsAroundRecords(calls, tree, records), level);
}

template <typename T>
NumberedRecords ByName(const std::vector<T>& records, const std::vector<std::int32_t>& calls) {
  std::vector<NumberedRecords::Entry> entries;
  entries.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    entries.push_back({calls[i], records[i].name, static_cast<std::uint32_t>(i)});
  }
  return NumberedRecords(std::move(entries));
}

void AttachContexts(const HostCalls& calls, HostSide& host) {
  const auto nodes = CallsOf(calls, host.tree, host.contexts, host.tree.outer_node);
  auto parts = CallsOf(calls, host.tree, host.contexts, host.tree.communication);
  std::vector<NumberedRecords::Entry> of_nodes;
  for (std::size_t i = 0; i < host.contexts.size(); ++i) {
    const ContextIds& contexts = host.contexts[i];
    if (contexts.level != Level::kCommunication) parts[i] = -1;
    if (contexts.level != Level::kNode) continue;
    for (const std::uint32_t id : contexts.ids) {
      of_nodes.push_back({nodes[i], id, static_cast<std::uint32_t>(i)});
    }
  }
  host.contexts_by_id = NumberedRecords(std::move(of_nodes));
  host.contexts_of_communication = RecordsOfCalls(calls.Size(), parts);
}

}  // namespace

HostSide ReadHostSide(const HostInput& input, const HostCalls& calls, TensorSets& sets) {
  HostSide host;
  host.tree = BuildHostTree(calls);
  const HostTree& tree = host.tree;
  host.tasks = ReadHostTasks(input);
  host.call_of_task = CallsAroundRecords(calls, tree, host.tasks);

  host.nodes = ReadNodeInfos(input);
  const auto calls_of_nodes = CallsOf(calls, tree, host.nodes, tree.node);
  host.nodes_of = RecordsOfCalls(calls.Size(), calls_of_nodes);
  host.nodes_by_name = ByName(host.nodes, calls_of_nodes);
  host.attributes = ReadNodeAttributes(input);
  host.attributes_by_name =
      ByName(host.attributes, CallsOf(calls, tree, host.attributes, tree.outer_node));
  host.tensors = ReadTensors(input, sets);
  host.tensors_by_name = ByName(host.tensors, CallsOf(calls, tree, host.tensors, tree.outer_node));
  if (!input.wide_task_ids) host.contexts = ReadContextIds(input);  // else there are no groups
  AttachContexts(calls, host);
  host.capture = GraphCapture(input, sets);
  return host;
}

}  // namespace mpa::raw

// SPDX-License-Identifier: Apache-2.0
// The nesting of host calls: one sweep over the calls in order, with the innermost open call of
// each thread at hand.
#include "host_side.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace mpa::raw {
namespace {

constexpr std::int32_t kNone = -1;

// The innermost open call of each thread. Consecutive questions mostly concern one thread.
class OpenCalls {
 public:
  std::int32_t& Of(std::int64_t thread) {
    if (last_ == nullptr || thread != last_thread_) {
      last_ = &tops_.try_emplace(thread, kNone).first->second;
      last_thread_ = thread;
    }
    return *last_;
  }

 private:
  std::unordered_map<std::int64_t, std::int32_t> tops_;
  std::int64_t last_thread_ = 0;
  std::int32_t* last_ = nullptr;
};

// The calls in the tree: all nodes, and of the other levels above the runtime those that begin
// after the end of the last call that was kept on their thread and level.
class Selection {
 public:
  bool Keeps(const HostCalls& calls, std::size_t row) {
    const Level level = calls.level[row];
    if (calls.start[row] == calls.End(row)) return false;
    if (level == Level::kNode) return true;
    if (level != Level::kAcl && level != Level::kModel && level != Level::kCommunication)
      return false;
    const auto [last_end, fresh] =
        last_ends_.try_emplace({calls.thread[row], level}, calls.End(row));
    if (fresh) return true;
    if (calls.start[row] <= last_end->second) return false;
    last_end->second = calls.End(row);
    return true;
  }

 private:
  std::map<std::pair<std::int64_t, Level>, TimeNs> last_ends_;
};

std::int32_t At(const std::vector<std::int32_t>& column, std::int32_t row) {
  return row < 0 ? kNone : column[static_cast<std::size_t>(row)];
}

}  // namespace

HostTree BuildHostTree(const HostCalls& calls) {
  HostTree tree;
  const std::size_t size = calls.Size();
  for (auto* column :
       {&tree.parent, &tree.node, &tree.outer_node, &tree.communication, &tree.model}) {
    column->assign(size, kNone);
  }
  tree.in_tree.assign(size, 0);
  OpenCalls open;
  Selection selection;
  for (std::size_t i = 0; i < size; ++i) {
    if (!selection.Keeps(calls, i)) continue;
    const auto row = static_cast<std::int32_t>(i);
    const Level level = calls.level[i];
    std::int32_t& top = open.Of(calls.thread[i]);
    while (top >= 0 && calls.End(static_cast<std::size_t>(top)) < calls.End(i)) {
      top = At(tree.parent, top);
    }
    tree.in_tree[i] = 1;
    tree.parent[i] = top;
    tree.node[i] = level == Level::kNode ? row : At(tree.node, top);
    tree.communication[i] = level == Level::kCommunication ? row : At(tree.communication, top);
    tree.model[i] = level == Level::kModel ? row : At(tree.model, top);
    const std::int32_t outer = At(tree.outer_node, top);
    tree.outer_node[i] = outer < 0 && level == Level::kNode ? row : outer;
    top = row;
  }
  return tree;
}

std::vector<std::int32_t> CallsAround(const HostCalls& calls, const HostTree& tree,
                                      std::span<const Moment> moments) {
  const auto order =
      RowsBy<std::uint32_t>(moments.size(), [&](std::uint32_t row) { return moments[row].time; });
  std::vector<std::int32_t> around(moments.size(), kNone);
  OpenCalls open;
  std::size_t next = 0;
  for (const std::uint32_t i : order) {
    const auto [time, thread] = moments[i];
    for (; next < calls.Size() && calls.start[next] < time; ++next) {
      if (tree.in_tree[next]) open.Of(calls.thread[next]) = static_cast<std::int32_t>(next);
    }
    std::int32_t& top = open.Of(thread);
    while (top >= 0 && calls.End(static_cast<std::size_t>(top)) < time) top = At(tree.parent, top);
    around[i] = top;
  }
  return around;
}

RecordsOfCalls::RecordsOfCalls(std::size_t calls, const std::vector<std::int32_t>& call_of)
    : starts_(calls + 1, 0) {
  for (const std::int32_t call : call_of) {
    if (call >= 0) ++starts_[static_cast<std::size_t>(call) + 1];
  }
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  records_.resize(starts_.back());
  std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
  for (std::size_t i = 0; i < call_of.size(); ++i) {
    if (call_of[i] < 0) continue;
    records_[next[static_cast<std::size_t>(call_of[i])]++] = static_cast<std::uint32_t>(i);
  }
}

NumberedRecords::NumberedRecords(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::erase_if(entries_, [](const Entry& entry) { return entry.call < 0; });
  std::ranges::stable_sort(entries_, [](const Entry& a, const Entry& b) {
    return std::tie(a.call, a.number) < std::tie(b.call, b.number);
  });
}

std::span<const NumberedRecords::Entry> NumberedRecords::Of(std::int32_t call,
                                                            std::uint64_t number) const {
  const auto [first, last] =
      std::equal_range(entries_.begin(), entries_.end(), Entry{.call = call, .number = number},
                       [](const Entry& a, const Entry& b) {
                         return std::tie(a.call, a.number) < std::tie(b.call, b.number);
                       });
  return {first, last};
}

bool NumberedRecords::HasCall(std::int32_t call) const {
  return std::ranges::binary_search(entries_, Entry{.call = call},
                                    [](const Entry& a, const Entry& b) { return a.call < b.call; });
}

std::vector<std::int32_t> AtLevel(std::vector<std::int32_t> around,
                                  const std::vector<std::int32_t>& level) {
  for (std::int32_t& call : around) call = At(level, call);
  return around;
}

// Assigns the records of the host to the calls in which they were written.

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

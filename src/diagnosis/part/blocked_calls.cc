// SPDX-License-Identifier: Apache-2.0
// What the calls that wait for the device waited for.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "mpa/base/rows_by.h"
#include "mpa/diagnosis/part/graph_draft.h"

namespace mpa {
namespace {

// What a call that waits for the device takes of its own.
constexpr TimeNs kOwnTimeOfWait = 4'000;

bool WaitsForAllStreams(std::string_view name) {
  return name.find("SynchronizeDevice") != std::string_view::npos ||
         name == "cudaDeviceSynchronize";
}

class BlockedCallJoiner {
 public:
  BlockedCallJoiner(GraphDraft& draft, const HostChain& chain, const DeviceNodes& nodes,
                    std::vector<HostStretch>& host)
      : draft_(draft),
        items_(draft.found.items),
        graph_(draft.graph),
        chain_(chain),
        nodes_(nodes),
        host_(host),
        by_launch_(draft.found.ByLaunch()) {}

  void Join() && {
    const auto start_of = [&](std::size_t i) { return draft_.StartOf(chain_.blocks[i].begin); };
    for (const std::size_t i : RowsBy(chain_.blocks.size(), start_of)) Join(chain_.blocks[i]);
    std::erase_if(host_,
                  [&](const HostStretch& stretch) { return waiting_.contains(stretch.edge); });
  }

 private:
  void Join(const HostBlock& block) {
    const BlockedCall& call = chain_.waiting[static_cast<std::size_t>(block.call)];
    const std::vector<std::size_t> waited = WaitedFor(call);
    if (waited.empty()) {
      // All of it is work of the host.
      const bool is_own = block.thread != kNoNode && graph_.edges[block.thread].on == block.begin;
      if (is_own && call.dur > 0)
        host_.push_back({block.thread, call.begin, call.begin + call.dur, call.track, call.track});
      return;
    }
    if (block.thread != kNoNode) {
      GraphEdge& thread = graph_.edges[block.thread];
      thread.weight = thread.on == block.begin ? std::min(thread.weight, kOwnTimeOfWait) : 0;
      // What it launched itself comes before: it waits from then on.
      if (thread.weight == 0) waiting_.insert(block.thread);
    }
    for (const std::size_t item : waited) {
      BlockedCall& blocked = graph_.blocked.emplace_back(call);
      blocked.edge = draft_.Wait(block.end, nodes_.end[item], WaitsFor::kEnd, 0);
      if (block.thread == kNoNode) continue;
      blocked.own_edge = block.thread;
      blocked.own = graph_.edges[block.thread].weight;
    }
  }

  // Of the work launched before the call that had ended when it ended: the last of each device
  // queue, or of all. Empty: it did not wait. Calls come in order of time.
  std::vector<std::size_t> WaitedFor(const BlockedCall& call) {
    const TimeNs call_end = call.begin + call.dur;
    const TimeNs known_until = call.is_op ? call_end : call.begin;
    for (; next_ < by_launch_.size() && items_[by_launch_[next_]].launched <= known_until; ++next_)
      last_[nodes_.device_queue[by_launch_[next_]]] = by_launch_[next_];
    std::vector<std::size_t> waited;
    std::optional<std::size_t> latest;
    for (const auto& [device_queue, item] : last_) {
      if (items_[item].work.end > draft_.OnDevice(call_end) + kDeviceTolerance) continue;
      waited.push_back(item);
      if (!latest || items_[item].work.end > items_[*latest].work.end) latest = item;
    }
    if (!latest || items_[*latest].work.end <= draft_.OnDevice(call.begin)) return {};
    if (!WaitsForAllStreams(draft_.trace.strings.View(call.name))) waited = {*latest};
    return waited;
  }

  GraphDraft& draft_;
  const std::vector<GraphItem>& items_;
  RankGraph& graph_;
  const HostChain& chain_;
  const DeviceNodes& nodes_;
  std::vector<HostStretch>& host_;
  const std::vector<std::size_t> by_launch_;
  std::size_t next_ = 0;                      // in by_launch_
  std::map<std::int64_t, std::size_t> last_;  // item that was launched last, by device queue
  std::set<std::uint32_t> waiting_;           // edges of calls that do nothing but wait
};

}  // namespace

void AddBlockedCalls(GraphDraft& draft, const HostChain& chain, const DeviceNodes& nodes,
                     std::vector<HostStretch>& host) {
  BlockedCallJoiner(draft, chain, nodes, host).Join();
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Allocations with the operators that asked for them, and the names of these for people.
#include "lives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "categories.h"
#include "mpa/measure/host_places.h"
#include "mpa/measure/module_ranges.h"
#include "mpa/model/queue_index.h"
#include "operators.h"

namespace mpa::memory_timeline {
namespace {

bool IsWithin(const OpTree& ops, std::int64_t op, StringId name) {
  while (op >= 0 && ops.trace().host_ops.name[static_cast<std::size_t>(op)] != name)
    op = ops.Parent(static_cast<std::size_t>(op));
  return op >= 0;
}

// Finds the operators that asked for allocations.
class Askers {
 public:
  explicit Askers(const OpTree& ops) : ops_(ops), queued_(ops.trace()) {
    for (const std::uint32_t op : ops.InOrder())
      of_name_[ops.trace().host_ops.name[op]].push_back(op);
  }

  bool IsOfRuntime(std::size_t row) const { return queued_.IsOfRuntime(row); }

  // What is made in queued work was asked for when the work was queued. Where the queue is not
  // recorded, the last operator of the allocation's name asked.
  void Place(Life& life) const {
    const RankTrace& trace = ops_.trace();
    const StringId name = trace.allocations.name[life.row];
    life.asked = life.begin;
    life.op = ops_.FindAnywhere(life.begin, name);
    if (IsWithin(ops_, life.op, name)) return;
    if (const auto work = queued_.Work(life.row)) {
      const QueuedWork& table = trace.queued_work;
      life.work_end = table.start[*work] + table.dur[*work];
      life.asked = table.queued[*work];
      life.op = ops_.Find(table.queued_track[*work], life.asked);
    } else if (const std::int64_t op = LastNamed(name, life.begin); op >= 0) {
      life.op = op;
      life.asked = trace.host_ops.start[static_cast<std::size_t>(op)];
    }
  }

 private:
  // The last operator of the name that begins before the time; -1: none.
  std::int64_t LastNamed(StringId name, TimeNs time) const {
    const auto found = of_name_.find(name);
    if (name == StringId::kEmpty || found == of_name_.end()) return -1;
    const auto& start = ops_.trace().host_ops.start;
    const auto behind = std::ranges::upper_bound(found->second, time, {},
                                                 [&](std::uint32_t op) { return start[op]; });
    return behind == found->second.begin() ? -1 : std::int64_t{*(behind - 1)};
  }

  const OpTree& ops_;
  QueuedAllocations queued_;
  std::unordered_map<StringId, std::vector<std::uint32_t>> of_name_;  // in order of start
};

}  // namespace

std::string_view NameOf(Category category) {
  constexpr std::array<std::string_view, kCategories> kNames = {
      "parameter", "optimizer state", "input",   "temporary",         "activation",
      "gradient",  "autograd detail", "unknown", "before the capture"};
  return kNames[static_cast<std::size_t>(category)];
}

std::vector<Life> LivesOf(const OpTree& ops) {
  const RankTrace& trace = ops.trace();
  const Allocations& rows = trace.allocations;
  const Surroundings around(ops);
  const Askers askers(ops);
  std::vector<Life> lives;
  for (std::size_t row = 0; row < rows.Size(); ++row) {
    if (rows.allocated[row] <= 0) continue;  // before the capture
    Life life{.begin = rows.allocated[row],
              .end = rows.released[row] > 0 ? rows.released[row] : kNever,
              .bytes = rows.bytes[row],
              .of_runtime = askers.IsOfRuntime(row),
              .row = row};
    if (life.end <= life.begin) continue;
    askers.Place(life);
    if (life.op >= 0) life.outer = around.outer[static_cast<std::size_t>(life.op)];
    lives.push_back(life);
  }
  std::ranges::stable_sort(lives, {}, &Life::begin);
  SetCategories(trace, around, lives);
  return lives;
}

struct HolderNames::Sites {
  explicit Sites(const RankTrace& trace) : calls(trace, {}) {
    for (const BackwardPair& pair : FindBackwardPairs(trace))
      forward_of.emplace(pair.backward, pair.forward);
  }
  CallSites calls;
  std::unordered_map<std::size_t, std::size_t> forward_of;
};

HolderNames::HolderNames(const OpTree& ops)
    : ops_(ops), sites_(std::make_unique<Sites>(ops.trace())) {}
HolderNames::~HolderNames() = default;

std::string HolderNames::SiteOf(const Life& life) const {
  const HostOps& rows = ops_.trace().host_ops;
  if (life.op < 0 || !sites_->calls.Known()) return "";
  const std::int32_t track = rows.track[static_cast<std::size_t>(life.op)];
  std::string site = sites_->calls.At({life.asked, life.asked, track});
  for (std::int64_t op = life.op; site.empty() && op >= 0;
       op = ops_.Parent(static_cast<std::size_t>(op))) {
    const auto pair = sites_->forward_of.find(static_cast<std::size_t>(op));
    if (pair == sites_->forward_of.end()) continue;
    const TimeNs start = rows.start[pair->second];
    site = sites_->calls.At({start, start, rows.track[pair->second]});
  }
  return site;
}

Holder HolderNames::Of(const Life& life) const {
  const RankTrace& trace = ops_.trace();
  const auto name_of = [&](std::int64_t op) {
    return trace.strings.View(trace.host_ops.name[static_cast<std::size_t>(op)]);
  };
  Holder holder{.site = SiteOf(life), .category = life.category};
  holder.op = trace.strings.View(trace.allocations.name[life.row]);
  constexpr std::string_view kRuntime = "cann::", kNode = "autograd::engine::evaluate_function: ";
  // Exporters drop the prefix.
  if (life.of_runtime && holder.op.find(kRuntime) == std::string::npos)
    holder.op.insert(0, kRuntime);
  std::int64_t op = life.op;
  while (op >= 0 && IsRuntimeCall(name_of(op))) op = ops_.Parent(static_cast<std::size_t>(op));
  if (holder.op.empty() && op >= 0) holder.op = name_of(op);
  std::string_view within = life.outer >= 0 ? name_of(life.outer) : std::string_view();
  if (within.starts_with(kNode)) within.remove_prefix(kNode.size());
  holder.within = within;
  return holder;
}

}  // namespace mpa::memory_timeline

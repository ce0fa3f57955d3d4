// SPDX-License-Identifier: Apache-2.0
// What the hosts of all ranks do that holds up their devices. What single ranks do more than the
// others is a matter of these ranks (rank_causes.cc), so that nothing is taken out twice.
#include <algorithm>
#include <array>
#include <set>

#include "cause.h"

namespace mpa {
namespace {

struct HostCauseOf {
  std::string_view id;
  std::vector<Leaf> leaves, blocks;
  bool of_any_rank = false;  ///< rare, and on few ranks by nature: all of it is one cause
};

const std::vector<HostCauseOf>& HostCauseList() {
  static const std::vector<HostCauseOf> causes = {
      {"host.dataloader", {Leaf::kDataLoader}, {}},
      {"host.h2d", {Leaf::kHostCopy}, {Leaf::kHostCopy}},
      {"host.sync", {Leaf::kScalarSync, Leaf::kExplicitSync}, {Leaf::kScalarSync, Leaf::kExplicitSync}},
      {"host.compile", {Leaf::kCompile}, {}},
      {"host.aclop", {Leaf::kAclOp}, {}},
      {"host.gc", {Leaf::kGarbage}, {}, true},
      {"host.memory", {Leaf::kMemory}, {Leaf::kMemory}},
      {"host.checkpoint", {Leaf::kCheckpoint}, {Leaf::kCheckpoint}, true},
  };
  return causes;
}

// The last calls of a step read its results: loops read the loss and the norm of the gradients.
class UsualCalls {
 public:
  UsualCalls(const RankDiagnosis& part, std::size_t steps, double usual) : usual_(Whole(usual)), starts_(steps) {
    for (const BlockedPart& call : part.blocked) {
      if (call.step >= 0 && static_cast<std::size_t>(call.step) < steps) starts_[static_cast<std::size_t>(call.step)].push_back(call.start);
    }
    // A call that waits for several streams is there once for each.
    for (auto& starts : starts_) {
      std::sort(starts.begin(), starts.end());
      starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    }
  }
  bool Holds(const BlockedPart& call) const {
    const std::vector<TimeNs>& starts = starts_[static_cast<std::size_t>(call.step)];
    return starts.end() - std::upper_bound(starts.begin(), starts.end(), call.start) < usual_;
  }

 private:
  const std::int64_t usual_;
  std::vector<std::vector<TimeNs>> starts_;  // by step
};

class HostCauses {
 public:
  HostCauses(const Job& job, std::vector<Cause>& causes) : job_(job), causes_(causes) {}

  void Find() {
    for (const HostCauseOf& of : HostCauseList()) Add(of);
    AddStalledLaunches();
    AddLaunchBound();
  }

 private:
  void Add(const HostCauseOf& of) {
    Cause cause = NewCause(job_, of.id);
    Removal& removal = cause.what_if.expect;
    std::set<std::int64_t> ranks;
    std::set<std::int32_t> steps;
    TimeNs time = 0;
    std::int64_t calls = 0;
    const auto usual = job_.UsualHost(of.leaves, of.blocks);
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      std::vector<double> share(job_.steps, 1);
      std::vector<bool> cut(job_.steps, true);
      const bool compares = !of.of_any_rank && job_.RoleOf(rank).size() > 1;
      for (std::size_t step = 0; compares && step < job_.steps; ++step) {
        const HostAmount& normal = usual.at(job_.role[rank])[step];
        const TimeNs own = job_.work[rank][step].HostOf(of.leaves, {}).time;
        share[step] = own > 0 ? static_cast<double>(std::min(own, normal.time)) / static_cast<double>(own) : 0;
        cut[step] = normal.blocks > 0;
      }
      const RankDiagnosis& part = job_.Part(rank);
      for (const HostShare& row : part.shares) {
        const std::int32_t step = job_.StepOfEdge(rank, row.edge);
        if (step < 0 || !IsOf(of.leaves, row.leaf)) continue;
        const auto less = static_cast<TimeNs>(share[static_cast<std::size_t>(step)] * static_cast<double>(row.time));
        if (less <= 0) continue;
        removal.waits.push_back({job_.graph.first_edge[rank] + row.edge, less});
        Note(rank, step, ranks, steps);
        if (static_cast<std::size_t>(step) >= job_.first_step) time += less;
      }
      const bool blocks_launches = BlocksLaunches(job_, rank);
      const UsualCalls usual_calls(part, job_.steps, job_.rules.usual_syncs);
      for (const BlockedPart& row : part.blocked) {
        if (row.step < 0 || static_cast<std::size_t>(row.step) >= job_.steps || !IsOf(of.blocks, row.leaf)) continue;
        if (!cut[static_cast<std::size_t>(row.step)]) continue;
        if (of.id == "host.sync" && (usual_calls.Holds(row) || (blocks_launches && row.behind_launch))) continue;
        removal.cuts.push_back(job_.graph.first_edge[rank] + row.edge);
        Note(rank, row.step, ranks, steps);
        if (static_cast<std::size_t>(row.step) >= job_.first_step) ++calls;
      }
      if (of.id == "host.sync") RemoveReads(rank, share, removal);
    }
    if (of.id == "host.h2d") RemoveCopies(usual, removal);
    if (of.id == "host.checkpoint") RemoveSavedCopies(removal);
    if (removal.waits.empty() && removal.cuts.empty() && removal.durations.empty()) return;
    const auto count = static_cast<TimeNs>(job_.ranks.size());
    if (calls > 0) cause.finding.metrics.push_back({"calls_per_step", static_cast<double>(calls) / static_cast<double>(job_.CountedSteps() * job_.ranks.size()), "count"});
    if (time > 0) cause.finding.metrics.push_back({"time_per_step", static_cast<double>(PerStep(job_, time) / count), "ns"});
    if (ranks.size() < job_.ranks.size() || of.of_any_rank) cause.finding.ranks.assign(ranks.begin(), ranks.end());
    cause.finding.steps.assign(steps.begin(), steps.end());
    if (of.id == "host.dataloader" && PerStep(job_, time) / count < Whole(job_.rules.loader_ns)) {
      cause.finding.kind = FindingKind::kOpportunity;
      cause.what_if.opportunity = true;
    }
    AddPlaces(of.leaves, cause);
    causes_.push_back(std::move(cause));
  }

  // Copies that do not block run beside what is computed. What a rank copies more than its peers is not
  // common to all.
  void RemoveCopies(const std::map<std::int32_t, std::vector<HostAmount>>& usual, Removal& removal) const {
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const bool compares = job_.RoleOf(rank).size() > 1;
      const auto& nodes = job_.Part(rank).graph.nodes;
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].leaf != Leaf::kCopyIn || nodes[i].step < 0 || static_cast<std::size_t>(nodes[i].step) >= job_.steps) continue;
        const auto step = static_cast<std::size_t>(nodes[i].step);
        const TimeNs own = job_.work[rank][step].copied_in;
        const TimeNs normal = compares ? std::min(own, usual.at(job_.role[rank])[step].copies) : own;
        if (own <= 0 || normal <= 0) continue;
        const auto less = static_cast<TimeNs>(static_cast<double>(nodes[i].dur) * static_cast<double>(normal) / static_cast<double>(own));
        removal.durations.push_back({job_.graph.first_node[rank] + i, less});
      }
    }
  }

  // The copies of the numbers that are read, of steps in which others read them as well. The last
  // ones of a step are usual.
  void RemoveReads(std::size_t rank, const std::vector<double>& share, Removal& removal) const {
    const auto& nodes = job_.Part(rank).graph.nodes;
    std::vector<std::vector<std::uint32_t>> reads(job_.steps);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      const auto step = static_cast<std::size_t>(nodes[i].step);
      if (nodes[i].leaf != Leaf::kCopyOut || nodes[i].dur >= Whole(job_.rules.checkpoint_copy_ns) || nodes[i].step < 0 || step >= job_.steps) continue;
      if (share[step] > 0 && job_.work[rank][step].HostOf({Leaf::kScalarSync}, {}).time > 0) reads[step].push_back(i);
    }
    for (auto& of_step : reads) {
      std::stable_sort(of_step.begin(), of_step.end(), [&](std::uint32_t a, std::uint32_t b) { return nodes[a].start < nodes[b].start; });
      const auto usual = static_cast<std::size_t>(Whole(job_.rules.usual_syncs));
      for (std::size_t i = 0; i + usual < of_step.size(); ++i) removal.durations.push_back({job_.graph.first_node[rank] + of_step[i], nodes[of_step[i]].dur});
    }
  }

  // What a checkpoint copies from the device; other copies to the host are single numbers.
  void RemoveSavedCopies(Removal& removal) const {
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const auto& nodes = job_.Part(rank).graph.nodes;
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        const GraphNode& node = nodes[i];
        if (node.leaf != Leaf::kCopyOut || node.dur < Whole(job_.rules.checkpoint_copy_ns) || node.step < 0 || static_cast<std::size_t>(node.step) >= job_.steps) continue;
        if (job_.work[rank][static_cast<std::size_t>(node.step)].HostOf({Leaf::kCheckpoint}, {}).time == 0) continue;
        removal.durations.push_back({job_.graph.first_node[rank] + i, node.dur});
      }
    }
  }

  void Note(std::size_t rank, std::int32_t step, std::set<std::int64_t>& ranks, std::set<std::int32_t>& steps) const {
    if (static_cast<std::size_t>(step) < job_.first_step) return;
    ranks.insert(job_.ranks[rank].rank);
    const auto& of_rank = job_.Part(rank).steps;
    if (static_cast<std::size_t>(step) < of_rank.size()) steps.insert(of_rank[static_cast<std::size_t>(step)].id);
  }

  // The places of the first rank that has any.
  void AddPlaces(const std::vector<Leaf>& leaves, Cause& cause) const {
    for (const DiagnosedRank& rank : job_.ranks) {
      for (const HostPlace& place : rank.part->places) {
        if (!IsOf(leaves, place.leaf)) continue;
        cause.finding.evidence.push_back({rank.rank, rank.part->capture, "host", rank.part->names[place.name], -1, place.start, place.longest});
      }
      if (!cause.finding.evidence.empty()) return;
    }
  }

  // Without calls of the runtime, the reason for a stall is unknown. That single operators and
  // launches take many times as long as the others is a fault all the same, unless its peers show
  // that the rank is late.
  void AddStalledLaunches() {
    Cause cause = NewCause(job_, "host.launch_bound", "stalls");
    cause.finding.kind = FindingKind::kFault;
    cause.what_if.opportunity = false;
    std::vector<Stalls> stalls;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      if (job_.Part(rank).has_calls) return;
      stalls.push_back(StallsOf(rank));
    }
    double time = 0, calls = 0;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const double common = CommonShare(rank, stalls);
      for (const Removal::Edge& stall : stalls[rank].waits) {
        const TimeNs less = ShareOf(stall.less, common);
        if (less > 0) cause.what_if.expect.waits.push_back({stall.edge, less});
      }
      time += common * static_cast<double>(stalls[rank].time);
      calls += common * static_cast<double>(stalls[rank].calls);
    }
    if (cause.what_if.expect.waits.empty()) return;
    const double steps = static_cast<double>(job_.CountedSteps() * job_.ranks.size());
    cause.finding.metrics.push_back({"calls_per_step", calls / steps, "count"});
    cause.finding.metrics.push_back({"time_per_step", time / steps, "ns"});
    causes_.push_back(std::move(cause));
  }

  // What stalls of a rank take more than their like does, in all and in the counted steps.
  struct Stalls {
    std::vector<Removal::Edge> waits;
    TimeNs time = 0;
    std::int64_t calls = 0;
  };

  Stalls StallsOf(std::size_t rank) const {
    Stalls stalls;
    for (const Leaf leaf : {Leaf::kDispatchOp, Leaf::kDispatchCann}) {
      const TimeNs usual = UsualStretch(rank, leaf);
      if (usual == 0) continue;
      for (const HostShare& row : job_.Part(rank).shares) {
        if (row.leaf != leaf || static_cast<double>(row.time) < job_.rules.stall_ratio * static_cast<double>(usual)) continue;
        stalls.waits.push_back({job_.graph.first_edge[rank] + row.edge, row.time - usual});
        if (job_.StepOfEdge(rank, row.edge) < static_cast<std::int32_t>(job_.first_step)) continue;
        stalls.time += row.time - usual;
        ++stalls.calls;
      }
    }
    return stalls;
  }

  // The part of the stalls of a rank that its peers have as well.
  double CommonShare(std::size_t rank, const std::vector<Stalls>& stalls) const {
    const std::vector<std::size_t>& peers = job_.RoleOf(rank);
    const TimeNs own = stalls[rank].time;
    if (static_cast<double>(peers.size()) < job_.rules.late_peers || own == 0) return 1;
    std::vector<TimeNs> times;
    for (const std::size_t peer : peers) times.push_back(stalls[peer].time);
    return static_cast<double>(std::min(own, Normal(std::move(times)))) / static_cast<double>(own);
  }

  // What a stretch of the host takes between two moments of its thread, by the median.
  TimeNs UsualStretch(std::size_t rank, Leaf leaf) const {
    std::vector<TimeNs> times;
    for (const HostShare& row : job_.Part(rank).shares) {
      if (row.leaf == leaf) times.push_back(row.time);
    }
    if (times.empty()) return 0;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

  // All hosts would have to launch faster.
  void AddLaunchBound() {
    static const std::vector<Leaf> leaves = {Leaf::kDispatchOp, Leaf::kDispatchCann, Leaf::kDispatchComm};
    Cause cause = NewCause(job_, "host.launch_bound");
    TimeNs time = 0, kernel_time = 0;
    std::int64_t kernels = 0;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      for (const HostShare& row : job_.Part(rank).shares) {
        if (!IsOf(leaves, row.leaf)) continue;
        const std::uint32_t edge = job_.graph.first_edge[rank] + row.edge;
        cause.what_if.expect.waits.push_back({edge, ShareOf(row.time, job_.rules.launch_gain)});
        cause.what_if.bound.waits.push_back({edge, row.time});
        time += row.time;
      }
      for (const auto& step : job_.work[rank]) {
        kernel_time += step.compute;
        for (const auto& [type, sum] : step.kernels) kernels += sum.count;
      }
    }
    if (kernels == 0 || time == 0) return;
    cause.finding.metrics.push_back({"time_per_launch", static_cast<double>(time) / static_cast<double>(kernels), "ns"});
    cause.finding.metrics.push_back({"mean_kernel", static_cast<double>(kernel_time) / static_cast<double>(kernels), "ns"});
    causes_.push_back(std::move(cause));
  }

  const Job& job_;
  std::vector<Cause>& causes_;
};

}  // namespace

void FindHostCauses(const Job& job, std::vector<Cause>& causes) { HostCauses(job, causes).Find(); }

}  // namespace mpa

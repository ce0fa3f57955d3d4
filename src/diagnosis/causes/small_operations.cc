// SPDX-License-Identifier: Apache-2.0
#include "small_operations.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/causes/variables.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/measure/kernel_class.h"

namespace mpa {
namespace {

// Kernels of a rank on the clock of the job.
Intervals ComputedBy(const Job& job, RankIndex rank) {
  std::vector<Interval> rows;
  for (const GraphNode& node : job.Part(rank).graph.nodes) {
    if (node.kind != NodeKind::kKernel) continue;
    const TimeNs start = job.operations.clock[rank].Convert(node.start);
    rows.push_back({start, start + node.dur});
  }
  return Union(std::move(rows));
}

}  // namespace

Exposure::Exposure(const Job& job)
    : exposed_(job.operations.all.size(), 0), between_kernels_(job.operations.all.size(), false) {
  std::vector<Intervals> computes;
  for (RankIndex rank; rank < job.ranks.size(); ++rank) computes.push_back(ComputedBy(job, rank));
  for (std::size_t i = 0; i < exposed_.size(); ++i) Measure(job, i, computes);
}

void Exposure::Measure(const Job& job, std::size_t operation,
                       const std::vector<Intervals>& computes) {
  const auto& members = job.operations.all[operation].joint.members;
  const ReplayGraph& graph = job.graph.graph;
  const TimeNs beside = Whole(job.thresholds[kBesideNs]);
  TimeNs sum = 0;
  std::size_t between = 0;
  for (const auto& member : members) {
    const RankCollective& row = job.Part(member.rank).graph.collectives[member.collective];
    const TimeNs arrive = graph.Start(job.graph.first_node[member.rank] + row.arrive);
    const TimeNs end = graph.Start(job.graph.first_node[member.rank] + row.leave);
    const TimeNs begin = std::min(end, std::max(arrive, graph.Start(job.graph.joints[operation])));
    const Intervals& computed = computes[member.rank];
    auto next = std::ranges::partition_point(
        computed, [&](const Interval& piece) { return piece.end <= arrive; });
    const bool is_preceded = next != computed.begin() && arrive - std::prev(next)->end <= beside;
    TimeNs exposed = end - begin, alone = end - arrive;
    for (; next != computed.end() && next->begin < end; ++next) {
      exposed -= std::max<TimeNs>(0, std::min(end, next->end) - std::max(begin, next->begin));
      alone -= std::min(end, next->end) - std::max(arrive, next->begin);
    }
    const bool is_followed = next != computed.end() && next->begin - end <= beside;
    sum += std::max<TimeNs>(0, exposed);
    const bool is_alone = static_cast<double>(alone) >=
                          job.thresholds[kAloneShare] * static_cast<double>(end - arrive);
    between += is_preceded && is_followed && is_alone ? 1 : 0;
  }
  if (members.empty()) return;
  exposed_[operation] = sum / static_cast<TimeNs>(members.size());
  between_kernels_[operation] = 2 * between > members.size();
}

bool Exposure::OnTheWay(const std::vector<std::size_t>& operations) const {
  const auto between =
      std::ranges::count_if(operations, [&](std::size_t i) { return between_kernels_[i]; });
  return 2 * static_cast<std::size_t>(between) > operations.size();
}

namespace {

bool TakesTurns(const RankDiagnosis& part) {
  const OperationPart* last = nullptr;  // of those that began, the one that ends last
  for (const OperationPart& operation : part.operations) {
    if (last != nullptr && operation.start < last->start + last->dur &&
        operation.group != last->group)
      return false;
    if (last == nullptr || operation.start + operation.dur > last->start + last->dur)
      last = &operation;
  }
  return true;
}

// The vector cores serve one group at a time, and sums in no fixed order.
bool FitsVectorCores(const Job& job) {
  const Variable& fixed_order = *VariableNamed("HCCL_DETERMINISTIC");
  return std::ranges::all_of(job.ranks, [&](const DiagnosedRank& rank) {
    const RankDiagnosis& part = *rank.part;
    return part.source != kGpuSource && !IsPoor(fixed_order, part.settings) &&
           ValueIn(part.settings, "HCCL_OP_EXPANSION_MODE") != "AIV" && TakesTurns(part);
  });
}

}  // namespace

bool Infers(const Job& job) {
  bool infers = false;
  for (const DiagnosedRank& rank : job.ranks) {
    const RankDiagnosis& part = *rank.part;
    if (std::ranges::any_of(part.graph.nodes, &GraphNode::in_optimizer)) return false;
    infers = infers || std::ranges::any_of(part.kinds, [&](const KernelKind& kind) {
               return IsInference(part.names[kind.type]);
             });
  }
  return infers;
}

TimeNs LeastOfMembers(const Job& job, std::size_t operation, TimeNs OperationPart::*time) {
  TimeNs least = -1;
  for (const auto& member : job.operations.all[operation].joint.members) {
    const TimeNs of_member = job.PartOf(member).*time;
    least = least < 0 ? of_member : std::min(least, of_member);
  }
  return std::max<TimeNs>(0, least);
}

TimeNs OwnTimeOf(const Job& job, std::size_t operation) {
  return std::max<TimeNs>(
      0, PostOf(job, operation) - LeastOfMembers(job, operation, &OperationPart::held_up));
}

bool IsSmallOperation(const Job& job, std::size_t operation, const LinkSpeeds::Data& data) {
  return data.bytes > 0 && static_cast<double>(data.bytes) <= job.thresholds[kSmallBytes] &&
         static_cast<double>(OwnTimeOf(job, operation)) >=
             job.thresholds[kSmallLatencyRatio] * static_cast<double>(data.time);
}

bool CrossesPort(const Job& job, std::size_t operation) {
  const auto& members = job.operations.all[operation].joint.members;
  return std::ranges::any_of(members, [&](const JointOperation::Member& member) {
    return job.PartOf(member).port_bytes > 0;
  });
}

double CallsPerStep(const Job& job, const std::vector<std::size_t>& operations) {
  std::set<std::size_t> ranks;
  double calls = 0;
  for (const std::size_t i : operations) {
    for (const auto& member : job.operations.all[i].joint.members) {
      ranks.insert(member.rank);
      ++calls;
    }
  }
  return ranks.empty()
             ? 0
             : calls / static_cast<double>(ranks.size() * std::max<std::size_t>(1, job.steps));
}

void FindSmallOnTheWay(const Job& job, const LinkSpeeds& speeds, const Exposure& exposure,
                       std::vector<Finding>& candidates) {
  if (!Infers(job) || !FitsVectorCores(job)) return;
  std::map<std::string, std::vector<std::size_t>> by_group;
  for (std::size_t i = 0; i < job.operations.all.size(); ++i) {
    if (IsReduction(job.operations.all[i])) by_group[job.operations.all[i].group].push_back(i);
  }
  for (const auto& [group, operations] : by_group) {
    if (group != "tp" && !exposure.OnTheWay(operations)) continue;
    Finding candidate = NewFinding(job, kCommSmall, group);
    candidate.confidence =
        Certainty::kLow;  // how much sooner they start depends on the chip and on CANN
    candidate.variant = &kCommSmallOnTheWay;
    std::vector<std::size_t> small;
    double bytes = 0;
    for (const std::size_t i : operations) {
      const LinkSpeeds::Data data = speeds.DataOf(i);
      if (!IsSmallOperation(job, i, data) || CrossesPort(job, i)) continue;
      small.push_back(i);
      bytes += static_cast<double>(data.bytes);
      const TimeNs latency = OwnTimeOf(job, i) - data.time;
      ShortenOperation(job, i, ShareOf(latency, job.thresholds[kSmallVectorGain]),
                       candidate.what_if.expect);
      ShortenOperation(job, i, latency, candidate.what_if.bound);
    }
    const double calls = CallsPerStep(job, small), count = static_cast<double>(small.size());
    if (small.empty() || calls < job.thresholds[kSmallCalls] ||
        count < job.thresholds[kSmallCountShare] * static_cast<double>(operations.size()))
      continue;
    candidate.Measure(kCallsPerStep, calls);
    candidate.Measure(kMeanSize, bytes / count);
    candidates.push_back(std::move(candidate));
  }
}

const FindingVariant kCommSmallOnTheWay{
    .advice = {{Setting("HCCL_OP_EXPANSION_MODE=AIV (the vector cores start them sooner)",
                        "HCCL_OP_EXPANSION_MODE", "AIV")},
               {CompareNccl()}}};

KernelsOfSteps::KernelsOfSteps(const RankDiagnosis& part) : of_step_(part.steps.size()) {
  for (const GraphNode& node : part.graph.nodes) {
    const auto step = static_cast<std::size_t>(node.step);
    if (node.kind == NodeKind::kKernel && step < of_step_.size()) of_step_[step].push_back(&node);
  }
  for (auto& kernels : of_step_) {
    StableSort(kernels, {}, &GraphNode::start);
  }
}

std::span<const GraphNode* const> KernelsOfSteps::Of(std::int32_t step) const {
  const auto at = static_cast<std::size_t>(step);
  return at < of_step_.size() ? std::span<const GraphNode* const>(of_step_[at])
                              : std::span<const GraphNode* const>();
}

GradientCurve::GradientCurve(const RankDiagnosis& part, std::span<const GraphNode* const> step,
                             double bytes, std::int64_t passes, TimeNs until)
    : slack_(bytes / 100) {
  const auto behind = std::ranges::partition_point(
      step, [&](const GraphNode* node) { return node->start < until; });
  const std::span<const GraphNode* const> kernels(step.begin(), behind);
  const auto adding =
      std::ranges::count_if(kernels, [](const GraphNode* node) { return node->adds_gradients; });
  // The first pass of a step need not add anything; then all that was added is more than one pass.
  auto left =
      static_cast<std::size_t>(passes > 0 && adding % passes == 0 ? adding / passes : adding);
  TimeNs lead = 0;
  double sum = 0;
  for (auto at = kernels.rbegin(); at != kernels.rend() && left > 0; ++at) {
    const GraphNode* node = *at;
    if (node->adds_gradients) {
      const auto size = static_cast<double>(part.KindOf(*node).written);
      if (sum + size > bytes + slack_) break;
      made_.push_back({size, lead});
      sum += size;
      --left;
    }
    lead += node->dur;
  }
  if (2 * sum < bytes) made_.clear();
  std::ranges::reverse(made_);
  for (std::size_t i = 1; i < made_.size(); ++i) made_[i].bytes += made_[i - 1].bytes;
}

TimeNs GradientCurve::LeadOf(double bytes) const {
  const auto found = std::ranges::partition_point(
      made_, [&](const Made& made) { return made.bytes + slack_ < bytes; });
  return found == made_.end() ? 0 : found->lead;
}

}  // namespace mpa

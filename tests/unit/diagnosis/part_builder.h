// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/diagnosis/part/part.h"

namespace mpa {

inline constexpr TimeNs kUs = 1'000, kMs = 1'000'000;
inline constexpr std::int64_t kMb = 1'000'000;

/// The edge is on another node.
inline void LetWaitFor(std::uint32_t on, GraphEdge& edge) {
  edge = {edge.node, on, edge.from, edge.weight};
}

/// Builds a rank by hand. Its host works for a while, then kernels and collectives of one stream
/// follow each other without a gap. A new step begins where the one before ends.
class PartBuilder {
 public:
  PartBuilder() {
    part_.names = {""};
    part_.chip = "Ascend910B";
  }

  PartBuilder& Step() {
    EndStep();
    StepPart& step = part_.steps.emplace_back();
    step.id = static_cast<std::int32_t>(part_.steps.size()) + 9;
    step.begin = now_;
    step.categories.assign(kTimeCategories, 0);
    // The host of a step goes on when the device has done the one before.
    const std::uint32_t host = Node(now_, 0, NodeKind::kHost);
    if (last_ != kNone) part_.graph.edges.push_back({host, last_, WaitsFor::kEnd, 0});
    last_ = host;
    return *this;
  }

  /// The host works before the next kernel can start.
  PartBuilder& Host(TimeCategory category, TimeNs time, bool in_optimizer = false) {
    const std::uint32_t before = last_;
    now_ += time;
    last_ = Node(now_, 0, NodeKind::kHost);
    part_.shares.push_back({static_cast<std::uint32_t>(part_.graph.edges.size()), category,
                            in_optimizer, false, time});
    part_.graph.edges.push_back({last_, before, WaitsFor::kEnd, time});
    return *this;
  }

  PartBuilder& Kernel(std::string_view type, TimeNs dur,
                      TimeCategory category = TimeCategory::kMatmul, bool in_optimizer = false) {
    const std::uint32_t before = last_;
    last_ = Node(now_, dur, NodeKind::kKernel);
    part_.graph.nodes.back().row = KindOf(type);
    part_.graph.nodes.back().category = category;
    part_.graph.nodes.back().in_optimizer = in_optimizer;
    part_.graph.edges.push_back({last_, before, WaitsFor::kEnd, 0});
    part_.steps.back().categories[static_cast<std::size_t>(category)] += dur;
    now_ += dur;
    return *this;
  }

  /// Nothing happens, and nothing says why.
  PartBuilder& Gap(TimeNs time) {
    now_ += time;
    return *this;
  }

  /// The step is one of a server.
  PartBuilder& Serves(const ServingBatch& batch, std::int64_t graphs = 0) {
    part_.steps.back().batch = batch;
    part_.steps.back().graphs = graphs;
    return *this;
  }

  /// The last kernel belongs to that launch of a graph.
  PartBuilder& InGraph(std::int32_t graph) {
    part_.graph.nodes[last_].graph = graph;
    return *this;
  }

  PartBuilder& Collective(std::string_view name, TimeNs dur, std::string_view kind = "allreduce",
                          std::string_view group = "g") {
    const std::uint32_t arrive = Node(now_, 0, NodeKind::kArrive);
    part_.graph.edges.push_back({arrive, last_, WaitsFor::kEnd, 0});
    last_ = Node(now_ + dur, 0, NodeKind::kLeave);
    part_.graph.collectives.push_back(
        {arrive, last_, static_cast<std::int32_t>(part_.operations.size())});
    OperationPart& row = part_.operations.emplace_back();
    row.group = NameOf(group);
    row.name = NameOf(name);
    row.kind = NameOf(kind);
    row.step = StepNumber();
    row.start = now_;
    row.dur = dur;
    part_.steps.back().categories[static_cast<std::size_t>(TimeCategory::kTransfer)] += dur;
    now_ += dur;
    return *this;
  }

  /// The last collective moves data to a peer of its group, in one piece.
  PartBuilder& Transfer(std::int64_t peer, std::int64_t bytes, TimeNs time,
                        std::string_view transport = "SDMA") {
    part_.transfers.push_back({.operation = static_cast<std::uint32_t>(part_.operations.size() - 1),
                               .peer = static_cast<std::int32_t>(peer),
                               .transport = NameOf(transport),
                               .all = {1, bytes, time}});
    return *this;
  }

  /// The kind of the kernels of a type, to say more of it.
  KernelKind& Kind(std::string_view type) {
    return part_.kinds[static_cast<std::size_t>(KindOf(type))];
  }
  NameId NameOf(std::string_view text) {
    for (NameId i = 0; i < part_.names.size(); ++i) {
      if (part_.names[i] == text) return i;
    }
    part_.names.emplace_back(text);
    return static_cast<NameId>(part_.names.size() - 1);
  }
  std::uint32_t Last() const { return last_; }
  TimeNs Now() const { return now_; }
  RankDiagnosis& Part() { return part_; }

  RankDiagnosis Build() {
    EndStep();
    SumUp(part_);
    return part_;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  std::int32_t StepNumber() const { return static_cast<std::int32_t>(part_.steps.size()) - 1; }
  std::uint32_t Node(TimeNs start, TimeNs dur, NodeKind kind) {
    part_.graph.nodes.push_back({.start = start, .dur = dur, .kind = kind, .step = StepNumber()});
    return static_cast<std::uint32_t>(part_.graph.nodes.size() - 1);
  }
  std::int32_t KindOf(std::string_view type) {
    const NameId name = NameOf(type);
    for (std::size_t i = 0; i < part_.kinds.size(); ++i) {
      if (part_.kinds[i].type == name) return static_cast<std::int32_t>(i);
    }
    part_.kinds.push_back({.type = name, .shapes = NameOf("64,64")});
    return static_cast<std::int32_t>(part_.kinds.size() - 1);
  }
  void EndStep() {
    if (part_.steps.size() == part_.graph.last.size()) return;
    part_.steps.back().end = now_;
    part_.graph.last.push_back({last_});
  }

  RankDiagnosis part_;
  std::uint32_t last_ = kNone;
  TimeNs now_ = 1'000'000'000;
};

/// Three equal steps.
template <typename Fill>
RankDiagnosis ThreeSteps(Fill fill) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) fill(builder.Step());
  return builder.Build();
}

/// Four ranks that meet at the end of each of eight steps. `extra` tells what a rank's host takes
/// more.
template <typename Extra>
std::vector<RankDiagnosis> EightSteps(TimeCategory category, Extra extra) {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (std::size_t step = 0; step < 8; ++step) {
      const TimeNs more = extra(rank, step);
      TimeNs last = 0;
      for (std::size_t other = 0; other < 4; ++other) last = std::max(last, extra(other, step));
      builder.Step().Host(category, mpa::kMs + more).Kernel("MatMulV3", 4 * mpa::kMs);
      builder.Collective("hcom_allReduce__1_" + std::to_string(step), mpa::kMs + last - more);
    }
    parts.push_back(builder.Build());
  }
  return parts;
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/job/job.h"

namespace mpa {

/// Rows of a part by the edge of its graph that they lie on.
template <typename Row>
class RowsByEdge {
 public:
  explicit RowsByEdge(const std::vector<Row>& rows) {
    for (std::uint32_t i = 0; i < rows.size(); ++i) rows_.emplace_back(rows[i].edge, i);
    std::ranges::sort(rows_);
  }
  template <typename Visit>
  void ForEach(std::uint32_t edge, Visit visit) const {
    auto at = std::lower_bound(rows_.begin(), rows_.end(), std::pair{edge, std::uint32_t{0}});
    for (; at != rows_.end() && at->first == edge; ++at) visit(at->second);
  }

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rows_;
};

/// What stands behind the edges of the job's graph.
class GraphIndex {
 public:
  struct OfRank {
    explicit OfRank(const RankDiagnosis& part)
        : shares(part.shares),
          blocked(part.blocked),
          gaps(part.gaps),
          waits(part.scheduler.waits),
          functions(part.functions.times),
          places(part.places) {}
    RowsByEdge<HostShare> shares;
    RowsByEdge<BlockedPart> blocked;
    RowsByEdge<SilentGap> gaps;
    RowsByEdge<ThreadWait> waits;
    RowsByEdge<CountedTime> functions;
    HostPlaces::Reader places;
  };
  struct OfOperation {
    std::size_t operation = 0, member = 0;
    bool is_late = false;  // the edge waits for late members
  };

  explicit GraphIndex(const Job& job) : job_(job), ranks_(job.ranks.size()) {
    for (std::size_t i = 0; i < job.graph.categories.size(); ++i) {
      for (std::size_t member = 0; member < job.graph.categories[i].size(); ++member)
        operations_[job.graph.categories[i][member]] = {i, member, false};
      for (const ReplayGraph::Edge edge : job.graph.late[i]) operations_[edge] = {i, 0, true};
    }
  }

  /// Of a node of the rank itself.
  std::size_t RankOf(ReplayGraph::Node node) const {
    const auto& first = job_.graph.first_node;
    return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), node) -
                                    first.begin()) -
           1;
  }
  const OfOperation* OperationAt(ReplayGraph::Edge edge) const {
    const auto found = operations_.find(edge);
    return found == operations_.end() ? nullptr : &found->second;
  }
  /// The rank whose graph has the edge, and its number there; empty: it is of the job.
  std::optional<std::pair<std::size_t, std::uint32_t>> RankAt(ReplayGraph::Edge edge) const {
    const auto& first = job_.graph.first_edge;
    const auto next = std::upper_bound(first.begin(), first.end(), edge);
    if (next == first.begin()) return std::nullopt;
    const auto rank = static_cast<std::size_t>(next - first.begin()) - 1;
    const std::uint32_t local = edge - first[rank];
    if (local >= job_.Part(rank).graph.edges.size()) return std::nullopt;
    return std::pair{rank, local};
  }
  OfRank& Of(RankIndex rank) {
    if (!ranks_[rank]) ranks_[rank].emplace(job_.Part(rank));
    return *ranks_[rank];
  }

 private:
  const Job& job_;
  std::vector<std::optional<OfRank>> ranks_;
  std::unordered_map<ReplayGraph::Edge, OfOperation> operations_;
};

}  // namespace mpa

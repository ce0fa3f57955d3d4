// SPDX-License-Identifier: Apache-2.0
#include "role_pace.h"

#include "mpa/measure/quantiles.h"

namespace mpa {

RolePace::RolePace(const Job& job) : job_(job) {
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) Sum(rank);
  for (const auto& [kind, means] : means_) {
    if (roles_.at(kind).size() > 1) normal_[kind] = Normal(means);
  }
}

double RolePace::Of(const std::vector<std::size_t>& ranks, const std::string& type) const {
  std::vector<double> paces;
  for (const std::size_t rank : ranks) paces.push_back(OfRank(rank, type));
  return ValueOfRank(paces, NearestRankAbove(paces.size(), 25));
}

void RolePace::Sum(std::size_t rank) {
  const RankDiagnosis& part = job_.Part(rank);
  auto& sums = sums_.emplace_back();
  for (const GraphNode& node : part.graph.nodes) {
    if (node.kind != NodeKind::kKernel || node.step < static_cast<std::int32_t>(job_.first_step))
      continue;
    const KernelKind& kind = part.kinds[static_cast<std::size_t>(node.row)];
    if (kind.bytes <= 0) continue;  // without shapes nothing says that two are equal
    KernelSum& sum = sums[part.names[kind.type]][Kind{
        job_.operations.island[rank], part.names[kind.type], part.names[kind.shapes]}];
    ++sum.count;
    sum.time += node.dur;
  }
  for (const auto& [type, kinds] : sums) {
    for (const auto& [kind, sum] : kinds) {
      means_[kind].push_back(sum.time / sum.count);
      roles_[kind].insert(job_.role[rank]);
    }
  }
}

double RolePace::OfRank(std::size_t rank, const std::string& type) const {
  const auto found = sums_[rank].find(type);
  if (found == sums_[rank].end()) return 1;
  TimeNs all = 0, own = 0, normal = 0;
  for (const auto& [kind, sum] : found->second) {
    all += sum.time;
    const auto usual = normal_.find(kind);
    if (usual == normal_.end()) continue;
    own += sum.time;
    normal += usual->second * sum.count;
  }
  return normal > 0 && 2 * own > all ? static_cast<double>(own) / static_cast<double>(normal) : 1;
}

}  // namespace mpa

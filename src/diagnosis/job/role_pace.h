// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "mpa/diagnosis/job/job.h"

namespace mpa {

/// Kernels of equal shapes take equally long in every stage of a pipeline. So a node can be slow
/// although it has all ranks of a stage: by role and type of kernels, how many times as long as
/// those of the other roles they take. Counted steps only.
class RolePace {
 public:
  explicit RolePace(const Job& job);

  /// Of the ranks of a role; 1 where too few of their kernels have their like in another role.
  double Of(const std::vector<std::size_t>& ranks, const std::string& type) const;

 private:
  using Kind = std::tuple<std::size_t, std::string, std::string>;  // island, type, shapes

  void Sum(std::size_t rank);
  double OfRank(std::size_t rank, const std::string& type) const;

  const Job& job_;
  std::vector<std::map<std::string, std::map<Kind, KernelSum>>> sums_;  // by rank and type
  std::map<Kind, std::vector<TimeNs>> means_;                           // of the ranks
  std::map<Kind, std::set<std::int32_t>> roles_;
  std::map<Kind, TimeNs> normal_;  // of kinds that several roles have
};

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/measure/leaf.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// Tells the leaf of kernels by their names, types and cores. Refers to the rank, which must
/// outlive it.
class ComputeLeaves {
 public:
  explicit ComputeLeaves(const RankTrace& trace);
  /// Of a row of the kernels.
  Leaf Of(std::size_t kernel) const;
  /// Of work that is only known by its name.
  static Leaf OfName(std::string_view name);

 private:
  const RankTrace& trace_;
  /// By name and by type; kUnknown where they tell nothing.
  std::vector<Leaf> of_name_, of_type_;
};

}  // namespace mpa

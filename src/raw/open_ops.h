// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/raw/framework_tables.h"

namespace mpa::raw {

/// Finds the open operator around an operator. The requested times must never decrease: an operator
/// that has ended stays ended, so chains of ended operators are walked only once.
class OpenOps {
 public:
  explicit OpenOps(const TorchOps& ops) : end_(ops.end), up_(ops.parent) {}

  /// `row` itself or the nearest operator around it that ends at `time` or later; -1: none.
  std::int32_t Around(std::int32_t row, TimeNs time);

 private:
  const std::vector<TimeNs>& end_;
  std::vector<std::int32_t> up_;  // towards the first that may be open
};

}  // namespace mpa::raw

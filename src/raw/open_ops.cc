// SPDX-License-Identifier: Apache-2.0
// Finds the operator around an operator that is open at a time.
#include "open_ops.h"

namespace mpa::raw {

std::int32_t OpenOps::Around(std::int32_t row, TimeNs time) {
  std::int32_t open = row;
  while (open >= 0 && end_[open] < time) open = up_[open];
  while (row >= 0 && row != open) {
    const std::int32_t next = up_[row];
    up_[row] = open;
    row = next;
  }
  return open;
}

}  // namespace mpa::raw

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mpa/raw/framework_tables.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// Finds the open operator around an operator. The requested times must never decrease: an operator
/// that has ended stays ended, so chains of ended operators are walked only once.
class OpenOps {
 public:
  explicit OpenOps(const TorchOps& ops) : ops_(ops), up_(ops.parent) {}

  /// `row` itself or the nearest operator around it that ends at `time` or later; -1: none.
  std::int32_t Around(std::int32_t row, TimeNs time);

 private:
  const TorchOps& ops_;
  std::vector<std::int32_t> up_;  // towards the first that may be open
};

/// Finds the operator that made an allocation of the framework.
class AllocationNames {
 public:
  /// `session` must outlive it.
  explicit AllocationNames(const Session& session);

  /// The name of the operator for row `event` of Session.allocations; empty: unknown. Rows must be
  /// requested in order.
  StringId Of(std::size_t event);

 private:
  using Rows = std::vector<std::int32_t>;  ///< of one thread, in order of start
  using ByThread = std::unordered_map<std::int64_t, Rows>;

  std::int32_t LastOpBefore(std::int64_t thread, TimeNs time) const;
  StringId OfQueuedWork(std::int32_t dequeue) const;
  StringId NameOf(std::int32_t op) const;

  const Session& session_;
  OpenOps open_;
  ByThread ops_, dequeues_;
  Rows library_op_;  ///< for each operator itself or the nearest around it named aten* or npu*
};

}  // namespace mpa::raw

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mpa/raw/session.h"
#include "open_ops.h"

namespace mpa::raw {

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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// Finds the piece of queued work that was executing at a time. Refers to the table, which must
/// outlive it and must not change. Rows are those of the table.
class QueueIndex {
 public:
  explicit QueueIndex(const QueuedWork& work);

  /// On the thread `track`.
  std::optional<std::size_t> Find(std::int32_t track, TimeNs time) const;
  /// On any thread; if there are several, the one that began last.
  std::optional<std::size_t> FindAnywhere(TimeNs time) const;

 private:
  const QueuedWork& work_;
  std::map<std::int32_t, std::vector<std::size_t>> rows_of_track_;  // each in order of start
};

/// Separates allocations that operators made themselves from those made later, in queued work.
/// Refers to the rank, which must outlive it and must not change.
class QueuedAllocations {
 public:
  explicit QueuedAllocations(const RankTrace& trace);

  /// True for an allocation of the runtime: it is named "cann::...", or after a kernel (no operator
  /// has its name, and it has no namespace).
  bool IsOfRuntime(std::size_t allocation) const;
  /// True for one that was made while queued work was being done.
  bool IsQueued(std::size_t allocation) const;
  /// The piece of queued work that was executing at that time.
  std::optional<std::size_t> Work(std::size_t allocation) const;

 private:
  const RankTrace& trace_;
  QueueIndex queue_;
  std::vector<bool> is_op_name_;
};

}  // namespace mpa

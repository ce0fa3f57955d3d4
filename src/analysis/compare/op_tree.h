// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// Something the device did because an operator asked for it: a row of one of three tables.
struct DeviceWork {
  enum class Table : std::uint8_t { kKernels, kDeviceTasks, kCommunications };
  Table table{};
  std::uint32_t row = 0;
  /// Of a device task, the row in the kernels that says more of it; -1: none.
  std::int64_t kernel = -1;
  TimeNs start = 0, dur = 0;
};

/// "<name>, <task id>, <task type>, [input shapes: <shapes>] [duration: <us>]" of NPU work, name
/// and duration of GPU work.
std::string DescribeWork(const RankTrace& trace, const DeviceWork& work);
std::string_view NameOf(const RankTrace& trace, const DeviceWork& work);

/// The operators of a rank as trees, one thread beside the other: an operator that begins while
/// another of its thread runs is a child of it. Operators are named by their row in the host
/// operators. Work of the device belongs to the innermost operator that ran where and when it was
/// launched.
class OpTree {
 public:
  /// Refers to the rank, which must outlive it.
  explicit OpTree(const RankTrace& trace);

  const RankTrace& trace() const { return trace_; }
  /// All operators in order of their starts.
  const std::vector<std::uint32_t>& InOrder() const { return in_order_; }
  /// The outermost operators in order of their starts, where a ProfilerStep#n is replaced by its
  /// children.
  const std::vector<std::uint32_t>& Top() const { return top_; }
  std::span<const std::uint32_t> Children(std::size_t op) const {
    return Part(children_, child_begin_, op);
  }
  bool IsStep(std::size_t op) const;

  /// Device work that the operator itself launched, in order of its start.
  std::span<const DeviceWork> Work(std::size_t op) const { return Part(work_, work_begin_, op); }
  /// How much of it there is with that of all operators within.
  std::size_t WorkCount(std::size_t op) const { return work_count_[op]; }
  /// Calls visit(op) for the operator and all within it, breadth first.
  template <typename Visit>
  void VisitWithin(std::size_t op, Visit visit) const {
    std::vector<std::uint32_t> queue = {static_cast<std::uint32_t>(op)};
    for (std::size_t at = 0; at < queue.size(); ++at) {
      visit(queue[at]);
      const auto children = Children(queue[at]);
      queue.insert(queue.end(), children.begin(), children.end());
    }
  }
  /// Calls visit(work) for the device work of the operator and all within it, breadth first.
  template <typename Visit>
  void VisitWork(std::size_t op, Visit visit) const {
    if (work_count_[op] == 0) return;
    VisitWithin(op, [&](std::size_t inner) {
      for (const DeviceWork& work : Work(inner)) visit(work);
    });
  }

  /// The innermost operator that runs on the track at `time`, -1 when none does. An operator runs
  /// from its first to its last nanosecond, both included.
  std::int64_t Find(std::int32_t track, TimeNs time) const;
  /// The innermost operator that runs at `time`, of all threads the one that started last; one
  /// named `preferred` goes before the others.
  std::int64_t FindAnywhere(TimeNs time, StringId preferred) const;

 private:
  template <typename T>
  static std::span<const T> Part(const std::vector<T>& all, const std::vector<std::uint32_t>& begin,
                                 std::size_t op) {
    return {all.data() + begin[op], begin[op + 1] - begin[op]};
  }
  void Nest();
  void CollectChildren();
  void CollectWork();

  const RankTrace& trace_;
  std::vector<std::vector<std::uint32_t>> of_track_;  // each in order of start
  std::vector<std::int64_t> parent_;
  std::vector<std::uint32_t> in_order_, top_, children_, child_begin_;
  std::vector<DeviceWork> work_;
  std::vector<std::uint32_t> work_begin_;
  std::vector<std::size_t> work_count_;
};

}  // namespace mpa

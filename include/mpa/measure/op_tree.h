// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/measure/device_work.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// True for calls of a GPU's runtime and driver, which traces list among the operators:
/// "cudaLaunchKernel", "cuLaunchKernelEx", "hipLaunchKernel".
bool IsRuntimeCall(std::string_view name);

/// The operators of a rank as trees, each thread for itself: an operator that begins before another
/// of its thread ends is a child of it. Operators are named by their row in the host
/// operators. Work of the device belongs to the innermost operator that ran where and when it was
/// launched.
class OpTree {
 public:
  /// Refers to the rank, which must outlive it.
  explicit OpTree(const RankTrace& trace);

  const RankTrace& trace() const { return trace_; }
  /// All operators in order of their starts.
  const std::vector<std::uint32_t>& InOrder() const { return nesting_.InOrder(); }
  /// The outermost operators in order of their starts, where a ProfilerStep#n is replaced by its
  /// children.
  const std::vector<std::uint32_t>& Top() const { return top_; }
  std::span<const std::uint32_t> Children(std::size_t op) const { return nesting_.Children(op); }
  /// The operator around it; -1: none.
  std::int64_t Parent(std::size_t op) const { return nesting_.Parent(op); }
  bool IsStep(std::size_t op) const;

  /// All device work whose launch is known, as FindDeviceWork() gives it, but schedule kernels: the
  /// collectives that they arrange stand for them.
  const std::vector<LaunchedWork>& Launched() const { return launched_; }
  /// Device work that the operator itself launched, in order of its start.
  std::span<const DeviceWork> Work(std::size_t op) const {
    return {work_.data() + work_begin_[op], work_begin_[op + 1] - work_begin_[op]};
  }
  /// How much of it there is with that of all operators within.
  std::size_t WorkCount(std::size_t op) const { return work_count_[op]; }
  /// Calls visit(op) for the operator and all within it, breadth first.
  template <typename Visit>
  void VisitWithin(std::size_t op, Visit visit) const {
    if (Children(op).empty()) return visit(op);  // most have none, and need no queue
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

  /// The innermost operator that runs on the thread at `time`, as Nesting::Find(); -1 when none
  /// does.
  std::int64_t Find(std::int32_t track, TimeNs time) const { return nesting_.Find(track, time); }
  /// The innermost operator that runs at `time`, of all threads the one that started last; one
  /// named `preferred` goes before the others.
  std::int64_t FindAnywhere(TimeNs time, StringId preferred) const;

 private:
  void CollectWork();

  const RankTrace& trace_;
  Nesting nesting_;
  std::vector<std::uint32_t> top_;
  std::vector<LaunchedWork> launched_;
  std::vector<DeviceWork> work_;
  std::vector<std::uint32_t> work_begin_;
  std::vector<std::uint32_t> work_count_;
};

/// An operator with what it launched itself: compute kernels, then collectives, then kernels that
/// arrange collectives, each in order of start. Copies are left out.
struct OpWork {
  std::uint32_t op = 0;  ///< row of the host operators
  std::vector<DeviceWork> kernels;
};

struct AllOpWork {
  std::vector<OpWork> ops;             ///< those that launched something, in the order of `kernels`
  std::vector<DeviceWork> without_op;  ///< no operator is known to have launched them
};

/// The work of FindDeviceWork() by operator; of a GPU, by the operator that called the runtime.
AllOpWork FindOpWork(const RankTrace& trace);

/// The kernel's name; of a collective its type ("hcom_allReduce_"), for its name occurs once.
std::string KernelNameOf(const RankTrace& trace, const DeviceWork& work);

}  // namespace mpa

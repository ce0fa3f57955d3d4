// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/op_tree.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "mpa/model/step_bounds.h"

namespace mpa {

// cudaMalloc, cuLaunchKernel, hipMalloc, but not cumsum.
bool IsRuntimeCall(std::string_view name) {
  return name.starts_with("cuda") || name.starts_with("hip") ||
         (name.starts_with("cu") && name.size() > 2 && name[2] >= 'A' && name[2] <= 'Z');
}

OpTree::OpTree(const RankTrace& trace)
    : trace_(trace),
      nesting_(OpSpans(trace)),
      launched_(FindDeviceWork(trace, nesting_).launched) {
  std::erase_if(launched_, [](const LaunchedWork& launched) {
    return launched.work.schedule != DeviceWork::kNone;
  });
  for (const std::uint32_t op : InOrder()) {
    const std::int64_t parent = nesting_.Parent(op);
    const bool outermost = parent < 0;
    const bool in_step = !outermost && nesting_.Parent(static_cast<std::size_t>(parent)) < 0 &&
                         IsStep(static_cast<std::size_t>(parent));
    if ((outermost && !IsStep(op)) || in_step) top_.push_back(op);
  }
  CollectWork();
}

bool OpTree::IsStep(std::size_t op) const {
  return IsStepMark(trace_.strings.View(trace_.host_ops.name[op]));
}

void OpTree::CollectWork() {
  const std::size_t ops = trace_.host_ops.Size();
  work_begin_.assign(ops + 1, 0);
  work_count_.assign(ops, 0);
  for (const LaunchedWork& launched : launched_) {
    if (launched.op == Nesting::kNone) continue;
    const auto op = static_cast<std::size_t>(launched.op);
    ++work_begin_[op + 1];
    ++work_count_[op];
  }
  std::partial_sum(work_begin_.begin(), work_begin_.end(), work_begin_.begin());
  work_.resize(work_begin_.back());
  std::vector<std::uint32_t> next(work_begin_.begin(), std::prev(work_begin_.end()));
  for (const LaunchedWork& launched : launched_) {
    if (launched.op == Nesting::kNone) continue;
    work_[next[static_cast<std::size_t>(launched.op)]++] = launched.work;
  }
  const auto earlier = [](const DeviceWork& a, const DeviceWork& b) { return a.start < b.start; };
  for (std::size_t op = 0; op < ops; ++op) {
    const auto begin = work_.begin() + work_begin_[op];
    const auto end = work_.begin() + work_begin_[op + 1];
    if (!std::is_sorted(begin, end, earlier)) std::stable_sort(begin, end, earlier);
  }
  for (auto op = InOrder().rbegin(); op != InOrder().rend(); ++op) {
    const std::int64_t parent = nesting_.Parent(*op);
    if (parent >= 0) work_count_[static_cast<std::size_t>(parent)] += work_count_[*op];
  }
}

std::int64_t OpTree::FindAnywhere(TimeNs time, StringId preferred) const {
  const HostOps& ops = trace_.host_ops;
  const auto rank = [&](std::int64_t op) {
    const auto row = static_cast<std::size_t>(op);
    return std::pair{ops.name[row] == preferred && preferred != StringId::kEmpty, ops.start[row]};
  };
  std::int64_t best = Nesting::kNone;
  for (std::int32_t track = -1; track < nesting_.Tracks(); ++track) {
    const std::int64_t op = Find(track, time);
    if (op != Nesting::kNone && (best == Nesting::kNone || rank(op) > rank(best))) best = op;
  }
  return best;
}

namespace {

bool IsCopyOnly(const DeviceWork& work) {
  return work.task != DeviceWork::kNone && work.kernel == DeviceWork::kNone &&
         work.collective == DeviceWork::kNone;
}

// Compute kernels before collectives before those that arrange them.
auto ListPlace(const DeviceWork& work) {
  const int kind = work.schedule != DeviceWork::kNone     ? 2
                   : work.collective != DeviceWork::kNone ? 1
                                                          : 0;
  const std::int32_t row =
      std::array{work.kernel, work.collective, work.schedule}[static_cast<std::size_t>(kind)];
  return std::tuple{kind, work.start, row};
}

}  // namespace

namespace {

// Traces of GPUs list the calls of the runtime among the operators. Who asked for the work is the
// operator that makes the call, not a range or step around it.
std::int64_t AskingOp(const RankTrace& trace, const Nesting& ops, std::int64_t op) {
  const auto name = [&](std::int64_t one) {
    return trace.strings.View(trace.host_ops.name[static_cast<std::size_t>(one)]);
  };
  std::int64_t asking = op;
  while (asking != Nesting::kNone && IsRuntimeCall(name(asking)))
    asking = ops.Parent(static_cast<std::size_t>(asking));
  return asking != Nesting::kNone && name(asking).find("::") != std::string_view::npos ? asking
                                                                                       : op;
}

}  // namespace

AllOpWork FindOpWork(const RankTrace& trace) {
  const Nesting ops(OpSpans(trace));
  WorkOfRank found = FindDeviceWork(trace, ops);
  if (trace.device == DeviceKind::kGpu) {
    for (LaunchedWork& launched : found.launched) {
      if (launched.op != Nesting::kNone) launched.op = AskingOp(trace, ops, launched.op);
    }
  }
  AllOpWork all{.ops = {}, .without_op = std::move(found.unlaunched)};
  std::vector<LaunchedWork>& launched = found.launched;
  std::erase_if(launched, [](const LaunchedWork& work) { return IsCopyOnly(work.work); });
  std::ranges::sort(launched, [](const LaunchedWork& a, const LaunchedWork& b) {
    return ListPlace(a.work) < ListPlace(b.work);
  });
  std::vector<std::int64_t> place_of_op(trace.host_ops.Size(), -1);
  for (const auto& [work, track, time, op] : launched) {
    if (op == Nesting::kNone) {
      all.without_op.push_back(work);
      continue;
    }
    std::int64_t& place = place_of_op[static_cast<std::size_t>(op)];
    if (place < 0) {
      place = static_cast<std::int64_t>(all.ops.size());
      all.ops.push_back({static_cast<std::uint32_t>(op), {}});
    }
    all.ops[static_cast<std::size_t>(place)].kernels.push_back(work);
  }
  return all;
}

std::string KernelNameOf(const RankTrace& trace, const DeviceWork& work) {
  if (work.collective == DeviceWork::kNone) return std::string(NameOf(trace, work));
  const auto row = static_cast<std::size_t>(work.collective);
  std::string_view type = trace.strings.View(trace.communications.op_type[row]);
  // Text captures know the name only: "hcom_allReduce__868_0_1".
  if (const std::size_t end = type.find("__"); end != std::string_view::npos) {
    type = type.substr(0, end + 1);
  }
  return std::string(type);
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/op_work.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

namespace mpa {
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

AllOpWork FindOpWork(const RankTrace& trace) {
  WorkOfRank found = FindDeviceWork(trace, Nesting(SpansOf(trace.host_ops)));
  AllOpWork all{.ops = {}, .without_op = std::move(found.unlaunched)};
  std::vector<LaunchedWork>& launched = found.launched;
  std::erase_if(launched, [](const LaunchedWork& work) { return IsCopyOnly(work.work); });
  std::sort(launched.begin(), launched.end(), [](const LaunchedWork& a, const LaunchedWork& b) {
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

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include "mpa/base/text.h"
#include "mpa/raw/summaries.h"

namespace mpa::raw {
namespace {

struct Sum {
  KernelSum sum;
  bool whole = true;  // no duration has a fraction of a ns
};

void Add(double dur, Sum& to) {
  KernelSum& sum = to.sum;
  sum.shortest = sum.count == 0 ? dur : std::min(sum.shortest, dur);
  sum.longest = std::max(sum.longest, dur);
  sum.total += dur;
  to.whole = to.whole && dur == std::floor(dur);
  ++sum.count;
}

}  // namespace

std::vector<KernelSum> SumKernels(const Session& session) {
  const Kernels& kernels = session.kernels;
  std::map<std::tuple<std::int64_t, StringId, StringId>, Sum> sums;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const auto task = static_cast<std::size_t>(kernels.task[i]);
    Add(session.tasks.dur[task],
        sums[{session.tasks.device[task], kernels.op_type[i], kernels.core[i]}]);
  }
  const auto text = [&](StringId id) { return session.strings.View(id); };
  std::vector<KernelSum> listed;
  for (auto& [key, found] : sums) {
    KernelSum& sum = found.sum;
    std::tie(sum.device, sum.op_type, sum.core) = key;
    const double average = sum.total / static_cast<double>(sum.count);
    sum.average = found.whole ? std::floor(average) : average;
    const bool is_piece =
        IsOneOf(text(sum.core), {"WRITE_BACK", "INVALID", "HCCL_AI_CPU", "COMMUNICATION"});
    if (text(sum.op_type) != "N/A" && !is_piece) listed.push_back(sum);
  }
  std::sort(listed.begin(), listed.end(), [&](const KernelSum& a, const KernelSum& b) {
    return std::tuple(a.device, -a.total, text(a.op_type), text(a.core)) <
           std::tuple(b.device, -b.total, text(b.op_type), text(b.core));
  });
  return listed;
}

}  // namespace mpa::raw

// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/causes/compared_tasks.h"

#include <algorithm>

namespace mpa {
namespace {

TaskSum Less(const PeerTransfer& transfer, const TaskSum& part) {
  return {transfer.count - part.count, transfer.bytes - part.bytes, transfer.time - part.time};
}

}  // namespace

double MeanSize(const TaskSum& sum) {
  return sum.count == 0 ? 0 : static_cast<double>(sum.bytes) / static_cast<double>(sum.count);
}

bool ComparedTasks::AreSlower(double ratio, const Rules& rules) const {
  const double size = MeanSize(with), own = with.Bandwidth();
  const auto fewest = static_cast<double>(std::min(with.count, without.count));
  if (fewest < rules.compared_tasks || size < rules.link_least_bytes ||
      MeanSize(without) > rules.alike_sizes * size)
    return false;
  return own > 0 && own < ratio * without.Bandwidth();
}

std::map<std::string, ComparedTasks> CompareTasks(const std::vector<DiagnosedRank>& ranks,
                                                  TaskSum PeerTransfer::*part) {
  std::map<std::string, ComparedTasks> by_transport;
  for (const DiagnosedRank& rank : ranks) {
    for (const PeerTransfer& transfer : rank.part->transfers) {
      ComparedTasks& tasks = by_transport[rank.part->names[transfer.transport]];
      Add(transfer.*part, tasks.with);
      Add(Less(transfer, transfer.*part), tasks.without);
    }
  }
  return by_transport;
}

}  // namespace mpa

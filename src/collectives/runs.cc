// SPDX-License-Identifier: Apache-2.0
#include "mpa/collectives/runs.h"

#include <unordered_map>

#include "mpa/measure/collectives.h"

namespace mpa {
namespace {

// Numbers texts in the order in which they are first seen.
class TextNumbers {
 public:
  explicit TextNumbers(std::vector<std::string>& texts) : texts_(texts) {}

  std::uint32_t Of(std::string_view text) {
    const auto next = static_cast<std::uint32_t>(texts_.size());
    const auto [found, is_new] = numbers_.try_emplace(std::string(text), next);
    if (is_new) texts_.emplace_back(text);
    return found->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// NCCL exchanges data of all ranks by sends and receives at once.
bool IsExchange(const RankTrace& trace, std::size_t operation) {
  return trace.device == DeviceKind::kGpu && CollectiveKindOf(trace, operation) == kExchangeKind;
}

// A kernel is named by its function, without the parameters.
std::string_view NameOf(const RankTrace& trace, std::size_t operation) {
  const std::string_view name = trace.strings.View(trace.communications.name[operation]);
  return trace.device == DeviceKind::kGpu ? name.substr(0, name.find('(')) : name;
}

RankRuns RunsOfTrace(const RankTrace& trace, bool only_collectives) {
  const Communications& ops = trace.communications;
  const bool is_gpu = trace.device == DeviceKind::kGpu;
  RankRuns part;
  TextNumbers numbers(part.texts);
  for (const std::size_t i : ops.RowsByStart()) {
    const bool p2p = IsPointToPoint(trace, i) && !IsExchange(trace, i);
    if (only_collectives && (p2p || (ops.group[i] < 0 && !is_gpu))) continue;
    std::string_view group_name;
    std::int32_t group_ranks = 0;
    if (ops.group[i] >= 0) {
      const auto group = static_cast<std::size_t>(ops.group[i]);
      group_name = BareGroupName(trace.strings.View(trace.comm_groups.name[group]));
      group_ranks = trace.comm_groups.ranks[group];
    }
    part.rows.push_back({.group = numbers.Of(group_name),
                         .name = numbers.Of(NameOf(trace, i)),
                         .type = numbers.Of(OperatorTypeOf(trace, i)),
                         .data_type = numbers.Of(trace.strings.View(ops.data_type[i])),
                         .start = ops.start[i],
                         .dur = ops.dur[i],
                         .count = ops.count[i],
                         .operation = static_cast<std::int32_t>(i),
                         .step = -1,
                         .group_ranks = group_ranks,
                         .p2p = p2p});
  }
  return part;
}

}  // namespace

RankRuns CommunicationRuns(const RankTrace& trace) { return RunsOfTrace(trace, false); }

RankRuns CollectiveRuns(const RankTrace& trace) { return RunsOfTrace(trace, true); }

}  // namespace mpa

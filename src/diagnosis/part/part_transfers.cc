// SPDX-License-Identifier: Apache-2.0
// The tasks that collectives are made of, as far as they move data.
#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>

#include "mpa/measure/intervals.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/quantiles.h"
#include "mpa/measure/transfer_times.h"
#include "mpa/model/collective_tasks.h"
#include "part_facts.h"

namespace mpa {
namespace {

// Of fewer tasks none is usual. What is made of those that are kept is a matter of the rules.
constexpr std::size_t kMinOfClass = 5;

Intervals CubeWork(const RankTrace& trace, const RankGraph& graph) {
  std::vector<Interval> work;
  for (const GraphNode& node : graph.nodes) {
    const bool cube =
        node.category == TimeCategory::kMatmul || node.category == TimeCategory::kGroupedMatmul ||
        node.category == TimeCategory::kConvolution || node.category == TimeCategory::kAttention;
    if (node.kind == NodeKind::kKernel && cube) work.push_back({node.start, node.start + node.dur});
  }
  return trace.comm_tasks.Empty() ? Intervals{} : Union(std::move(work));
}

class TransferFinder {
 public:
  TransferFinder(const RankTrace& trace,
                 const std::unordered_map<std::int32_t, std::uint32_t>& number, PartNames& names,
                 RankDiagnosis& part)
      : trace_(trace),
        tasks_(trace.comm_tasks),
        operations_(OperationsOfTasks(trace)),
        number_(number),
        names_(names),
        part_(part),
        times_(OwnTransferTimes(trace, operations_)) {}

  void Find() {
    SumPorts();
    SumFirstCopies();
    const Intervals cube = CubeWork(trace_, part_.graph);
    std::map<std::tuple<std::uint32_t, std::int32_t, StringId>, PeerTransfer> sums;
    for (std::size_t i = 0; i < tasks_.Size(); ++i) {
      const std::optional<std::uint32_t> operation = OperationWithPeer(i);
      if (!operation) continue;
      OperationPart& part = part_.operations[*operation];
      if (part.own < 0 && tasks_.own_rank[i] >= 0) {
        part.own = tasks_.own_rank[i];
        part.peer = tasks_.peer[i];
      }
      if (!MovesData(trace_, i)) continue;
      PeerTransfer& sum = sums[{*operation, tasks_.peer[i], tasks_.transport[i]}];
      sum.operation = *operation;
      sum.peer = tasks_.peer[i];
      sum.transport = names_.Of(View(tasks_.transport[i]));
      const Traffic traffic{1, tasks_.bytes[i], times_[i]};
      sum.all.Add(traffic);
      if (IsOddSize(traffic.bytes)) sum.odd.Add(traffic);
      if (2 * LengthWithin(cube, {tasks_.start[i], EndOf(i)}) > tasks_.dur[i])
        sum.beside.Add(traffic);
      by_class_[{tasks_.transport[i], std::bit_width(static_cast<std::uint64_t>(tasks_.bytes[i]))}]
          .push_back(i);
    }
    for (const auto& [key, sum] : sums) part_.transfers.push_back(sum);
    FindLong();
  }

 private:
  std::string_view View(StringId text) const { return trace_.strings.View(text); }
  TimeNs EndOf(std::size_t task) const { return tasks_.start[task] + tasks_.dur[task]; }

  // Of a task that has to do with another rank, which is empty for all others.
  std::optional<std::uint32_t> OperationWithPeer(std::size_t task) const {
    const auto operation = number_.find(static_cast<std::int32_t>(operations_[task]));
    if (operation == number_.end() || !HasPeer(trace_, task)) return std::nullopt;
    return operation->second;
  }

  void SumPorts() {
    for (std::size_t i = 0; i < tasks_.Size(); ++i) {
      const std::optional<std::uint32_t> operation = OperationWithPeer(i);
      if (!operation || View(tasks_.transport[i]) != kPortTransport || !MovesData(trace_, i))
        continue;
      part_.operations[*operation].port_bytes += tasks_.bytes[i];
      part_.operations[*operation].port_time += times_[i];
    }
  }

  // Copies within the rank until the first task of the operation that has to do with another one.
  void SumFirstCopies() {
    std::map<std::uint32_t, TimeNs> first;  // by operation
    std::map<std::uint32_t, std::vector<Interval>> copies;
    for (std::size_t i = 0; i < tasks_.Size(); ++i) {
      const auto operation = number_.find(static_cast<std::int32_t>(operations_[i]));
      if (operation == number_.end()) continue;
      if (HasPeer(trace_, i)) {
        const auto [found, is_new] = first.try_emplace(operation->second, tasks_.start[i]);
        found->second = std::min(found->second, tasks_.start[i]);
      } else if (View(tasks_.name[i]) == "Memcpy") {
        copies[operation->second].push_back({tasks_.start[i], EndOf(i)});
      }
    }
    for (auto& [operation, spans] : copies) {
      const auto others = first.find(operation);
      if (others == first.end()) continue;
      const TimeNs begin = std::ranges::min_element(spans, {}, &Interval::begin)->begin;
      if (begin >= others->second) continue;
      part_.operations[operation].copied =
          LengthWithin(Union(std::move(spans)), {begin, others->second});
    }
  }

  void FindLong() {
    for (const auto& [of, rows] : by_class_) {
      if (rows.size() < kMinOfClass) continue;
      std::vector<TimeNs> durations;
      for (const std::size_t row : rows) durations.push_back(times_[row]);
      const TimeNs usual = Median(std::move(durations));
      for (const std::size_t row : rows) {
        if (usual <= 0 || times_[row] < kLongTaskRatio * usual) continue;
        part_.long_tasks.push_back({number_.at(static_cast<std::int32_t>(operations_[row])),
                                    tasks_.peer[row], names_.Of(View(tasks_.transport[row])),
                                    names_.Of(View(tasks_.name[row])), EndOf(row) - times_[row],
                                    times_[row], usual});
      }
    }
  }

  const RankTrace& trace_;
  const CommTasks& tasks_;
  const std::vector<std::int64_t> operations_;
  const std::unordered_map<std::int32_t, std::uint32_t>& number_;
  PartNames& names_;
  RankDiagnosis& part_;
  const std::vector<TimeNs> times_;  // by task: what it takes itself
  std::map<std::pair<StringId, int>, std::vector<std::size_t>>
      by_class_;  // rows by transport and power of two
};

}  // namespace

void AddTransfers(const RankTrace& trace,
                  const std::unordered_map<std::int32_t, std::uint32_t>& number, PartNames& names,
                  RankDiagnosis& part) {
  TransferFinder(trace, number, names, part).Find();
}

}  // namespace mpa

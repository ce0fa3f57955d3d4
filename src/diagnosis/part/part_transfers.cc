// SPDX-License-Identifier: Apache-2.0
// The tasks that collectives are made of, as far as they move data.
#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "mpa/measure/intervals.h"
#include "mpa/measure/moved_data.h"
#include "mpa/measure/quantiles.h"
#include "mpa/model/collective_tasks.h"
#include "part_facts.h"

namespace mpa {
namespace {

// Of fewer tasks none is usual. What is made of those that are kept is a matter of the rules.
constexpr std::size_t kLeastOfClass = 5;

Intervals CubeWork(const RankTrace& trace, const RankGraph& graph) {
  std::vector<Interval> work;
  for (const GraphNode& node : graph.nodes) {
    const bool cube = node.leaf == Leaf::kMatmul || node.leaf == Leaf::kGroupedMatmul ||
                      node.leaf == Leaf::kConvolution || node.leaf == Leaf::kAttention;
    if (node.kind == NodeKind::kKernel && cube) work.push_back({node.start, node.start + node.dur});
  }
  return trace.comm_tasks.Empty() ? Intervals{} : Union(std::move(work));
}

void AddTask(std::int64_t bytes, TimeNs dur, TaskSum& sum) {
  ++sum.count;
  sum.bytes += bytes;
  sum.time += dur;
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
        part_(part) {}

  void Find() {
    const Intervals cube = CubeWork(trace_, part_.graph);
    std::map<std::tuple<std::uint32_t, std::int32_t, StringId>, PeerTransfer> sums;
    for (std::size_t i = 0; i < tasks_.Size(); ++i) {
      const auto operation = number_.find(static_cast<std::int32_t>(operations_[i]));
      if (operation == number_.end() || tasks_.peer[i] < 0 || tasks_.peer[i] == tasks_.own_rank[i])
        continue;
      OperationPart& part = part_.operations[operation->second];
      if (part.own < 0 && tasks_.own_rank[i] >= 0) {
        part.own = tasks_.own_rank[i];
        part.peer = tasks_.peer[i];
      }
      if (!MovesData(trace_, i)) continue;
      PeerTransfer& sum = sums[{operation->second, tasks_.peer[i], tasks_.transport[i]}];
      sum.operation = operation->second;
      sum.peer = tasks_.peer[i];
      sum.transport = names_.Of(View(tasks_.transport[i]));
      sum.bytes += tasks_.bytes[i];
      sum.time += tasks_.dur[i];
      ++sum.count;
      if (IsOddSize(tasks_.bytes[i])) AddTask(tasks_.bytes[i], tasks_.dur[i], sum.odd);
      const TimeNs end = tasks_.start[i] + tasks_.dur[i];
      if (View(tasks_.transport[i]) == kPortTransport) {
        part.port_bytes += tasks_.bytes[i];
        at_port_[operation->second].push_back({tasks_.start[i], end});
      }
      if (2 * LengthWithin(cube, {tasks_.start[i], end}) > tasks_.dur[i])
        AddTask(tasks_.bytes[i], tasks_.dur[i], sum.beside);
      by_class_[{tasks_.transport[i], std::bit_width(static_cast<std::uint64_t>(tasks_.bytes[i]))}]
          .push_back(i);
    }
    for (const auto& [key, sum] : sums) part_.transfers.push_back(sum);
    for (auto& [number, tasks] : at_port_)
      part_.operations[number].port_time = Length(Union(std::move(tasks)));
    FindLong();
  }

 private:
  std::string_view View(StringId text) const { return trace_.strings.View(text); }

  void FindLong() {
    for (const auto& [of, rows] : by_class_) {
      if (rows.size() < kLeastOfClass) continue;
      std::vector<TimeNs> durations;
      for (const std::size_t row : rows) durations.push_back(tasks_.dur[row]);
      const TimeNs usual = Median(std::move(durations));
      for (const std::size_t row : rows) {
        if (usual <= 0 || tasks_.dur[row] < kLongTaskRatio * usual) continue;
        part_.long_tasks.push_back({number_.at(static_cast<std::int32_t>(operations_[row])),
                                    tasks_.peer[row], names_.Of(View(tasks_.transport[row])),
                                    names_.Of(View(tasks_.name[row])), tasks_.start[row],
                                    tasks_.dur[row], usual});
      }
    }
  }

  const RankTrace& trace_;
  const CommTasks& tasks_;
  const std::vector<std::int64_t> operations_;
  const std::unordered_map<std::int32_t, std::uint32_t>& number_;
  PartNames& names_;
  RankDiagnosis& part_;
  std::map<std::uint32_t, std::vector<Interval>> at_port_;  // by operation
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

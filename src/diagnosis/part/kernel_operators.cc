// SPDX-License-Identifier: Apache-2.0
// Which operators of the host asked for the kernels of a GPU, whose names tell little.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "mpa/measure/nesting.h"
#include "mpa/model/launches.h"
#include "part_facts.h"

namespace mpa {
namespace {

class OutermostOperators {
 public:
  explicit OutermostOperators(const RankTrace& trace)
      : trace_(trace),
        launches_(trace),
        spans_(OpSpans(trace)),
        outermost_(trace.host_ops.Size(), Nesting::kNone) {
    for (const std::uint32_t row : spans_.InOrder()) {  // outer ones first
      if (const std::int64_t outer = spans_.Parent(row); outer != Nesting::kNone)
        outermost_[row] = outermost_[static_cast<std::size_t>(outer)];
      if (outermost_[row] == Nesting::kNone &&
          trace.strings.View(trace.host_ops.name[row]).starts_with("aten::"))
        outermost_[row] = row;
    }
  }

  // The row of the operator; empty: none asked for the kernel.
  std::optional<std::size_t> Of(std::size_t kernel) const {
    const auto launch = launches_.Find(trace_.kernels.link[kernel]);
    if (!launch) return std::nullopt;
    const TimeNs time = trace_.launches.host_time[*launch];
    const std::int64_t op = spans_.FindEnclosing({time, time, trace_.launches.host_track[*launch]});
    if (op == Nesting::kNone) return std::nullopt;
    const std::int64_t outermost = outermost_[static_cast<std::size_t>(op)];
    if (outermost == Nesting::kNone) return std::nullopt;
    return static_cast<std::size_t>(outermost);
  }

 private:
  const RankTrace& trace_;
  const LaunchIndex launches_;
  const Nesting spans_;
  std::vector<std::int64_t> outermost_;  // by row, of it and all around it
};

}  // namespace

void FindKernelOperators(const RankTrace& trace, PartNames& names, RankDiagnosis& part) {
  if (trace.device != DeviceKind::kGpu || trace.host_ops.Empty()) return;
  const OutermostOperators operators(trace);
  const auto& nodes = part.graph.nodes;
  KernelOperators& found = part.operators;
  found.of_node.assign(nodes.size(), KernelOperators::kNone);
  std::map<std::size_t, std::uint32_t> numbers;  // by row of the operators
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool is_known = nodes[i].kind == NodeKind::kKernel && nodes[i].row >= 0 &&
                          static_cast<std::size_t>(nodes[i].row) < trace.kernels.Size();
    const auto op = is_known ? operators.Of(static_cast<std::size_t>(nodes[i].row)) : std::nullopt;
    if (!op) continue;
    const auto [number, is_new] =
        numbers.try_emplace(*op, static_cast<std::uint32_t>(found.rows.size()));
    if (is_new) {
      found.rows.push_back(
          {names.Of(trace.strings.View(trace.host_ops.name[*op])),
           names.Of(ListedShapes(trace.strings.View(trace.host_ops.shapes[*op])))});
    }
    found.of_node[i] = number->second;
  }
}

}  // namespace mpa

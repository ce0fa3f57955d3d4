// SPDX-License-Identifier: Apache-2.0
// Which operators of the host asked for the kernels of a GPU, whose names tell little.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "mpa/measure/nesting.h"
#include "mpa/model/launches.h"
#include "part_facts.h"

namespace mpa {
namespace {

class OutermostOperators {
 public:
  explicit OutermostOperators(const RankTrace& trace)
      : trace_(trace), launches_(trace), spans_(OpSpans(trace)) {}

  // The row of the operator; empty: none asked for the kernel.
  std::optional<std::size_t> Of(std::size_t kernel) const {
    const auto launch = launches_.Find(trace_.kernels.link[kernel]);
    if (!launch) return std::nullopt;
    const TimeNs time = trace_.launches.host_time[*launch];
    std::optional<std::size_t> outermost;
    std::int64_t op = spans_.FindEnclosing({time, time, trace_.launches.host_track[*launch]});
    for (; op != Nesting::kNone; op = spans_.Parent(static_cast<std::size_t>(op))) {
      const auto row = static_cast<std::size_t>(op);
      if (trace_.strings.View(trace_.host_ops.name[row]).starts_with("aten::")) outermost = row;
    }
    return outermost;
  }

 private:
  const RankTrace& trace_;
  const LaunchIndex launches_;
  const Nesting spans_;
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

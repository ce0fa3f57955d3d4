// SPDX-License-Identifier: Apache-2.0
// Which operator of the host asked for a kernel.
#include <map>
#include <utility>
#include <vector>

#include "mpa/diagnosis/part/graph_items.h"
#include "mpa/measure/nesting.h"
#include "part_facts.h"

namespace mpa {
namespace {

class OriginFinder {
 public:
  explicit OriginFinder(const RankTrace& trace) : trace_(trace), operators_(Operators()) {}

  // The row of the operator; -1: none is recorded.
  std::int64_t Of(const GraphLaunch& launch) const {
    // A task queue launches what an operator of another thread asked for.
    const bool is_queued = launch.queued >= 0;
    const auto row = static_cast<std::size_t>(launch.queued);
    const std::int32_t track = is_queued ? trace_.queued_work.queued_track[row] : launch.track;
    const std::int64_t found =
        operators_.Find(track, is_queued ? trace_.queued_work.queued[row] : launch.begin);
    return found == Nesting::kNone
               ? -1
               : static_cast<std::int64_t>(rows_[static_cast<std::size_t>(found)]);
  }

 private:
  // Without marks of steps, and the calls below the framework that captures list among the
  // operators: "aclnnAdd", "cudaLaunchKernel".
  Nesting Operators() {
    const HostOps& ops = trace_.host_ops;
    std::vector<NestSpan> spans;
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      const std::string_view name = trace_.strings.View(ops.name[i]);
      const std::string_view below = trace_.device == DeviceKind::kGpu ? "cu" : "acl";
      if (IsStepMark(name) || name.starts_with(below)) continue;
      spans.push_back({ops.start[i], ops.start[i] + ops.dur[i], ops.track[i]});
      rows_.push_back(i);
    }
    return Nesting(std::move(spans));
  }

  const RankTrace& trace_;
  std::vector<std::size_t> rows_;  // by span
  const Nesting operators_;
};

}  // namespace

void FindOrigins(const RankTrace& trace, TimeNs host_offset, const CallSites& sites,
                 PartNames& names, RankDiagnosis& part) {
  const GraphItems found = FindGraphItems(trace, host_offset);
  std::map<std::pair<TimeNs, std::int32_t>, std::int32_t> launches;  // by begin and row of a kernel
  for (const GraphItem& item : found.items) {
    if (item.work.table == PieceTable::kKernels && item.launch >= 0)
      launches[{item.work.begin, item.work.row}] = item.launch;
  }
  const OriginFinder finder(trace);
  for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
    const GraphNode& node = part.graph.nodes[i];
    const auto launch =
        node.kind == NodeKind::kKernel ? launches.find({node.start, node.row}) : launches.end();
    if (launch == launches.end()) continue;
    const std::int64_t op = finder.Of(found.launches[static_cast<std::size_t>(launch->second)]);
    if (op < 0) continue;
    const auto row = static_cast<std::size_t>(op);
    const HostOps& ops = trace.host_ops;
    const std::string line =
        sites.At({ops.start[row], ops.start[row] + ops.dur[row], ops.track[row]});
    part.origins.push_back({i, names.Of(trace.strings.View(ops.name[row])), names.Of(line)});
  }
}

}  // namespace mpa

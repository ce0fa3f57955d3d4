// SPDX-License-Identifier: Apache-2.0
#include "modules.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "mpa/measure/module_ranges.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/op_tree.h"
#include "mpa/model/step_bounds.h"

namespace mpa::query {
namespace {

// The modules of a rank and the operators in them. Ids count modules in order of their starts.
struct NestedModules {
  ModuleRanges ranges{};
  ModuleNest nest{};
  std::vector<std::int64_t> id_of{};  // by module

  std::int64_t IdOf(std::int64_t module) const {
    return module == NestPlace::kNone ? -1 : id_of[static_cast<std::size_t>(module)];
  }
};

NestedModules FindModules(const RankTrace& trace) {
  const ThreadGroups groups(trace);
  NestedModules found{.ranges = FindForwardModules(trace, groups)};
  AddBackwardModules(trace, groups, found.ranges);
  std::vector<NestSpan> ops = SpansOf(trace.host_ops);
  for (NestSpan& op : ops) op.track = groups.Of(op.track);
  found.nest = Nest(found.ranges.spans, ops);
  found.id_of.resize(found.ranges.spans.size());
  for (std::size_t id = 0; id < found.nest.modules.size(); ++id)
    found.id_of[found.nest.modules[id]] = static_cast<std::int64_t>(id);
  return found;
}

}  // namespace

ModuleTable ModulesOf(const RankTrace& trace) {
  const NestedModules found = FindModules(trace);
  const StepBounds bounds(trace, kAsRecorded);
  ModuleTable table;
  const auto kept = [&](std::string text) -> std::string_view {
    return *table.texts.insert(std::move(text)).first;
  };
  for (const std::uint32_t module : found.nest.modules) {  // outer ones first
    const NestSpan& span = found.ranges.spans[module];
    const std::int64_t parent = found.IdOf(found.nest.parent[module]);
    const auto step = bounds.OfHostTime(span.start);
    table.Append(
        {.parent = parent,
         .start = span.start,
         .dur = span.end - span.start,
         .step = step ? bounds.Id(*step) : -1,
         .name = kept(found.ranges.infos[module].name),
         .path = kept(PathAround(found.ranges, found.nest, module)),
         .backward = found.ranges.infos[module].backward ||
                     (parent >= 0 && table.backward[static_cast<std::size_t>(parent)] != 0)});
  }
  for (const OpWork& work : FindOpWork(trace).ops) {
    const std::int64_t id = found.IdOf(found.nest.places[work.op].module);
    if (id < 0) continue;
    for (const DeviceWork& one : work.kernels)
      table.device_ns[static_cast<std::size_t>(id)] += one.dur;
  }
  table.device_total_ns = table.device_ns;
  for (std::size_t id = table.Size(); id-- > 0;) {
    if (table.parent[id] < 0) continue;
    table.device_total_ns[static_cast<std::size_t>(table.parent[id])] += table.device_total_ns[id];
  }
  return table;
}

std::vector<std::int64_t> ModulesOfOps(const RankTrace& trace) {
  const NestedModules found = FindModules(trace);
  std::vector<std::int64_t> modules(trace.host_ops.Size());
  for (std::size_t op = 0; op < modules.size(); ++op)
    modules[op] = found.IdOf(found.nest.places[op].module);
  return modules;
}

}  // namespace mpa::query

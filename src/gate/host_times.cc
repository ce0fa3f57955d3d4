// SPDX-License-Identifier: Apache-2.0
// Times by operators of the framework and by modules.
#include "host_times.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "mpa/measure/collectives.h"
#include "mpa/measure/module_tree.h"
#include "mpa/model/collective_tasks.h"

namespace mpa::gate {
namespace {

// "Linear_0" of "nn.Module: Linear_0" and of "[ BACKWARD ]/nn.Module: Net_0/nn.Module: Linear_0".
std::string_view ShortName(std::string_view module) {
  const std::size_t begin = module.rfind(": ");
  return begin == std::string_view::npos ? module : module.substr(begin + 2);
}

std::string_view NameOfOp(const OpTree& ops, std::size_t op) {
  return ops.trace().strings.View(ops.trace().host_ops.name[op]);
}

// For every operator whether it or one around it fits; `outermost` gets those without one around.
std::vector<bool> WithinFitting(const OpTree& ops, const std::string& pattern,
                                std::vector<std::size_t>& outermost) {
  std::vector<bool> within(ops.trace().host_ops.Size(), false);
  for (const std::uint32_t op : ops.InOrder()) {  // those around come first
    if (!within[op]) {
      if (ops.IsStep(op) || !FitsPattern(pattern, NameOfOp(ops, op))) continue;
      within[op] = true;
      outermost.push_back(op);
    }
    for (const std::uint32_t child : ops.Children(op)) within[child] = true;
  }
  return within;
}

// For every operator the operator of the framework that it is or runs in: calls of the runtime are
// none. kNone: no operator is around it.
std::vector<std::int64_t> FrameworkOps(const OpTree& ops) {
  std::vector<std::int64_t> framework(ops.trace().host_ops.Size(), Nesting::kNone);
  for (const std::uint32_t op : ops.InOrder()) {  // those around come first
    if (!ops.IsStep(op) && !IsRuntimeCall(NameOfOp(ops, op))) framework[op] = op;
    for (const std::uint32_t child : ops.Children(op)) framework[child] = framework[op];
  }
  return framework;
}

void SumModules(const ModuleTree& tree, const StepFinder& find, const std::string& pattern,
                std::vector<TimeNs>& sums) {
  std::vector<std::uint32_t> queue = tree.roots;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const Module& module = tree.modules[queue[at]];
    if (!FitsPattern(pattern, ShortName(module.name))) {
      queue.insert(queue.end(), module.children.begin(), module.children.end());
    } else if (const auto step = find.of_host(module.start)) {
      sums[*step] += module.device_total.whole;
    }
  }
}

}  // namespace

void AddOperators(const OpTree& ops, const StepFinder& find, StepTable& device, StepTable& host) {
  const std::vector<std::int64_t> framework = FrameworkOps(ops);
  const auto name_of = [&](std::int64_t op) { return NameOfOp(ops, static_cast<std::size_t>(op)); };
  for (const LaunchedWork& launched : ops.Launched()) {
    if (launched.op == Nesting::kNone) continue;
    const std::int64_t op = framework[static_cast<std::size_t>(launched.op)];
    if (op == Nesting::kNone) continue;
    if (const auto step = find.of_launched(launched.launched, launched.work.start)) {
      device.Add(name_of(op), *step, launched.work.dur);
    }
  }
  const HostOps& host_ops = ops.trace().host_ops;
  for (const std::uint32_t op : ops.InOrder()) {
    if (framework[op] != static_cast<std::int64_t>(op)) continue;
    const auto step = find.of_host(host_ops.start[op]);
    if (!step) continue;
    TimeNs self = host_ops.dur[op];
    for (const std::uint32_t child : ops.Children(op)) {
      if (framework[child] != static_cast<std::int64_t>(op)) self -= host_ops.dur[child];
    }
    host.Add(NameOfOp(ops, op), *step, self);
  }
}

void AddModules(const OpTree& ops, const StepFinder& find, StepTable& modules) {
  const ModuleTrees trees = BuildModuleTrees(ops);
  for (const ModuleTree* tree : {&trees.forward, &trees.backward}) {
    for (const Module& module : tree->modules) {
      if (const auto step = find.of_host(module.start)) {
        modules.Add(ShortName(module.name), *step, module.device_self.whole);
      }
    }
  }
}

std::vector<TimeNs> SumOfOperators(const OpTree& ops, const StepFinder& find, std::size_t steps,
                                   const Metric& metric) {
  std::vector<TimeNs> sums(steps, 0);
  std::vector<std::size_t> outermost;
  const std::vector<bool> within = WithinFitting(ops, metric.pattern, outermost);
  if (metric.kind == MetricKind::kApi) {
    const HostOps& host_ops = ops.trace().host_ops;
    for (const std::size_t op : outermost) {
      if (const auto step = find.of_host(host_ops.start[op])) sums[*step] += host_ops.dur[op];
    }
    return sums;
  }
  for (const LaunchedWork& launched : ops.Launched()) {
    if (launched.op == Nesting::kNone || !within[static_cast<std::size_t>(launched.op)]) continue;
    if (const auto step = find.of_launched(launched.launched, launched.work.start)) {
      sums[*step] += launched.work.dur;
    }
  }
  return sums;
}

std::vector<TimeNs> SumOfModules(const OpTree& ops, const StepFinder& find, std::size_t steps,
                                 const Metric& metric) {
  std::vector<TimeNs> sums(steps, 0);
  const ModuleTrees trees = BuildModuleTrees(ops);
  for (const ModuleTree* tree : {&trees.forward, &trees.backward}) {
    SumModules(*tree, find, metric.pattern, sums);
  }
  return sums;
}

// What activities take of each step.

namespace {

bool IsLccl(const RankTrace& trace, std::size_t communication) {
  return IsLcclKernel(trace.strings.View(trace.communications.name[communication]));
}

// Calls visit(window, piece) for what of each interval lies in each window, in order of time.
template <typename Visit>
void VisitPieces(const Intervals& intervals, const std::vector<Interval>& windows, Visit visit) {
  std::size_t window = 0;
  for (const Interval& interval : intervals) {
    while (window < windows.size() && windows[window].end <= interval.begin) ++window;
    for (std::size_t at = window; at < windows.size() && windows[at].begin < interval.end; ++at) {
      const Interval piece{std::max(interval.begin, windows[at].begin),
                           std::min(interval.end, windows[at].end)};
      if (piece.begin < piece.end) visit(at, piece);
    }
  }
}

}  // namespace

std::vector<TimeNs> LengthInWindows(const std::vector<Interval>& intervals,
                                    const std::vector<Interval>& windows) {
  std::vector<TimeNs> lengths(windows.size(), 0);
  VisitPieces(intervals, windows, [&](std::size_t window, const Interval& piece) {
    lengths[window] += piece.end - piece.begin;
  });
  return lengths;
}

std::map<std::string, std::vector<TimeNs>> ExposedByKind(const RankTrace& trace,
                                                         const Intervals& exposed,
                                                         const std::vector<Interval>& windows) {
  // The pieces of exposed time in windows, disjoint and in order.
  Intervals pieces;
  std::vector<std::size_t> window_of;
  VisitPieces(exposed, windows, [&](std::size_t window, const Interval& piece) {
    pieces.push_back(piece);
    window_of.push_back(window);
  });
  std::map<std::string, std::vector<TimeNs>> kinds;
  const Communications& comms = trace.communications;
  TimeNs told = windows.empty() ? 0 : windows.front().begin;
  std::size_t first = 0;
  for (const std::size_t row : comms.RowsByStart()) {
    if (IsLccl(trace, row)) continue;
    const Interval rest{std::max(told, comms.start[row]), comms.start[row] + comms.dur[row]};
    if (rest.end <= rest.begin) continue;
    told = rest.end;
    while (first < pieces.size() && pieces[first].end <= rest.begin) ++first;
    for (std::size_t at = first; at < pieces.size() && pieces[at].begin < rest.end; ++at) {
      const TimeNs length =
          std::min(pieces[at].end, rest.end) - std::max(pieces[at].begin, rest.begin);
      auto& of_kind = kinds[CollectiveKindOf(trace, row)];
      of_kind.resize(windows.size());
      of_kind[window_of[at]] += length;
    }
  }
  return kinds;
}

}  // namespace mpa::gate

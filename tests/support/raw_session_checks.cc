// SPDX-License-Identifier: Apache-2.0
#include "support/raw_session_checks.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace mpa::test {
namespace {

// `column` holds rows of a table with `size` rows, or -1.
std::string Outside(std::string_view what, const std::vector<std::int32_t>& column,
                    std::size_t size) {
  for (std::size_t i = 0; i < column.size(); ++i)
    if (column[i] < -1 || column[i] >= static_cast<std::int64_t>(size))
      return fmt::format("{}[{}] is {}, of {}", what, i, column[i], size);
  return {};
}

std::string Backwards(std::string_view what, const std::vector<TimeNs>& dur) {
  for (std::size_t i = 0; i < dur.size(); ++i)
    if (dur[i] < 0) return fmt::format("{}[{}] ends before it starts", what, i);
  return {};
}

std::string TaskBackwards(const raw::Tasks& tasks) {
  for (std::size_t i = 0; i < tasks.Size(); ++i)
    if (tasks.end[i] < tasks.start[i]) return fmt::format("tasks[{}] ends before it starts", i);
  return {};
}

std::string DetailOutside(const raw::Session& session) {
  const raw::Tasks& tasks = session.tasks;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    const std::size_t size = tasks.kind[i] == raw::TaskKind::kKernel ? session.kernels.Size()
                             : tasks.kind[i] == raw::TaskKind::kCollectivePart
                                 ? session.parts.Size()
                                 : 0;
    if (tasks.detail[i] < -1 || (size > 0 && tasks.detail[i] >= static_cast<std::int64_t>(size)))
      return fmt::format("tasks.detail[{}] is {}, of {}", i, tasks.detail[i], size);
  }
  return {};
}

std::string ParentNotEarlier(const raw::TorchOps& ops) {
  for (std::size_t i = 0; i < ops.Size(); ++i)
    if (ops.parent[i] >= static_cast<std::int64_t>(i))
      return fmt::format("ops.parent[{}] is {}", i, ops.parent[i]);
  return {};
}

}  // namespace

std::string BrokenPromise(const raw::Session& s) {
  const std::size_t tasks = s.tasks.Size(), calls = s.calls.Size(), ops = s.ops.Size();
  for (const std::string& breach :
       {Outside("tasks.call", s.tasks.call, calls),
        DetailOutside(s),
        Outside("kernels.task", s.kernels.task, tasks),
        Outside("kernels.counters", s.kernels.counters, s.counters.Size()),
        Outside("collectives.call", s.collectives.call, calls),
        Outside("parts.task", s.parts.task, tasks),
        Outside("parts.collective", s.parts.collective, s.collectives.Size()),
        Outside("ops.parent", s.ops.parent, ops),
        ParentNotEarlier(s.ops),
        Outside("queue.op", s.queue.op, ops),
        Outside("queue.partner", s.queue.partner, s.queue.Size()),
        Outside("steps.op", s.steps.op, ops),
        Outside("backward.forward", s.backward.forward, ops),
        Outside("backward.backward", s.backward.backward, ops),
        Outside("links.op", s.links.op, ops),
        Outside("links.task", s.links.task, tasks),
        Outside("links.collective", s.links.collective, s.collectives.Size()),
        TaskBackwards(s.tasks),
        Backwards("calls", s.calls.dur),
        Backwards("ops", s.ops.dur)})
    if (!breach.empty()) return breach;
  return {};
}

}  // namespace mpa::test

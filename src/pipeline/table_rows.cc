// SPDX-License-Identifier: Apache-2.0
// How many rows a rank or a raw session has, for the log.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "load_rank.h"
#include "mpa/base/text.h"
#include "mpa/raw/session.h"

namespace mpa {
namespace {

template <typename Visit>
void VisitTables(const RankTrace& trace, Visit visit) {
  visit("tracks", trace.tracks);
  visit("host_ops", trace.host_ops);
  visit("python_calls", trace.python_calls);
  visit("backward_links", trace.backward_links);
  visit("mstx", trace.mstx);
  visit("queued_work", trace.queued_work);
  visit("host_calls", trace.host_calls);
  visit("call_stamps", trace.call_stamps);
  visit("garbage_collections", trace.garbage_collections);
  visit("launches", trace.launches);
  visit("named_launches", trace.named_launches);
  visit("kernels", trace.kernels);
  visit("kernel_loads", trace.kernel_loads);
  visit("schedule_kernels", trace.schedule_kernels);
  visit("listed_collectives", trace.listed_collectives);
  visit("listed_kernels", trace.listed_kernels);
  visit("chips", trace.chips);
  visit("core_clocks", trace.core_clocks);
  visit("device_tasks", trace.device_tasks);
  visit("device_runs", trace.device_runs);
  visit("model_iterations", trace.model_iterations);
  visit("comm_groups", trace.comm_groups);
  visit("communications", trace.communications);
  visit("comm_tasks", trace.comm_tasks);
  visit("overlaps", trace.overlaps);
  visit("memory_samples", trace.memory_samples);
  visit("allocations", trace.allocations);
  visit("kernel_statistics", trace.kernel_statistics);
  visit("transfers", trace.transfers);
  visit("steps", trace.steps);
  visit("serving_marks", trace.serving_marks);
  visit("step_times", trace.step_times);
}

void AddRows(const char* name, std::size_t rows, std::string& text) {
  if (rows == 0) return;
  text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, Counted(rows, "row"));
}

}  // namespace

std::vector<std::size_t> CountRows(const RankTrace& trace) {
  std::vector<std::size_t> rows;
  VisitTables(trace, [&](const char*, const auto& table) { rows.push_back(table.Size()); });
  return rows;
}

std::string AddedRows(const std::vector<std::size_t>& before, const RankTrace& trace) {
  std::string text;
  std::size_t table = 0;
  VisitTables(trace, [&](const char* name, const auto& rows) {
    const std::size_t old = before[table++];
    if (rows.Size() > old) AddRows(name, rows.Size() - old, text);
  });
  return text.empty() ? "no rows of its own, details of others" : text;
}

std::string SessionRows(const raw::Session& session) {
  std::string text;
  const auto add = [&](const char* name, const auto& table) { AddRows(name, table.Size(), text); };
  add("operators", session.ops);
  add("queue", session.queue);
  add("python_calls", session.python);
  add("garbage_collections", session.garbage_collections);
  add("allocations", session.allocations);
  add("listed_tensors", session.listed_tensors);
  add("steps", session.steps);
  add("host_calls", session.calls);
  add("tasks", session.tasks);
  add("kernels", session.kernels);
  add("ai_cpu", session.ai_cpu);
  add("collectives", session.collectives);
  add("collective_parts", session.parts);
  add("device_memory", session.device_memory);
  add("module_memory", session.module_memory);
  add("marks", session.marks);
  return text.empty() ? "no rows" : text;
}

}  // namespace mpa

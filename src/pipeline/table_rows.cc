// SPDX-License-Identifier: Apache-2.0
// How many rows a rank or a raw session has, for the log.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "load_rank.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/model/rank_tables.h"
#include "mpa/raw/session.h"

namespace mpa {
namespace {

void AddRows(const char* name, std::size_t rows, std::string& text) {
  if (rows == 0) return;
  text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, Counted(rows, "row"));
}

}  // namespace

std::vector<std::size_t> CountRows(const RankTrace& trace) {
  std::vector<std::size_t> rows;
  VisitRankTables(trace, [&](const auto&, const auto& table) { rows.push_back(RowsIn(table)); });
  return rows;
}

std::string AddedRows(const std::vector<std::size_t>& before, const RankTrace& trace) {
  std::string text;
  std::size_t table = 0;
  VisitRankTables(trace, [&](const auto& info, const auto& rows) {
    const std::size_t old = before[table++];
    if (RowsIn(rows) > old) AddRows(info.name, RowsIn(rows) - old, text);
  });
  return text.empty() ? Say("no rows of its own, details for other tables") : text;
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
  return text.empty() ? Say("no rows") : text;
}

}  // namespace mpa

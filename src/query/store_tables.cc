// SPDX-License-Identifier: Apache-2.0
// The tables of the store as statements see them: each of kRankTables, whatever is added there.
#include <array>
#include <map>
#include <string>
#include <utility>

#include "derived_columns.h"
#include "mpa/base/text.h"
#include "mpa/model/rank_tables.h"
#include "mpa/model/step_selection.h"
#include "tables.h"

namespace mpa::query {
namespace {

// What statements call a table; others by the singular. TASK and
// STEP_TIME are views.
constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"host_ops", "op"},
    {"python_calls", "python"},
    {"host_calls", "call"},
    {"mstx", "mark"},
    {"queued_work", "queue"},
    {"garbage_collections", "gc"},
    {"step_times", "step_trace_time"},
    {"communications", "comm"},
    {"memory_samples", "memory"},
    {"core_clocks", "clock"},
    {"counters", "hw_counter"},
    {"counter_samples", "hw"},
};

// Columns that something else fills than their table. Of a name that ends in '*' all that begin so.
struct FilledElsewhere {
  std::string_view table, column;
  Tables by;
};
constexpr FilledElsewhere kFilledElsewhere[] = {
    {"host_ops", "shapes", Tables::kOpDetails},      {"host_ops", "types", Tables::kOpDetails},
    {"host_ops", "stack", Tables::kOpStacks},        {"kernels", "input_*", Tables::kKernelTensors},
    {"kernels", "link", Tables::kLaunches},          {"kernels", "hf32", Tables::kKernelTensors},
    {"kernels", "output_*", Tables::kKernelTensors}, {"kernels", "aic_*", Tables::kKernelCounters},
    {"kernels", "aiv_*", Tables::kKernelCounters},
};

// Names that are words of SQL, or that say more here.
struct Renamed {
  std::string_view table, column, name;
};
constexpr Renamed kRenamed[] = {
    {"steps", "id", "step"},
    {"steps", "end", "finish"},
    {"server_requests", "id", "request"},
    {"server_transfers", "id", "request"},
    {"server_transfers", "rank", "server_rank"},
    {"listed_kernels", "id", "database_id"},
    {"communications", "group", "comm_group"},
    {"comm_tasks", "group", "comm_group"},
    {"counters", "group", "family"},
    {"counters", "limit", "most"},
    {"thread_states", "by", "by_name"},
};

// What a table needs beside that which fills it: steps at the end that launched nothing are
// dropped.
struct NeedsMore {
  std::string_view table;
  Tables more;
};
constexpr NeedsMore kNeedsMore[] = {{"steps", kStepTables}, {"kernel_loads", Tables::kKernels}};

std::string WordFor(std::string_view table) {
  for (const auto& [name, word] : kWords) {
    if (name == table) return std::string(word);
  }
  const std::size_t plural = table.ends_with("ches") ? 2 : table.ends_with("s") ? 1 : 0;
  return std::string(table.substr(0, table.size() - plural));
}

bool Fits(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

void Complete(std::string_view name, TableInfo& info) {
  for (const NeedsMore& needs : kNeedsMore) {
    if (needs.table == name) info.needs = info.needs | needs.more;
  }
  for (std::size_t i = 0; i < info.columns.size(); ++i) {
    TableColumn& column = info.columns[i];
    for (const FilledElsewhere& filled : kFilledElsewhere) {
      if (filled.table == name && Fits(column.name, filled.column)) column.needs = filled.by;
    }
    // The first point in time; ends come behind it.
    if (info.time < 0 && column.unit == "ns" &&
        IsOneOf(column.name, {"start", "time", "host_time", "queued", "allocated", "forward_time"}))
      info.time = static_cast<int>(i);
    for (const Renamed& renamed : kRenamed) {
      if (renamed.table == name && renamed.column == column.name) column.name = renamed.name;
    }
  }
}

}  // namespace

void AddStoreTables(std::vector<TableInfo>& tables) {
  const auto add = [&]<typename Info>(const Info& info) {
    using Stored = std::remove_cvref_t<decltype(std::declval<const RankTrace&>().*Info::kTable)>;
    if constexpr (requires(const Stored& table) { table.Columns(); }) {
      TableInfo& table = tables.emplace_back(TableOf<Stored>(WordFor(info.name), Info::kFilled));
      table.stored = [](const RankTrace& trace) -> const void* { return &(trace.*Info::kTable); };
      Complete(info.name, table);
      AddStepColumn<Info>(table.columns);
    }
  };
  std::apply([&](const auto&... info) { (add(info), ...); }, kRankTables);
}

std::string_view TextOfLabel(RankId rank) {
  static std::map<RankId, std::string> labels;  // cells refer to them
  return labels.try_emplace(rank, RankName(rank)).first->second;
}

const std::vector<TableInfo>& AllTables() {
  static const std::vector<TableInfo> all = [] {
    std::vector<TableInfo> tables;
    AddStoreTables(tables);
    AddDerivedColumns(tables);
    AddComputedTables(tables);
    return tables;
  }();
  return all;
}

const TableInfo* FindTable(std::string_view name) {
  for (const TableInfo& table : AllTables()) {
    if (EqualsIgnoringCase(name, table.name)) return &table;
  }
  return nullptr;
}

}  // namespace mpa::query

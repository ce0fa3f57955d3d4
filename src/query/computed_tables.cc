// SPDX-License-Identifier: Apache-2.0
// Tables of one rank that are computed.
#include "computed_tables.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "job_tables.h"
#include "modules.h"
#include "mpa/base/error.h"
#include "mpa/collectives/instances.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/host_places.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/step_selection.h"
#include "sheet_rows.h"
#include "tables.h"

namespace mpa::query {
namespace {

AccountTable AccountOf(const RankTrace& trace) {
  AccountTable table;
  for (const StepAccount& step : AccountRank(trace).steps) {
    for (std::size_t i = 0; i < kTimeCategories; ++i) {
      const auto category = static_cast<TimeCategory>(i);
      if (const TimeNs time = step.categories[category]; time > 0) {
        table.Append({.step = step.id,
                      .leaf = NameOf(category),
                      .ns = time,
                      .step_start = step.window.begin,
                      .step_dur = step.window.end - step.window.begin});
      }
    }
  }
  return table;
}

GapTable GapsOf(const RankTrace& trace) {
  GapTable table;
  const RankAccount account = AccountRank(trace);
  for (const StepAccount& step : account.steps) {
    for (const Piece& piece : account.PiecesOf(step)) {
      if (!IsFree(piece.category)) continue;
      const bool has_event = piece.table != PieceTable::kNone && piece.row >= 0;
      table.Append({.start = piece.begin,
                    .dur = piece.end - piece.begin,
                    .step = step.id,
                    .cause = NameOf(piece.category),
                    .host_event = has_event ? HostNameOf(trace, piece.table, piece.row) : ""});
    }
  }
  return table;
}

CounterOfKernelTable CountersOf(const RankTrace& trace) {
  CounterOfKernelTable table;
  const auto& counters = trace.kernel_loads.counters;
  for (std::size_t kernel = 0; kernel < counters.size(); ++kernel) {
    const std::size_t count = std::min(counters[kernel].size(), trace.counter_names.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (std::isnan(counters[kernel][i])) continue;
      table.Append({.kernel = static_cast<std::int64_t>(kernel),
                    .name = trace.counter_names[i],
                    .value = counters[kernel][i]});
    }
  }
  return table;
}

OpDeviceTable DeviceWorkOfOps(const RankTrace& trace) {
  OpDeviceTable table;
  for (const LaunchedWork& launched : FindDeviceWork(trace, Nesting(OpSpans(trace))).launched) {
    if (launched.op < 0) continue;
    table.Append({.op = launched.op,
                  .kernel = launched.work.kernel,
                  .comm = launched.work.collective,
                  .device_task = launched.work.task,
                  .start = launched.work.start,
                  .ns = launched.work.dur});
  }
  return table;
}

// What a recipe answers of this rank alone; no rows where the capture has nothing for it.
template <typename Made>
Made AnswerOf(const RankTrace& trace, std::string_view recipe_name, std::string_view sheet) {
  const Recipe& recipe = RecipeNamed(recipe_name);
  Made made;
  Report report;
  try {
    recipe.reduce({{trace.rank, recipe.map(trace, {})}}, {},
                  {.documents = false, .screen = Detail::kNone}, report);
  } catch (const Error& error) {
    if (!IsBadInput(error)) throw;
    return made;
  }
  AppendRows(SheetNamed(report, sheet), "", made);
  return made;
}

ServingStepTable ServingStepsOf(const RankTrace& trace) {
  return AnswerOf<ServingStepTable>(trace, "serving_phases", "ServingSteps");
}

RequestTable RequestsOf(const RankTrace& trace) {
  return AnswerOf<RequestTable>(trace, "serving_requests", "ServingRequests");
}

template <auto kMake>
void Add(const char* name, Tables needs, std::vector<TableInfo>& tables) {
  using Made = decltype(kMake(std::declval<const RankTrace&>()));
  TableInfo& info = tables.emplace_back(TableOf<Made>(name, needs));
  info.make = [](const RankTrace& trace) -> std::shared_ptr<const void> {
    return std::make_shared<const Made>(kMake(trace));
  };
}

template <auto kMake>
void AddOfJob(const char* name, Tables needs, std::vector<TableInfo>& tables) {
  using Made = decltype(kMake(std::declval<Job&>()));
  TableInfo& info = tables.emplace_back(TableOf<Made>(name, needs));
  info.make_of_job = [](Job& job) -> std::shared_ptr<const void> {
    return std::make_shared<const Made>(kMake(job));
  };
}

}  // namespace

void AddComputedTables(std::vector<TableInfo>& tables) {
  Add<AccountOf>("account", kAccountTables, tables);
  Add<GapsOf>("gap", kAccountTables, tables);
  Add<CountersOf>("counter", Tables::kKernels | Tables::kKernelLoads, tables);
  Add<DeviceWorkOfOps>("op_device", kStepTables | Tables::kHostOps | Tables::kDeviceTasks, tables);
  Add<ModulesOf>("module", kModuleTables | kStepTables, tables);
  Add<ServingStepsOf>("serving_step", kAccountTables, tables);
  Add<RequestsOf>("request", Tables::kServer, tables);
  AddOfJob<ArrivalsOf>("arrival", kLatenessTables, tables);
  AddOfJob<RlRolesOf>("rl_role", Tables::kNone, tables);
  AddOfJob<FindingsOf>("finding", Tables::kNone, tables);
  AddOfJob<ChangesOf>("change", kAccountTables, tables);
  AddOfJob<CapturedOf>("captured", Tables::kNone, tables);
  AddOfJob<RunsOf>("run", Tables::kNone, tables);
  AddOfJob<TextsOf>("STRING_IDS", Tables::kNone, tables);
}

}  // namespace mpa::query

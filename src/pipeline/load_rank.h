// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/capture/capture.h"
#include "mpa/model/rank_trace.h"
#include "mpa/readers/reader.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

struct LoadedRank {
  RankTrace trace;
  std::vector<std::string> notes;  ///< files that are missing, rows that were left out
  bool partial = false;            ///< something was there but broken
};

/// True where the trace is missing and `needs` has tables that only the trace fills.
bool LacksTimeline(const RankTrace& trace, Tables needs);
/// Whether a recipe shows nothing without the trace. `has_kernels`: those may be enough.
bool NeedsTimeline(const RecipeInfo& recipe, bool has_kernels);
/// The trace is missing, and the recipe needs it.
bool LacksTimeline(const RankTrace& trace, const RecipeInfo& recipe);
/// Throws Error (kInput) then, with the path of the capture.
void RequireTimeline(const RankTrace& trace, Tables needs, const RankInput& input);
void RequireTimeline(const RankTrace& trace, const RecipeInfo& recipe, const RankInput& input);

/// Throws Error (kInput) for what needs records of the profiler, where there is a memory snapshot
/// alone.
void RequireRecords(const RankInput& input, Tables needs);

/// Reads the wanted tables of a rank, ties device work to its launches and keeps only `step` if
/// one is given. A broken side file costs its table, not the rank; the trace or database itself
/// must be readable, or Error is thrown.
LoadedRank LoadRank(const RankInput& input, const ReadRequest& request,
                    std::optional<std::int32_t> step);

/// The memory that a rank takes at most while it is read and condensed: an estimate.
std::int64_t MemoryOf(const RankInput& input);

/// Lets ranks into memory as long as there is room; one is always let in.
class MemoryBudget {
 public:
  /// 0 or less: no limit.
  explicit MemoryBudget(std::int64_t bytes) : bytes_(bytes) {}

  /// The memory of a rank for as long as this lives; waits until there is room.
  class Share {
   public:
    Share(MemoryBudget& budget, const RankInput& rank);
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    MemoryBudget& budget_;
    const std::int64_t bytes_;
  };

 private:
  const std::int64_t bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t taken_ = 0;
};

/// Adds one line that names the kinds of records in raw captures that are not read, and files of
/// unknown kinds; none when there are none. What is missing by that in the results is counted by
/// the readers.
void NoteUnreadRecords(const std::vector<const RankInput*>& inputs,
                       std::vector<std::string>& notes);

namespace raw {
struct Session;
}

/// The number of rows of every table, always in the same order.
std::vector<std::size_t> CountRows(const RankTrace& trace);

/// "host_ops 1234 rows, kernels 1 row": what was added since `before` was counted. Says so when
/// there is nothing.
std::string AddedRows(const std::vector<std::size_t>& before, const RankTrace& trace);

/// The same of all that a raw session holds.
std::string SessionRows(const raw::Session& session);

/// The ranks of the whole job, as the capture says of itself; kMaxRanks where it does not.
std::int64_t WorldSize(const RankInput& input, const RankTrace& trace);

/// Counts in trace.issues what kernel_details.csv lacks according to op_statistic.csv,
/// step_trace_time.csv and the trace. Looks only where nothing else is wrong. Of databases, what
/// does not fit between analysis.db and the profiler database.
void CheckSideFiles(const RankInput& input, const ReadRequest& request, RankTrace& trace);

}  // namespace mpa

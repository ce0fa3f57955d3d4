// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/measure/earlier_time.h"
#include "mpa/model/rank_trace.h"
#include "mpa/model/serving_batch.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/culprits.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/recipe/recipe.h"

namespace mpa::time_summary {

/// What ran beside the account of a step, in ns; the account is the StepLoad at the same place.
struct StepSums {
  std::int32_t step = -1;  ///< -1: the capture has no steps
  bool level_tells =
      false;  ///< a higher level of the profiler tells who waits, where that is unknown
  TimeNs communication = 0;  ///< also what kernels hide
  TimeNs copies = 0;         ///< copies between memories, each by itself
  TimeNs compiling = 0;      ///< of the host, for this step
  ServingBatch batch = {};   ///< of a server
};

inline constexpr std::size_t kMetrics = 10;

/// A step as an earlier run wrote it, with the times in the order of kMetricsOfStep.
struct EarlierStep {
  std::int32_t step = -1;
  std::array<std::optional<TimeNs>, kMetrics> times;
  /// The table defines free time and waits in another way; they are left out.
  bool divided_otherwise = false;
};

struct TimesOfRank {
  bool is_base = false;              ///< of the run that is compared with
  std::vector<EarlierStep> earlier;  ///< without any of the others
  std::vector<StepSums> steps;
  EarlierTime left_out = {};  ///< before the first of them
  RankLoad load;              ///< of the same steps
};

using Ranks = std::vector<OfRank<TimesOfRank>>;

TimesOfRank MapTimes(const RankTrace& trace, const RecipeArguments& arguments);

/// The table of cluster_time_summary, which a later comparison reads.
inline constexpr const char* kSummaryTable = "ClusterTimeSummary";

/// A quantity of a step.
struct Metric {
  const char* name;     ///< of its column
  const char* words;    ///< on the screen
  const char* title;    ///< of its column for people
  const char* meaning;  ///< one sentence
};

enum MetricPlace : std::size_t {
  kStepTime,
  kComputation,
  kExposedCommunication,
  kOverlappedCommunication,
  kCommunication,
  kFree,
  kWait,
  kTransmit,
  kMemory,
  kExposedMemory,
};
extern const std::array<Metric, kMetrics> kMetricsOfStep;

/// A step of a rank. Times are ns; those of waits are empty where they are unknown.
struct StepRow {
  RankId rank{};
  std::int32_t step = -1;
  std::array<std::optional<TimeNs>, kMetrics> times;
};

/// In order of rank and step. `notes` says what is unknown.
std::vector<StepRow> RowsOf(const Ranks& ranks, std::vector<std::string>& notes);

/// The step of the rows that is warm-up, where advisor leaves it out as well.
std::optional<std::int32_t> WarmUpOf(const Ranks& ranks, const std::vector<StepRow>& rows);

/// A step of a rank in both runs, or in one of them.
struct StepPair {
  RankId rank{};
  std::int32_t step = -1;
  const StepRow *comparison = nullptr, *base = nullptr;
};

/// Puts equal steps of equal ranks together. The rows have to outlive the pairs.
std::vector<StepPair> PairSteps(const std::vector<StepRow>& comparison,
                                const std::vector<StepRow>& base, std::vector<std::string>& notes);

}  // namespace mpa::time_summary

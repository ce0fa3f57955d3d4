// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/change/account_change.h"
#include "mpa/change/job_causes.h"
#include "mpa/gate/metric.h"
#include "mpa/model/rank_trace.h"
#include "mpa/settings/settings.h"

namespace mpa::gate {

/// Values of a metric in order of the steps, or one for the whole capture: ns or bytes.
using Samples = std::map<Metric, std::vector<std::int64_t>>;

/// What ran in the median step of a rank, and in its whole capture. Every table counts each piece
/// of time once, under the name of what it is directly part of. Empty where the capture does not
/// tell.
struct Breakdown {
  TimesByName kernels;      ///< device time by name of the kernel
  TimesByName op_types;     ///< device time by type: MatMulV2
  TimesByName operators;    ///< device time of what the framework's operators launched: aten::mm
  TimesByName modules;      ///< device time of what was launched in modules: Linear_0
  TimesByName apis;         ///< host time of the framework's operators without those within
  TimesByName collectives;  ///< exposed communication by kind: allreduce
  TimesByName capture;      ///< parts of e2e: computing, exposed communication, LCCL, free time
  /// Parts of the step: where its device time went by the accounting (measure/accounting.h), by
  /// category and what it was about; see change/account_names.h.
  TimesByName account;
  TimesByName places;  ///< free time by its category and what the host did: "free.gc: ..."
  /// Of servers: parts of what a token takes at the mean, and how many steps there are:
  /// "decode:time_per_token@32: attention".
  TimesByName phases;

  friend bool operator==(const Breakdown&, const Breakdown&) = default;
};

/// How often kernels ran by their type and the shapes of their inputs, as a hash of these.
using ShapeCounts = std::map<std::string, std::int64_t>;

/// One rank of one run, in plain values.
struct RankSummary {
  RankId rank{};  ///< -1: unknown
  std::vector<std::int32_t>
      steps;  ///< the ids of those that are judged; empty: none in the capture
  Samples samples;
  Breakdown breakdown;
  ShapeCounts shapes;
  std::string allocators;  ///< whose memory is the peak: "GE, PTA"; see kAllocators
  /// The longest step, what the rank did longer than usual then, and by how much without waiting.
  std::int32_t long_step = -1;
  std::string long_step_cause;
  TimeNs long_step_excess = 0;
  std::string chip;  ///< "24 cube and 48 vector cores at 1800 MHz"; empty: unknown
  /// Steps in which the device computed, but no kernel is listed although others are: the list is
  /// cut off.
  std::vector<std::int32_t> steps_without_kernels;
};

/// How a run was collected and measured: "profiler_level" -> "Level1". What is not known is not
/// there.
using Facts = std::map<std::string, std::string>;
/// The fact that says which allocators the peak of the memory is of: only that depends on it.
inline constexpr const char* kAllocators = "allocators";

/// One run: its ranks reduced to one. This is what baseline files hold.
struct RunSummary {
  std::string source;  ///< where it came from, for people
  std::vector<std::int32_t> steps;
  Samples samples;
  Breakdown breakdown;  ///< of the rank that decides
  ShapeCounts shapes;
  Facts facts;
  RecordedSettings settings;  ///< of all ranks, without those that differ by nature
  /// Of the longest step, what the rank that it is the fault of did then: by the id of the step.
  std::map<std::int32_t, std::string> long_steps;
  std::optional<JobCauses> causes;  ///< of runs with several ranks; empty: not looked for
  bool is_older = false;  ///< of a baseline that measured some metrics otherwise: they are not here

  friend bool operator==(const RunSummary&, const RunSummary&) = default;
};

/// What to take from a rank.
struct SummaryRequest {
  std::vector<Metric> patterns;  ///< beside those without a pattern
  std::size_t warmup = 0;        ///< leading steps that do not count
  bool modules = false;          ///< whether the breakdown has modules, too
  bool requests = false;         ///< records of servers count, too
};

/// The tables that Summarise() needs for it.
Tables TablesFor(const SummaryRequest& request);

/// Condenses a rank: the steps are separated in one pass, as SelectStep() does for one. Metrics
/// that the capture tells nothing of have no samples; a pattern that no name fits has zeros. A
/// capture without steps has one sample of each metric but step_time.
RankSummary Summarise(const RankTrace& trace, const SummaryRequest& request);

/// The times of the requests of an instance of a server.
RankSummary SummariseServer(const RankTrace& trace);

/// Which rank counts.
enum class RankStat { kWorst, kMedian, kP95 };

/// Puts the ranks of a run together: each sample is the largest, the middle one or the one that 95
/// % do not exceed, of all ranks in that step; the breakdown is that of the rank whose median step
/// is, and whose whole capture is. Steps that not all ranks have do not count. The requests of all
/// instances of a server count alike.
RunSummary ReduceRanks(std::vector<RankSummary> ranks, RankStat stat);

}  // namespace mpa::gate

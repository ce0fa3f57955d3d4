// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/measure/unit_loads.h"
#include "mpa/model/rank_trace.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/report.h"

namespace mpa::recipes::top_operators {

enum class Kind : std::uint8_t {
  kKernel,
  kCommunication,
  kCopy,
  kOperator,
  kQueuedWork,   ///< of the thread that takes work from the task queue
  kRuntimeCall,  ///< of CANN
  kPython,       ///< a Python function
};
constexpr Kind LastOf(Kind) { return Kind::kPython; }
std::string_view NameOf(Kind kind);

/// A counter of kernels: the mean of their calls, of rates by time.
struct CounterMean {
  std::string name;
  double sum = 0, weight = 0;
};

/// The calls of a kernel with its shapes, or of an operator. Times are of the device: of an
/// operator those of the kernels and collectives that it launched itself.
struct Top {
  Kind kind{};
  std::string name;  ///< of the longest call
  std::string type, core, shapes;
  std::int64_t calls = 0;
  TimeNs total = 0, max = 0;
  TimeNs in_steps = 0;                 ///< of the total
  TimeNs host = 0;                     ///< of operators: how long they ran on the host
  TimeNs longest_start = 0;            ///< of the longest call
  std::string launched_by, call_site;  ///< of the longest call; empty: unknown
  std::array<double, 7> loads{};       ///< sums of load x time, by unit as in UnitLoads
  TimeNs measured = 0;                 ///< time of the calls with loads
  TimeNs cache_time = 0;               ///< of the calls whose use of the L2 cache is known
  double cache_hits = 0;               ///< the part of their requests that hit x their time
  std::vector<CounterMean> counters;   ///< other counters, those that were measured
  std::string attributes;              ///< of the operator in the longest call; empty: unknown

  double Mean() const {
    return calls > 0 ? static_cast<double>(total) / static_cast<double>(calls) : 0;
  }
  /// The mean by time.
  UnitLoads Loads() const;
  /// The same, from 0 to 1; empty: unknown.
  std::optional<double> HitRate() const;
  /// "main_mem_read_bw 812.3; l2_victim_rate 0.04"
  std::string CountersText() const;
};

/// What took longer than the threshold.
struct SlowEvent {
  Kind kind{};
  TimeNs start = 0, dur = 0;  ///< on the host but for device work
  std::int64_t thread = -1;   ///< of the host
  bool is_innermost = true;   ///< false: a Python function that holds another of them
  std::int32_t step = -1;     ///< id; -1: none
  std::string name, shapes, launched_by, call_site;
};

struct TopOfRank {
  std::vector<Top> kernels, operators;  ///< those with most time first
  std::vector<SlowEvent> events;        ///< in order of start
  std::int64_t events_left_out = 0;     ///< shorter ones, if there are too many
  TimeNs steps = 0;                     ///< length of the steps on the device
  TimeNs busy = 0;                      ///< sum of `kernels`
  bool has_loads = false, has_python = false, has_shapes = false, is_gpu = false;
};

using Ranks = std::vector<OfRank<TopOfRank>>;

TopOfRank TopOf(const RankTrace& trace, TimeNs over);

/// Those of all ranks together, the ones with most time first. The name and call site are of the
/// longest call.
std::vector<Top> Together(const Ranks& ranks, std::vector<Top> TopOfRank::*list);

}  // namespace mpa::recipes::top_operators

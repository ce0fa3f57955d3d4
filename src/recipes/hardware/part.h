// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/hardware_counters.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/report.h"
#include "tracks.h"

namespace mpa {

constexpr CounterKind LastOf(CounterKind) { return CounterKind::kTotal; }

}  // namespace mpa

/// The counters of one rank: the part of the recipe.
namespace mpa::recipes::hardware {

/// How long kernels of a type ran while a counter was high.
struct Ran {
  std::string type;
  TimeNs time = 0;
};

/// A counter in a step.
struct InStep {
  std::int32_t step = -1;
  double mean = 0, max = 0;
  double grown = 0;  ///< of a total
};

/// What a counter did. Means are weighted by time.
struct Counter {
  CounterName id;
  bool is_main = false;  ///< one of those that stand for their group: see Track
  double limit = -1;     ///< the most that is possible; -1: unknown
  std::int64_t samples = 0;
  double min = 0, mean = 0, p95 = 0, max = 0;
  TimeNs max_time = 0;  ///< begin of the first sample with the most
  std::int32_t max_step = -1;
  double grown = 0;           ///< of a total, in all
  TimeNs high = 0;            ///< how long it was at kHigh of its most or above
  std::vector<Ran> ran = {};  ///< on the device meanwhile, the longest first
  std::vector<InStep> steps = {};
  std::vector<double> over_time = {};  ///< mean of each stretch, see kStretches; -1: no sample

  /// Of the limit; -1: unknown.
  double OfLimit() const { return limit > 0 ? max / limit : -1; }
};

/// From this share of its most on a counter is called high.
inline constexpr double kHigh = 0.9;
/// Stretches of equal length that the time of a rank is divided into.
inline constexpr std::size_t kStretches = 120;

/// A step on the device.
struct Step {
  std::int32_t id = -1;
  TimeNs begin = 0, end = 0;
};

/// Kernels of one type and shape that memory holds up.
struct MemoryKernels {
  std::string type, shapes;
  std::int64_t count = 0;
  TimeNs time = 0;
  double bytes = 0;       ///< of all their tensors, each read or written once; 0: not known
  bool measured = false;  ///< the loads of their units were; false: their rate tells
  double counter = 0;     ///< mean of the memory's counter in their time, bytes per second
  TimeNs counted = 0;     ///< of their time, in which it was sampled
  double of_samples = 0;  ///< how much of the time of these samples they took, 0 to 1

  /// Bytes per second; 0: not known.
  double Rate() const {
    constexpr double kSecond = 1e9;
    return time > 0 ? bytes * kSecond / static_cast<double>(time) : 0;
  }
};

struct RankCounters {
  TimeNs begin = 0, end = 0;  ///< of all samples
  std::vector<Step> steps;
  std::vector<Counter> counters;
  std::int64_t silent = 0;             ///< counters that were 0 all the time, which are left out
  std::vector<MemoryKernels> kernels;  ///< the longest first
  double memory_peak = -1;             ///< of the chip, bytes per second; -1: not known
};

using Ranks = std::vector<OfRank<RankCounters>>;

/// What records counters.
inline constexpr const char* kHowToRecord =
    "collect with sys_io, sys_interconnection or host_sys of the profiler, or msprof"
    " --sys-hardware-mem=on";

/// Measures all counters of a rank.
RankCounters Measure(const RankTrace& trace);

/// Of the tracks that of HBM is asked; nothing without it.
std::vector<MemoryKernels> KernelsBoundByMemory(const RankTrace& trace,
                                                const std::vector<Track>& tracks);

/// The sheets HardwareCounters, HardwareByStep, HardwareWhileHigh, HardwareKernels,
/// HardwareOverTime and, of several ranks, HardwareSpread; and the drawings.
void AddSheets(const Ranks& ranks, Report& report);
void AddDrawings(const Ranks& ranks, Report& report);

/// What the counters reached, what ran then, and which ranks stand out.
void AddLines(const Ranks& ranks, Detail detail, Report& report);

}  // namespace mpa::recipes::hardware

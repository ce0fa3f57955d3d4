// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/model/rank_trace.h"

/// How well the kernels that matter use the units of their cores.
namespace mpa {

/// The sheets: products of matrices, attention, kernels of the vector cores.
enum class PerfFamily : std::uint8_t { kCube, kAttention, kVector };
inline constexpr PerfFamily kPerfFamilies[] = {PerfFamily::kCube, PerfFamily::kAttention,
                                               PerfFamily::kVector};

/// What is said of a kernel. Those of bad shapes are judged by nothing else.
enum class PerfVerdict : std::uint8_t {
  kRoom,   ///< no unit reaches its limit
  kBound,  ///< a unit does
  kShape,  ///< its inner axes do not fit the units
};

/// The calls of one kernel with one set of shapes.
struct PerfRow {
  PerfFamily family = PerfFamily::kCube;
  PerfVerdict verdict = PerfVerdict::kRoom;
  std::string name, type, shapes, types;
  std::string what;  ///< the unit that is nearest to its limit, or the axis that does not fit
  std::int64_t count = 0;
  TimeNs time = 0;
  double room = 0;  ///< how far that unit is from its limit, as a share of the time of the core
};

/// Of each family and verdict the five that matter most: by time, those with room by their room in
/// it.
std::vector<PerfRow> KernelPerformance(const RankTrace& trace);

}  // namespace mpa

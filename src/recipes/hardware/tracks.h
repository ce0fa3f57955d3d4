// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/rank_trace.h"

/// The counters of a rank, and what is computed of several.
namespace mpa::recipes::hardware {

struct CounterName {
  std::string group{}, name{}, part{}, unit{};
  CounterKind kind{};
  bool of_host = false;

  /// "HBM 2 read", "RoCE port 0 rx", "CPU Usage".
  std::string Label() const;
};

struct Sample {
  TimeNs start = 0, dur = 0;
  double value = 0;

  TimeNs End() const { return start + dur; }
};

/// A counter over time. Of a group with several parts the sum, or else the part that reaches most,
/// is the main one; so is what a memory reads and writes together.
struct Track : CounterName {
  double limit = -1;
  bool is_main = false;
  std::vector<Sample> samples{};
};

/// All tracks, those of memories and links first. Clocks of the cores are among them.
std::vector<Track> TracksOf(const RankTrace& trace);

/// The part that stands for the sum of the others.
inline constexpr const char* kAllParts = "all";
/// What a memory reads and writes together.
inline constexpr const char* kReadAndWrite = "read and write";

}  // namespace mpa::recipes::hardware

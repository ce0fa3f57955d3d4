// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/collectives/clock_line.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"
#include "mpa/report/palette.h"

/// What a rank did, as slices on tracks: the content of the timelines that trace viewers open.
namespace mpa {

/// What a track shows; the number orders the tracks of a rank.
enum class TrackKind : std::uint8_t {
  kSteps,
  kFindings,
  kThread,
  kQueue,
  kSystemCalls,   ///< of a thread
  kLocks,         ///< that a thread waits for and holds
  kFunctions,     ///< of a thread, with what was counted of their caches
  kThreadStates,  ///< what the scheduler of the operating system says of a thread
  kInterrupts,    ///< of a core of the host
  kRanges,        ///< that the program marked, on the device
  kStream,
  kGroup
};

struct SliceTrack {
  TrackKind kind{};
  std::int64_t number = 0;  ///< of the thread, the stream or the group
  std::string name;         ///< "thread 4711", "stream 2", "group dp"
};

/// Where the window cut a slice; bits.
enum SliceCut : std::uint8_t { kCutBegin = 1, kCutEnd = 2 };

/// Times are those of the job's clock. Texts are positions in RankSlices::texts.
struct Slice {
  TimeNs start = 0, end = 0;
  std::uint32_t name = 0;
  std::uint32_t type = 0, shapes = 0;  ///< of a kernel; 0: none
  std::uint32_t track = 0;
  std::uint8_t cut = 0;
  Tint tint{};  ///< what the device did; of the host none
};

/// From the moment on a thread of the host in which work was launched to a slice of the device.
struct Arrow {
  std::uint32_t slice = 0;
  std::uint32_t track = 0;  ///< of the thread
  TimeNs time = 0;
};

/// A counter of the hardware. Each value holds until the next.
struct CounterTrack {
  std::string name;  ///< "HBM 0 read"
  std::string unit;  ///< "B/s"; empty: a number without unit
  std::vector<std::pair<TimeNs, double>> values;
};

/// The slices of one track nest: one that begins within another ends there, too.
struct RankSlices {
  RankId rank{};
  TimeNs host_offset = 0;          ///< how far the host's clock is ahead of the device's
  std::optional<Interval> window;  ///< that was wanted, on the clock of the job
  std::vector<std::string> texts = {""};
  std::vector<SliceTrack> tracks;
  std::vector<Slice> slices;  ///< by track, in order of start, the outer ones first
  std::vector<Arrow> arrows;
  std::vector<CounterTrack> counters;
  std::size_t moved = 0;     ///< slices on tracks beside theirs, because they overlap others
  std::size_t left_out = 0;  ///< slices that were shorter than those that are kept
};

struct SliceRequest {
  ClockLine clock;                   ///< of the rank's device to that of the job
  std::optional<Interval> window;    ///< on the clock of the job
  std::optional<std::int32_t> step;  ///< with what the host did in it
  std::vector<StepWindow> steps;     ///< of the rank
  bool python = false;               ///< also the functions of Python
};

/// The tables that SlicesOf() reads; `python`: see SliceRequest.
Tables SliceTables(bool python);

/// The slices that lie in the window or reach into it; they are cut there. Throws Error (kInput)
/// when the rank has no such step.
RankSlices SlicesOf(const RankTrace& trace, const SliceRequest& request);

/// Puts slices in order. Those that overlap others of their track without lying within them go to
/// tracks beside it. Arrows stay with their slices.
void NestSlices(RankSlices& rank);

/// The arrows with a slice around both of their ends; others bind to nothing.
std::vector<Arrow> BoundArrows(const RankSlices& rank);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/time.h"

namespace mpa {

/// What spans of one colour are. What has cells is a row of the table below the picture, the others
/// are in its legend.
struct TimelineKind {
  std::string colour;   ///< as CSS has it: "var(--free)"
  std::string meaning;  ///< the title of its row, or what the legend says
  std::vector<std::string> cells{};
};

struct TimelineSpan {
  TimeNs begin = 0, end = 0;
  std::size_t kind = 0;  ///< position in Timeline::kinds
  std::string name;      ///< shown where the pointer rests, with the times
  std::string label;     ///< within the span, if there is room
};

struct TimelineLane {
  std::string title;
  std::vector<TimelineSpan> spans{};
};

/// A moment that crosses all lanes.
struct TimelineMark {
  TimeNs time = 0;
  std::string label;
  bool is_guess = false;
};

/// From who waits to whom it waits for.
struct TimelineArrow {
  std::size_t from = 0, to = 0;  ///< lanes
  TimeNs begin = 0, end = 0;     ///< of the wait
  std::string label;
};

/// What happened in one window of time, as lanes of spans.
struct Timeline {
  std::string title{}, text{};  ///< heading, and the sentences below it
  TimeNs begin = 0, end = 0;
  std::vector<TimelineKind> kinds{};
  std::vector<TimelineLane> lanes{};  ///< from top to bottom; spans are cut to the window
  std::vector<TimelineMark> marks{};
  std::vector<TimelineArrow> arrows{};
  std::vector<std::string> headers{};  ///< of the table of kinds

  /// Begins a lane below the others.
  void Lane(std::string name) { lanes.push_back({std::move(name)}); }
  /// Adds to the last lane.
  void Add(TimelineSpan span) { lanes.back().spans.push_back(std::move(span)); }
};

}  // namespace mpa

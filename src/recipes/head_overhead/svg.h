// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "mpa/measure/intervals.h"

namespace mpa::head {

/// Text within HTML or SVG, whatever it holds.
std::string Escaped(std::string_view text);

/// "1234.5" microseconds.
std::string UsText(TimeNs time);

/// Lanes of bars over a time axis, as an SVG element.
class TimeChart {
 public:
  explicit TimeChart(const Interval& window) : window_(window) {}

  /// Begins a lane below those before it.
  void Lane(std::string_view title);
  /// A bar in the lane; cut to the window, left out when it lies beyond. The hint is shown where
  /// the pointer rests.
  void Bar(const Interval& time, std::string_view colour, std::string_view label,
           std::string_view hint);
  /// A line through all lanes; dashed where the time is a guess.
  void Mark(TimeNs time, std::string_view label, bool is_guess);
  /// Never smaller than its texts can be read: a narrow window scrolls it.
  std::string Svg() const;

 private:
  double X(TimeNs time) const;
  std::string Axis() const;

  Interval window_;
  int lanes_ = 0;
  std::string body_, marks_;
};

}  // namespace mpa::head

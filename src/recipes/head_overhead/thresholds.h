// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mpa::head {

/// From where on something is worth advice. The defaults are proposals that no measurement backs.
struct Thresholds {
  double segment_share = 20;      ///< % of the head: a segment matters from there
  double segment_step_share = 5;  ///< % of the step, likewise
  double exposed_step_share = 1;  ///< % of the step: below, the head is hidden by device work
  double lookup_us = 300;         ///< p50 of Dynamo's lookup
  double calls_per_region = 4;    ///< more are a piecewise compiled model
  double built_tensors = 8;       ///< for each call
  double built_us = 50;           ///< for each call
  double contiguous_us = 20;      ///< for each call
  double outlier_ratio = 5;       ///< p90 of the head to its p50
};

/// A threshold by its name on the command line.
struct ThresholdName {
  std::string_view name;
  double Thresholds::*value;
};
const std::vector<ThresholdName>& AllThresholds();

/// Sets what "name=value,name=value" says; returns what is wrong with the text, or nothing.
std::string SetThresholds(std::string_view text, Thresholds& thresholds);

}  // namespace mpa::head

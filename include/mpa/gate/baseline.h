// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mpa/gate/run_summary.h"

namespace mpa::gate {

/// The oldest baseline of a row of updates, in one value for each metric.
struct Anchor {
  std::string created, tool_version;
  std::map<std::string, std::int64_t, std::less<>> medians;

  friend bool operator==(const Anchor&, const Anchor&) = default;
};

/// What is kept of one or more runs to compare with later: kilobytes instead of gigabytes.
struct Baseline {
  std::string created;  ///< "20261231235959", UTC
  std::string tool_version;
  std::vector<RunSummary> runs;
  std::optional<Anchor> anchor;

  friend bool operator==(const Baseline&, const Baseline&) = default;
};

/// The document of a baseline file; docs/gate.md describes it.
nlohmann::json BaselineToJson(const Baseline& baseline);
/// Throws Error (kCorrupt) that names the member.
Baseline BaselineFromJson(const nlohmann::json& document);
/// The value of "kind" of such documents, by which they are told from captures.
inline constexpr const char* kBaselineKind = "msprof-analyze-baseline";

/// The anchor of `old`, or `old` itself as one: what the baseline that replaces it keeps.
Anchor AnchorOf(const Baseline& old);

/// Standard deviations of runs of one program as a part of their median (0.003), by name of the
/// metric.
using NoiseFloors = std::map<std::string, double, std::less<>>;

/// Learned from runs of the same program, at least three. A metric that is 0 has no noise to learn.
NoiseFloors LearnNoise(const std::vector<RunSummary>& runs);

/// What is usual where nothing was learned, as it was measured on identical runs: 0.003 of a step,
/// 2.19 of free time, 0.11 of communication, copies and patterns whose time is below a hundredth of
/// the step (`share` is the metric's part of it).
double UsualNoise(const Metric& metric, double share);

/// The document that --noise reads. Throws Error (kCorrupt) that names the member.
nlohmann::json NoiseToJson(const NoiseFloors& floors, const std::string& tool_version,
                           std::size_t runs);
NoiseFloors NoiseFromJson(const nlohmann::json& document);

}  // namespace mpa::gate

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/report/amount.h"
#include "mpa/report/change_tree.h"
#include "mpa/settings/differences.h"

namespace mpa {

enum class GateVerdict : std::uint8_t {
  kOk,
  kImproved,
  kRegression,
  kUndecided,      ///< above its limit, but not above a floor, the noise or chance
  kInconclusive,   ///< too few samples, or the metric is not there
  kNotComparable,  ///< the two sides were not collected alike
};

/// "ok", "regression", "not_comparable": stable words for programs.
std::string_view VerdictName(GateVerdict verdict);
/// "NOT COMPARABLE", in the language of the process: lines for people begin with it.
std::string_view VerdictWord(GateVerdict verdict);

/// Growth from step to step, in percent of the value per step. Where both sides have the same, it
/// is taken off: the values are those in the middle of the run. Where it differs, nothing is.
struct GateDrift {
  double base = 0, comparison = 0;
  bool differs = false;
  double change_at_end = 0;  ///< percent of the base, in the last step
};

/// Leading steps that are left out as warm-up on both sides.
struct GateWarmup {
  std::size_t steps = 0;
  double base = 0, comparison = 0;  ///< the slowest of them as a multiple of the later ones
  bool in_base = false, in_comparison = false;  ///< where they were recognised

  friend bool operator==(const GateWarmup&, const GateWarmup&) = default;
};

/// One metric judged. Values are ns or bytes.
struct GateMetric {
  std::string name;  ///< "step_time", "op:MatMul*"
  Quantity quantity{};
  GateVerdict verdict{};
  std::int64_t base = 0, comparison = 0;  ///< medians
  std::string limit;                      ///< "3 % and 200.0 us"; empty: watched only
  /// Standard deviation of a run's value; with fewer than four runs of the change.
  double noise = 0;
  /// A fall up to this may be luck of a few runs, and is not saved as a baseline.
  double luck = 0;
  std::optional<GateDrift> drift;  ///< empty: none is clear
  /// Probability of values as high as these without a change; empty where there are too few runs.
  std::optional<double> probability;
  bool low_confidence = false;  ///< fewer than three runs on a side
  std::string reason;           ///< why the verdict is not what the difference suggests
  /// Verdict and numbers in one line, without the cause; of what could not be decided the reason.
  std::string line;
  std::vector<std::int64_t> base_runs, comparison_runs;  ///< the median of each run
  std::optional<std::int64_t> anchor;  ///< the value in the oldest baseline, if that is known

  /// False where a side has no value: `base` and `comparison` say nothing then.
  bool IsMeasured() const {
    return verdict != GateVerdict::kInconclusive || !(base_runs.empty() || comparison_runs.empty());
  }
  std::int64_t Change() const { return comparison - base; }
  /// Empty when the base is 0.
  std::optional<double> ChangePercent() const;
};

/// Something by which two captures differ in how they were collected.
struct GateMismatch {
  std::string field, base, comparison;
  bool allowed = false;
};

/// Characters of a headline that is read by programs line by line.
inline constexpr std::size_t kShortHeadline = 100;

/// What a gate found.
struct GateReport {
  GateVerdict verdict{};
  int exit_code = 0;
  bool partial = false;                       ///< parts of the input were broken and left out
  std::string headline;                       ///< the verdict with its cause, one line
  std::string short_headline;                 ///< the same in kShortHeadline characters at most
  std::vector<std::string> base, comparison;  ///< the captures, as they were given
  std::vector<GateMetric> metrics;
  std::optional<GateWarmup> warmup;
  std::string hint;  ///< what to try for a clearer verdict; empty: nothing
  std::vector<GateMismatch> mismatches;
  ComparedSettings settings;
  /// What the metric that decided is made of; its name is that of the metric. No children: the
  /// metric has no parts.
  ChangeNode change;
  /// Of jobs: what slows them down over all their ranks, and how that has changed. No children: it
  /// is not known, or nothing of it has.
  ChangeNode causes;
  /// Operators of the framework by the device work they launched, the largest change first.
  std::vector<ChangeNode> operators;
  /// Where free time grew: what the host did longer while the device had nothing to do, the largest
  /// growth first, without noise. Where a baseline does not tell, the framework's operators by the
  /// host time that they themselves took longer.
  std::vector<ChangeNode> host_calls;
  std::vector<std::string> added, removed;  ///< operators that one side alone has
  std::vector<std::string> notes;

  /// The metric that the headline tells: the first one with the verdict of all. Null: none was
  /// judged.
  const GateMetric* Leading() const;
};

/// A dot for each run of each metric, with limits and noise.
PageChart RunsChart(const GateReport& gate);

/// What the lines of reports say of it.
std::string WarmupText(const GateWarmup& warmup);
std::string DriftText(const GateDrift& drift);

}  // namespace mpa

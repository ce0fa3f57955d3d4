// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/gate/baseline.h"
#include "mpa/gate/metric.h"
#include "mpa/report/gate_report.h"
#include "mpa/report/report.h"

namespace mpa::gate {

/// What has to hold for a gate to pass.
struct GateSettings {
  std::vector<Rule> rules;
  /// Floors that hold whatever is measured. Empty: the defaults, which scale with the metric.
  std::optional<std::int64_t> min_abs_ns, min_abs_bytes;
  std::optional<double> min_share;  ///< percent of the step
  std::size_t min_steps = 3;        ///< in each run
  /// Leading steps that do not count, which the runs are without already. Empty: Judge() leaves out
  /// what it recognises as warm-up.
  std::optional<std::size_t> warmup;
  bool fail_on_new_op = false;
  std::set<std::string> allowed_mismatches;
  NoiseFloors learned_noise;
};

/// How to treat verdicts.
struct GatePolicy {
  enum class Inconclusive { kPass, kWarn, kFail };
  Inconclusive on_inconclusive = Inconclusive::kFail;
  bool warn_only = false;  ///< a regression is reported, but fails nothing
  bool strict = false;     ///< what is undecided fails as a regression does
};

/// Judges the runs: verdict, headline, metrics, mismatches and what explains the difference.
/// Both sides have a run at least. Exit code and captures are left to the caller.
GateReport Judge(const GateSettings& settings, std::vector<RunSummary> base,
                 std::vector<RunSummary> comparison, const std::optional<Anchor>& anchor);

/// Where parts of the input were lost: nothing is OK or improved, but inconclusive, in all that is
/// said. Regressions stay: they may be larger. Sets `partial`.
void HoldBackVerdicts(GateReport& report);

/// 0 passed, 1 regression, 4 undecided, inconclusive or not comparable, 5 judged on partial data:
/// whatever the policy, that is never 0 or 1, because parts that are missing can hide or make a
/// change.
int GateExitCode(GateVerdict verdict, bool partial, const GatePolicy& policy);

/// Why these runs do not replace the baseline; empty: something improved by more than luck, and
/// nothing that is judged grew by as much.
std::string WhyBaselineStays(const GateReport& report);

/// True where these runs are added to the baseline that judged them: it has fewer than ten, they
/// passed, and no metric changed by more than luck. So it becomes the median of ten runs, of which
/// those that were chosen because they were better are few, and knows by how much runs differ.
bool FillsBaseline(const GateReport& report, const std::vector<RunSummary>& base,
                   const std::vector<RunSummary>& runs);

/// The report of a gate: the sheets Metrics, Explanation and Mismatches for tables, and the whole
/// of it for the writers that show a gate in a form of their own. Notes are the gate's.
Report ReportOf(GateReport gate);

/// Adds what a document of --gate says to the settings:
/// {"metrics": [{"metric": "step_time", "limit": "+3%", "min_abs": "1ms", "min_share": "0.5%"}],
///  "min_abs": "20us,1MB", "min_share": "0.1%", "min_steps": 3, "warmup": 1}
/// Throws Error (kUsage) that names the member; unknown ones are errors, too.
void ApplyGateFile(const nlohmann::json& document, GateSettings& settings);

/// The floors that "20us", "16MB" or both with a comma between them name. Throws Error (kUsage).
void ApplyMinAbs(std::string_view text, GateSettings& settings);
/// "0.5%". Throws Error (kUsage).
double ParseMinShare(std::string_view text);

}  // namespace mpa::gate

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/change/account_change.h"
#include "mpa/pipeline/cluster.h"
#include "mpa/report/report.h"
#include "mpa/settings/differences.h"

namespace mpa {

/// A finding that is new, gone or has grown since another run.
struct FindingChange {
  std::string_view what;  ///< "new", "gone", "grown"
  std::string key;
  std::int64_t before = 0, now = 0;  ///< gains, ns
};

struct FindingChanges {
  /// What the step of a rank that both runs have is made of, by categories: of the rank whose step
  /// takes longest. Without children: no rank has one.
  ChangeNode step;
  ChangeNode causes;  ///< of the job, over all its ranks; without children: none has changed
  ComparedSettings settings;
  std::vector<FindingChange> rows;
  /// Findings of now that the earlier document does not have, but may have lost when it was cut.
  std::size_t untold = 0;
};

/// The document of an earlier run. Throws Error (kCorrupt) for anything else.
nlohmann::json ReadEarlierDiagnosis(const std::string& path);

/// Findings are the same when their keys are; one has grown when it costs `grown` times what it
/// cost.
FindingChanges ChangesOf(const nlohmann::json& before, const nlohmann::json& now, double grown);

/// Lines of at most `width` columns for what the step is made of and the settings that differ, then
/// one for each finding.
std::vector<std::string> LinesOf(const FindingChanges& changes, std::size_t width);
nlohmann::ordered_json ChangesJson(const std::vector<FindingChange>& changes);
nlohmann::ordered_json SettingChangesJson(const ComparedSettings& compared);
nlohmann::ordered_json StepChangeJson(const ChangeNode& step);
nlohmann::ordered_json CauseChangesJson(const ChangeNode& causes);

/// Adds the sheets "Kernel compare of ..." and "Api compare of ..." of the Python tool: the rank
/// that lost most against the benchmark in kernels, and the one that lost most free time, beside
/// their own captures there. Both documents are diagnoses (schema mpa.diagnosis/1) with all
/// accounts. Captures of single ranks are compared whatever their numbers. What cannot be compared
/// is told in the notes.
void AddBenchmarkSheets(const ClusterRequest& target, const nlohmann::json& diagnosis,
                        const ClusterRequest& benchmark, const nlohmann::json& benchmark_diagnosis,
                        Report& report);

}  // namespace mpa

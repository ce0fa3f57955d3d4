// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "advisor_baseline.h"
#include "agent.h"
#include "cluster_output.h"
#include "mpa/diagnosis/timeline_plan.h"
#include "mpa/pipeline/cluster.h"
#include "mpa/pipeline/parts.h"

/// What `advisor` prints and writes.
namespace mpa {

/// All findings, whatever the printed document leaves out.
nlohmann::json WholeOf(const Report& report);

/// True if a fault has the severity of --fail_on or a higher one.
bool FailsOn(const std::string& fail_on, const nlohmann::json& document);

/// The document with what only the command knows. The changes are left out, and counted, where the
/// document would become longer than `most` bytes; 0: of any length.
std::string DocumentText(const ClusterOutcome& outcome,
                         const std::optional<FindingChanges>& changes, std::size_t most);

/// The findings as rows, or of one that is explained its numbers and places.
void TellDiagnosis(const Report& report, const RecipeArguments& arguments, AgentAnswer& answer);

/// What the command writes, as the Python tool does: <output>/log/mstt_advisor_<time>.xlsx, and
/// beside `log` a page and the list for tuning tools.
struct AdvisorPlaces {
  std::filesystem::path folder, log;
};

/// Makes the directories, before the long work starts. `output`: of -o; empty: the current one.
AdvisorPlaces PrepareOutputs(const std::string& output, bool tables, NewDirectories& directories);

void WriteTables(const AdvisorPlaces& places, const Report& report);

/// Writes the step in which the finding costs most. Gives whether ranks or parts of them had to be
/// left out.
bool WriteTimeline(const std::filesystem::path& folder, const TimelinePlan& plan,
                   ClusterRequest request);

/// Makes the report of the parts of a job; see RunAdvisor(). Gives the exit code.
int MergeAdvisor(PartSet set, const std::string& output, bool json, Agent& agent);

}  // namespace mpa

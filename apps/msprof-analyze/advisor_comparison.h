// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "mpa/pipeline/cluster.h"
#include "mpa/report/report.h"

namespace mpa {

/// Adds the sheets "Kernel compare of ..." and "Api compare of ..." of the Python tool: the rank
/// that lost most against the benchmark in kernels, and the one that lost most free time, beside
/// their own captures there. Both documents are diagnoses (schema mpa.diagnosis/1) with all
/// accounts. Captures of single ranks are compared whatever their numbers. What cannot be compared
/// is told in the notes.
void AddBenchmarkSheets(const ClusterRequest& target, const nlohmann::json& diagnosis,
                        const ClusterRequest& benchmark, const nlohmann::json& benchmark_diagnosis,
                        Report& report);

}  // namespace mpa

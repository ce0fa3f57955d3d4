// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "findings.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/report.h"

namespace mpa::recipes::serving_requests {

void AddSheets(const Scene& scene, const std::vector<Finding>& findings, Report& report);
/// What was found, in a screen of lines; with `all` every group and finding, however many.
void AddLines(const Scene& scene, const std::vector<Finding>& findings, bool all, Report& report);

}  // namespace mpa::recipes::serving_requests

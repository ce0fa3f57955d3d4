// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/report/report.h"

namespace mpa {

/// Appends what a recipe found in a group of captures: its answer below its name, its rows with the
/// name in one more column, its files with the name in front of theirs.
void JoinGroup(const std::string& group, Report of_group, Report& report);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mpa/report/report.h"

namespace mpa::writers {

/// The summary of a report that has none of its own: what the screen says, with the cells that its
/// numbers come from, the sheets, and what to keep in mind. Empty for reports that say nothing,
/// such as workbooks of single ranks, whose sheets the Python tool's users read by position.
std::optional<WorkbookSummary> SummaryOf(const Report& report, std::string title);

}  // namespace mpa::writers

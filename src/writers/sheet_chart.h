// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "mpa/report/report.h"

namespace mpa::writers {

/// The drawing of a chart that the sheet declares; none where it has fewer than two labels with a
/// number, or lacks columns.
std::optional<PageChart> DrawnChart(const Sheet& sheet, const Chart& chart);

}  // namespace mpa::writers

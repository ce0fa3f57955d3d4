// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpa::writers {

/// What people call a column that a chart draws, in the language of the process: "rank" of
/// "rank_id", "first quartile" of "q1ns". Without the unit, which the axis has. Tables keep the
/// names of their columns.
std::string ChartWords(const std::string& key);

}  // namespace mpa::writers

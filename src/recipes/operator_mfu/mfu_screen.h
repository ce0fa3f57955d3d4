// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/recipe/make_recipe.h"
#include "mpa/report/amount.h"
#include "part.h"

namespace mpa {

/// "peak 353.9 TFLOPS with FP16 (24 cores at 1800 MHz)".
std::string ChipText(const ChipPeak& chip);
/// "35.7 %", "-" where it is not known.
std::string PercentText(const std::optional<double>& ratio);

/// The heading of the table of wastes, and its rows.
std::string WasteHeading(std::string_view unit);
std::string WasteLine(const MfuWaste& waste, const AmountScale& scale);

/// The summary of a rank ("rank 3") as lines for the screen.
std::vector<std::string> MfuScreen(std::string_view rank, const MfuSummary& summary);

/// The summaries of several ranks as lines for the screen: the spread of their utilisation, of what
/// has none of operations per second; what wastes most on all of them; the ranks that stand out.
std::vector<std::string> MfuSpreadScreen(const std::vector<OfRank<MfuSummary>>& ranks);

}  // namespace mpa

namespace mpa::operator_mfu {

/// Adds the sheets OperatorMFU (kernels), ModuleMFU, MFUSummary and MFUWaste; with `compat` the
/// first two, with the columns that the Python tool has.
void AddSheets(const std::vector<OfRank<Part>>& parts, bool compat, Report& report);

}  // namespace mpa::operator_mfu

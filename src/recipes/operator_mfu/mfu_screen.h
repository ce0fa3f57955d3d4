// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mfu_summary.h"
#include "mpa/report/amount.h"

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

}  // namespace mpa

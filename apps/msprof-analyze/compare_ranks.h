// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "export_options.h"
#include "mpa/pipeline/compare.h"
#include "mpa/pipeline/pair_ranks.h"

/// From pairs of captures to the screen and the files of `compare`.
namespace mpa {

class Agent;

/// Where the sheets go.
struct SheetsDelivery {
  const ExportOptions& exports;
  Agent& agent;
  std::vector<ExportType> types;
  std::filesystem::path output;
  std::string base, comparison;  ///< paths as they were given
  bool compat = false;
  OpenOptions open;
  bool asked = false;  ///< for sheets by their names: what they lack is a warning
};

/// Compares the first of the pairs, and says which. `request` lacks the captures. Gives the exit
/// code.
int CompareOneRank(CompareRequest request, CapturePairs ranks, const SheetsDelivery& delivery);

/// Compares all of them. Each has its files; the screen shows their totals, and what changed in the
/// rank that changed most. A rank that cannot be read is left out.
int CompareAllRanks(CompareRequest request, CapturePairs ranks, const SheetsDelivery& delivery);

}  // namespace mpa

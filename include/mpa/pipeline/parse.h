// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mpa/capture/capture.h"

namespace mpa {

struct ParseRequest {
  std::filesystem::path path;  ///< one raw capture, or a directory of many
  ChosenCaptures chosen{};     ///< of several that were given: below `path` these alone
  /// Where a directory for each capture is made; empty: the results go into the captures.
  std::optional<std::filesystem::path> output;
  bool text = true, database = true;  ///< what is written
  bool replace = false;               ///< results that are there are replaced; else they are kept
};

struct ParseOutcome {
  std::vector<std::filesystem::path> written;  ///< the ASCEND_PROFILER_OUTPUT directories
  std::vector<std::string> notes;              ///< what had to be left out, what is not read
  bool partial = false;
};

/// Reads raw captures and writes what the profiler's own parser would have left of them; each
/// result appears whole or not at all. A capture that cannot be read is a note while others can.
/// Throws Error: kInput when there is nothing to read, kUsage when results are there already.
ParseOutcome Parse(const ParseRequest& request);

}  // namespace mpa

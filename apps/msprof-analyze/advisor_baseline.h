// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mpa {

/// A finding that is new, gone or has grown since another run.
struct FindingChange {
  std::string_view what;  ///< "new", "gone", "grown"
  std::string key;
  std::int64_t before = 0, now = 0;  ///< gains, ns
};

struct FindingChanges {
  std::vector<FindingChange> rows;
  /// Findings of now that the earlier document does not have, but may have lost when it was cut.
  std::size_t untold = 0;
};

/// The document of an earlier run. Throws Error (kCorrupt) for anything else.
nlohmann::json ReadEarlierDiagnosis(const std::string& path);

/// Findings are the same when their keys are; one has grown when it costs `grown` times what it
/// cost.
FindingChanges ChangesOf(const nlohmann::json& before, const nlohmann::json& now, double grown);

std::vector<std::string> ChangeLines(const FindingChanges& changes, bool chinese);
nlohmann::ordered_json ChangesJson(const std::vector<FindingChange>& changes);

}  // namespace mpa

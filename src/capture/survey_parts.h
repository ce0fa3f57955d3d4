// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/capture/survey.h"

namespace mpa {

/// Each function adds the facts from its kind of file.
void SurveyText(const RankInput& input, RankFacts& facts);
void SurveyDb(const RankInput& input, RankFacts& facts);
void SurveyKineto(const RankInput& input, RankFacts& facts);
/// The PROF_* and FRAMEWORK directories: the only contents of a capture that was not parsed, and
/// the source of hosts and devices for other captures.
void SurveyRaw(const RankInput& input, RankFacts& facts);

/// Finds profiler_info*.json or profiler_config.json where Discover() did not look, and versions.
void SurveySettings(const RankInput& input, RankFacts& facts);

/// The total number of ranks in the groups of a job, from its "parallel_group_info".
std::optional<std::int64_t> WorldSize(const nlohmann::json& parallel_group_info);

/// Settings and sizes that make the capture misleading.
void WarnOfCollection(RankFacts& facts);
/// Ranks that two captures claim, captures without a rank.
void WarnOfRanks(Survey& survey);
/// What the logs of dynamic profiling say that lie in directories "log" below the path, in
/// directories of it, and beside the captures.
void WarnOfDynamicProfile(Survey& survey);

inline Recorded YesIf(bool condition) { return condition ? Recorded::kYes : Recorded::kNo; }

inline void AddDevice(std::int64_t id, RankFacts& facts) {
  auto& devices = facts.devices;
  if (id < 0 || std::ranges::find(devices, id) != devices.end()) return;
  devices.insert(std::upper_bound(devices.begin(), devices.end(), id), id);
}

/// Runs `body`; a broken file becomes a warning.
template <typename Body>
void OrWarn(RankFacts& facts, const char* consequence, Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const Error& error) {
    facts.warnings.push_back({"broken_file",
                              Say("{}; {}", error.what(), Translated(consequence)),
                              "copy the capture again, or parse it again",
                              {}});
  }
}

}  // namespace mpa

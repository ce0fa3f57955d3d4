// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "mpa/settings/settings.h"

namespace mpa {

/// Adds the switches of the profiler, from the two parts of its configuration.
void AddProfilerSwitches(const nlohmann::json& common, const nlohmann::json& experimental,
                         RecordedSettings& settings);

/// Adds the versions of software that a document states: members such as "cann_version".
void AddVersions(const nlohmann::json& document, RecordedSettings& settings);

/// Adds the settings among the members of a trace of torch.profiler beside its events.
void AddTraceMembers(const nlohmann::json& members, RecordedSettings& settings);

}  // namespace mpa

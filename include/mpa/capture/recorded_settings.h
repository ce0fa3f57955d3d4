// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "mpa/io/sqlite.h"
#include "mpa/settings/settings.h"

namespace mpa {

/// The table META_DATA of a database as one object, which is what profiler_metadata.json of a text
/// capture is; empty without the table. Throws Error (kCorrupt) when the database is broken.
nlohmann::json ReadMetaData(const io::Database& database);

/// Adds the settings in such an object: variables, versions, and what the program said of itself.
/// An object is taken apart: {"model": {"layers": 2}} is "model.layers". What the profiler keeps
/// there for itself, such as the groups of the job, is left out; so is anything but an object.
void AddMetadata(const nlohmann::json& document, RecordedSettings& settings);

}  // namespace mpa

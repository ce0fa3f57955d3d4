// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "mpa/raw/session.h"

/// Writes what the profiler's own parser would have left of a raw capture, with its names, columns
/// and units, so that any tool for parsed captures can open it.
namespace mpa::profiler_output {

/// trace_view.json, the tables (.csv) and communication*.json. `directory` exists.
void WriteText(const raw::Session& session, const std::filesystem::path& directory);

/// ascend_pytorch_profiler_<rank>.db and analysis.db. `directory` exists.
void WriteDatabases(const raw::Session& session, const std::filesystem::path& directory);

}  // namespace mpa::profiler_output

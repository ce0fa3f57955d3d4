// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "mpa/raw/session.h"

namespace mpa::profiler_output {

/// analysis.db: how the steps went, and what the collectives moved.
void WriteAnalysisDatabase(const raw::Session& session, const std::filesystem::path& path);

}  // namespace mpa::profiler_output

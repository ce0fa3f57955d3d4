// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "framework_clock.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// Fills python from torch.python_tracer_func and torch.python_tracer_hash. Calls that have not
/// returned end with the last event of their thread.
void ReadPythonCalls(const std::filesystem::path& directory, const FrameworkClock& clock,
                     Session& part);

}  // namespace mpa::raw

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace mpa {

/// True for a database of msmonitor, which is written while a program runs: nothing was parsed, and
/// the settings of profilers do not concern it.
bool IsOfMonitor(const std::filesystem::path& database);

}  // namespace mpa

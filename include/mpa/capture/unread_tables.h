// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mpa {

/// The tables of the capture's profiler database that have rows and that nothing reads, in
/// alphabetical order; none where there is no database, or it cannot be read.
std::vector<std::string> UnreadTables(const std::filesystem::path& capture);

}  // namespace mpa

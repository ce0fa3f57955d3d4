// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mpa::test {

/// The rows of a query as "a|b|c", NULL as "NULL".
std::vector<std::string> DatabaseRows(const std::filesystem::path& path, const std::string& sql);

}  // namespace mpa::test

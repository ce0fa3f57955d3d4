// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpa::query {

/// Throws Error (kUsage) for what SQLite says of a statement; of an unknown name with the nearest
/// one of a table, column or function.
[[noreturn]] void FailWithNearest(const std::string& message, std::string_view sql);

}  // namespace mpa::query

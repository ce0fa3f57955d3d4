// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "slices.h"

/// Device files that are lines of text: a header, then samples of columns between blanks.
namespace mpa::raw {

using Columns = std::span<const std::string_view>;

/// Calls read(columns) for each sample in the slices of `stem`. Lines for which it returns false,
/// and a last line that does not end, are counted. The first line is skipped where the beginning of
/// the data was removed.
void ForEachSampleLine(const DataFiles& files, std::string_view stem, Issues& issues,
                       const std::function<bool(Columns)>& read);

/// "176168:476067240" (seconds and nanoseconds) or nanoseconds alone; nothing for other text.
std::optional<std::int64_t> DeviceTime(std::string_view text);

}  // namespace mpa::raw

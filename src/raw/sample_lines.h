// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mpa/model/issues.h"
#include "slices.h"

/// Files of samples that are lines of text.
namespace mpa::raw {

using Columns = std::span<const std::string_view>;

/// The columns of a line, which stand between blanks. There are more than any kind has; the text
/// after them is not split.
inline constexpr std::size_t kMaxColumns = 64;
void Split(std::string_view line, std::vector<std::string_view>& columns);

/// A whole number that is not negative.
std::optional<std::int64_t> CountIn(std::string_view text);

/// Calls read(line) for each line in the slices of `stem`. Lines for which it returns false, and a
/// last line that does not end, are counted. The first line is skipped where the beginning of the
/// data was removed.
void ForEachLine(const DataFiles& files, std::string_view stem, Issues& issues,
                 const std::function<bool(std::string_view)>& read);

/// The same by columns, without the names of the columns, with which each slice may begin.
void ForEachSampleLine(const DataFiles& files, std::string_view stem, Issues& issues,
                       const std::function<bool(Columns)>& read);

}  // namespace mpa::raw

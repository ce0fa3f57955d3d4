// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "mpa/report/change_tree.h"
#include "mpa/report/report.h"

namespace mpa {

/// Rows of a table of the largest ones.
inline constexpr std::size_t kMaxSummaryRows = 10;

/// What the change is made of, part by part, each below the whole that it is a part of. Columns are
/// named as those of comparisons.
Sheet ChangeSheet(const ChangeNode& whole);
/// The change of this part with these times in ChangeSheet(whole).
std::optional<RowPlace> PlaceInChangeSheet(const ChangeNode& whole, const ChangeNode& part);

/// Where the details of a change are.
using PlaceOfChange = std::function<std::optional<RowPlace>(const ChangeNode& change)>;

/// The names in the tree that changed most, with a chart of their changes. `share`: what the column
/// of changes in percent of the whole is called.
SummaryTable LargestChangesTable(const ChangeNode& whole, const char* share,
                                 const PlaceOfChange& place_of);

/// The children of the whole on both sides, with a chart, and the whole.
SummaryTable PartsTable(const ChangeNode& whole, const PlaceOfChange& place_of);

}  // namespace mpa

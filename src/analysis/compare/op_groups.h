// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpa/analysis/comparison.h"

namespace mpa {

/// The operators of both sides that have one name, as rows of their host operators.
struct OpGroup {
  std::string name;
  std::vector<std::size_t> base, comparison;

  const std::vector<std::size_t>& Of(Side side) const {
    return side == Side::kBase ? base : comparison;
  }
};

/// Groups operators by name: the names of the base in order of appearance, then those that only the
/// comparison has.
std::vector<OpGroup> GroupByName(const CompareInput& input, const std::vector<OpPair>& pairs);

/// Appends name, shapes and types of an operator, blanks for one that is missing.
void AppendOperator(const CompareInput& input, Side side, std::optional<std::size_t> op, Row& row);

/// Sorts the rows by the last but one column, a difference, the largest first, and numbers them in
/// the first.
void SortByDifference(Sheet& sheet);

/// Numbers the rows from 1 in the first column.
void NumberRows(Sheet& sheet);

/// Says in the report which side has no operators, if one has none, and what would bring them.
/// False if so. Every sheet about operators says it with the same words, so that the user reads
/// them once.
bool HaveOperators(const CompareInput& input, Report& report);

}  // namespace mpa

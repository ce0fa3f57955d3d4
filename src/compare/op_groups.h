// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mpa/compare/comparison.h"
#include "mpa/measure/durations.h"
#include "mpa/measure/module_tree.h"
#include "mpa/measure/op_tree.h"

namespace mpa {

/// The operators of both sides that have one name, or names that are declared equal, as rows of
/// their host operators.
struct OpGroup {
  std::string name;  ///< or several, "aten::conv2d = aten::_conv"
  std::vector<std::uint32_t> base, comparison;

  const std::vector<std::uint32_t>& Of(Side side) const {
    return side == Side::kBase ? base : comparison;
  }
};

/// Groups operators by name: the names of the base in order of appearance, then those that only the
/// comparison has.
std::vector<OpGroup> GroupByName(const CompareInput& input, const std::vector<OpPair>& pairs);

/// What a sheet shows of an operator besides its name: a line for each of many things, and a number
/// that they add up to.
struct OpDetails {
  std::string lines{};
  ExactSum sum{};
  bool known = true;  ///< false: the capture does not say how much it is
};

/// A sheet with a row for each pair of matched operators: name, shapes, types, details and sum of
/// both sides, difference and ratio of the sums, which are shown in a unit: 1000 ns in a us, 1024 B
/// in a KB. Rows are made when they are read: the input has to outlive the sheet, and `details_of`
/// is asked by several threads at once.
Sheet OpPairSheet(const CompareInput& input, std::string name, Column details_column,
                  const Column& sum_column, double unit,
                  std::function<OpDetails(Side, std::size_t)> details_of);

/// Says in the report which side has no operators, if one has none, and what would bring them.
/// False if so. Every sheet about operators says it with the same words, so that the user reads
/// them once.
bool HaveOperators(const CompareInput& input, Report& report);

/// Matches the top operators of two captures; see CompareInput::MatchedOps().
std::vector<OpPair> MatchOps(const OpTree& base, const OpTree& comparison,
                             const CompareOptions& options);

/// Appends ModuleCompareStatistic and ModuleCompare. False, with a note that says why, when the
/// captures have no modules.
bool CompareModules(const CompareInput& input, Report& report);

/// Module calls that belong together; one may be missing.
struct ModulePair {
  const Module* base = nullptr;
  const Module* comparison = nullptr;
};

/// Matches the module calls of two captures by their full names, level by level. Without `align`
/// all calls stay alone. The pairs point into the trees.
std::vector<ModulePair> MatchModules(const ModuleTrees& base, const ModuleTrees& comparison,
                                     bool align);

/// The pairs in the order of the sheets: by the start of the base's call; calls that only the
/// comparison has come before the first pair whose comparison starts later.
std::vector<ModulePair> InSheetOrder(std::vector<ModulePair> pairs);

}  // namespace mpa

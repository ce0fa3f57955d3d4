// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mpa::masking {

/// Names of process groups that count together.
using TypeSet = std::vector<std::string>;

/// "dp,edp;tp" is two sets.
std::vector<TypeSet> ParseTypeSets(std::string_view text);
/// What is wrong with such a text; empty when nothing is.
std::string ProblemOfTypeSets(const std::string& text);

}  // namespace mpa::masking

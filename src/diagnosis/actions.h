// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace mpa {

/// Something to do about a finding, for programs.
struct Action {
  using Value = std::variant<std::string_view, int, bool>;
  std::string_view what;  ///< "capture", "set_env", "set_option", "check", "change"
  std::vector<std::pair<std::string_view, Value>> args;
  bool of_ranks = false;  ///< the ranks of the finding are an argument, too
};

/// The cheapest one first; what the advice of the catalogue says. Empty for an id without any.
const std::vector<Action>& ActionsOf(std::string_view id);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

/// Errors (kUsage) about names that the program does not know, with the names that may be meant.
namespace mpa {

/// `name` is not a recipe.
[[noreturn]] void FailUnknownRecipe(const std::string& name);

/// `name` is neither a command of `program` nor a path.
[[noreturn]] void FailUnknownCommand(const CLI::App& program, const std::string& name);

/// `unknown` are the options that `command` does not know.
[[noreturn]] void FailUnknownOption(const CLI::App& command,
                                    const std::vector<std::string>& unknown);

/// A word of the command line, and what may be meant instead; both are empty where nothing is
/// known. Errors for programs carry the corrected command.
struct Instead {
  std::string wrong, right;
};
Instead Suggestion();
void SuggestInstead(std::string wrong, std::string right);

/// "cluster", "compare", ...
std::vector<std::string> CommandNames(const CLI::App& program);

}  // namespace mpa

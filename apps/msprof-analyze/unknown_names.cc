// SPDX-License-Identifier: Apache-2.0
#include "unknown_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// A misspelt name, or the beginning of one.
std::optional<std::string> Nearest(const std::string& name, const std::vector<std::string>& known) {
  if (auto closest = Closest(name, known)) return closest;
  constexpr std::size_t kFewestLetters = 4;
  const auto begun = std::find_if(known.begin(), known.end(), [&](const std::string& candidate) {
    return name.size() >= kFewestLetters && candidate.starts_with(name);
  });
  return begun == known.end() ? std::nullopt : std::optional(*begun);
}

// "unknown recipe 'x'; did you mean 'y'? Available: y, z"
[[noreturn]] void FailWithNames(const char* option, const char* what, const std::string& name,
                                const std::vector<std::string>& known) {
  const auto nearest = Nearest(name, known);
  Fail(ErrorKind::kUsage, "{}unknown {} '{}'; {}vailable: {}", option, what, name,
       nearest ? fmt::format("did you mean '{}'? A", *nearest) : "a", fmt::join(known, ", "));
}

}  // namespace

void FailUnknownRecipe(const std::string& name) {
  std::vector<std::string> recipes;
  for (const std::string_view recipe : RecipeNames()) recipes.emplace_back(recipe);
  FailWithNames("-m: ", "recipe", name, recipes);
}

void FailUnknownCommand(const CLI::App& program, const std::string& name) {
  FailWithNames("", "command", name, CommandNames(program));
}

void FailUnknownOption(const CLI::App& command, const std::vector<std::string>& unknown) {
  const std::string name = unknown.front().substr(0, unknown.front().find('='));
  const auto nearest = Nearest(name, OptionNames(command));
  Fail(ErrorKind::kUsage, "unknown option '{}'; {}", name,
       nearest ? fmt::format("did you mean '{}'?", *nearest)
               : fmt::format("see 'msprof-analyze {} --help'", command.get_name()));
}

std::vector<std::string> CommandNames(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

}  // namespace mpa

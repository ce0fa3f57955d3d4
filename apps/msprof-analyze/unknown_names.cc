// SPDX-License-Identifier: Apache-2.0
#include "unknown_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

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
  constexpr std::size_t kMinLetters = 4;
  const auto begun = std::ranges::find_if(known, [&](const std::string& candidate) {
    return name.size() >= kMinLetters && candidate.starts_with(name);
  });
  return begun == known.end() ? std::nullopt : std::optional(*begun);
}

std::vector<std::string> Recipes() {
  std::vector<std::string> recipes;
  for (const std::string_view recipe : RecipeNames()) recipes.emplace_back(recipe);
  return recipes;
}

}  // namespace

namespace {

Instead g_suggestion;

}  // namespace

Instead Suggestion() { return g_suggestion; }
void SuggestInstead(std::string wrong, std::string right) {
  g_suggestion = {std::move(wrong), std::move(right)};
}

void FailUnknownRecipe(const std::string& name) {
  const auto nearest = Nearest(name, Recipes());
  if (nearest) SuggestInstead(name, *nearest);
  if (nearest)
    Fail(ErrorKind::kUsage, "-m: unknown recipe '{}'; did you mean '{}'?", name, *nearest);
  Fail(ErrorKind::kUsage, "-m: unknown recipe '{}'; 'msprof-analyze --help' lists them", name);
}

void FailUnknownCommand(const CLI::App& program, const std::string& name) {
  const std::vector<std::string> commands = CommandNames(program);
  const auto command = Nearest(name, commands);
  const auto recipe = command ? std::nullopt : Nearest(name, Recipes());
  if (recipe) {
    SuggestInstead(name, "-m=" + *recipe);
    Fail(ErrorKind::kUsage, "unknown command '{}'; did you mean the recipe '-m {}'?", name,
         *recipe);
  }
  if (command) {
    SuggestInstead(name, *command);
    Fail(ErrorKind::kUsage, "unknown command '{}'; did you mean '{}'? Available: {}", name,
         *command, fmt::join(commands, ", "));
  }
  Fail(ErrorKind::kUsage, "unknown command '{}'; available: {}", name, fmt::join(commands, ", "));
}

void FailUnknownOption(const CLI::App& command, const std::vector<std::string>& unknown) {
  const std::string name = unknown.front().substr(0, unknown.front().find('='));
  const auto nearest = Nearest(name, OptionNames(command));
  if (name == "--agent") SuggestInstead(name, "");
  if (nearest) SuggestInstead(unknown.front(), *nearest + unknown.front().substr(name.size()));
  if (nearest) Fail(ErrorKind::kUsage, "unknown option '{}'; did you mean '{}'?", name, *nearest);
  Fail(ErrorKind::kUsage, "unknown option '{}'; see 'msprof-analyze {} --help'", name,
       command.get_name());
}

std::vector<std::string> CommandNames(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

}  // namespace mpa

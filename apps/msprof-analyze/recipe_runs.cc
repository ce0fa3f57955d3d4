// SPDX-License-Identifier: Apache-2.0
#include "recipe_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#include "choices.h"
#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/capture/capture.h"
#include "mpa/io/numbers.h"
#include "mpa/io/output_file.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

bool IsPositiveNumber(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(number) &&
         number > 0;
}

const RecipeParameter* FindParameter(const Recipe& recipe, std::string_view name) {
  const auto found =
      std::find_if(recipe.parameters.begin(), recipe.parameters.end(),
                   [&](const RecipeParameter& parameter) { return parameter.name == name; });
  return found == recipe.parameters.end() ? nullptr : &*found;
}

void CheckArgument(const RecipeParameter& parameter, const std::string& name,
                   const std::string& value) {
  using Value = RecipeParameter::Value;
  if (parameter.value == Value::kCount && io::ParseInt(value).value_or(0) <= 0) {
    Fail(ErrorKind::kUsage, "--{} {}: give a whole number above 0", name, value);
  }
  if (parameter.value == Value::kPositive && !IsPositiveNumber(value)) {
    Fail(ErrorKind::kUsage, "--{} {}: give a number above 0", name, value);
  }
  if (parameter.value == Value::kChoice &&
      std::find(parameter.choices.begin(), parameter.choices.end(), value) ==
          parameter.choices.end()) {
    Fail(ErrorKind::kUsage, "--{} {}: give one of {}", name, value,
         fmt::join(parameter.choices, ", "));
  }
  if (parameter.problem == nullptr) return;
  const std::string problem = parameter.problem(value);
  if (!problem.empty()) Fail(ErrorKind::kUsage, "--{} {}: {}", name, value, problem);
}

}  // namespace

const Recipe& FindRecipe(const std::string& name) {
  for (const Recipe& recipe : AllRecipes()) {
    if (name.empty() || recipe.name == name) return recipe;
  }
  FailUnknownRecipe(name);
}

std::vector<RecipeRun> RunsOf(const std::string& names, const RecipeArguments& arguments) {
  std::vector<RecipeRun> runs;
  for (std::size_t from = 0; from <= names.size();) {
    const std::size_t comma = std::min(names.find(',', from), names.size());
    const std::string name(Trim(std::string_view(names).substr(from, comma - from)));
    if (name.empty() && !names.empty()) FailUnknownRecipe(name);
    const Recipe& recipe = FindRecipe(name);
    const bool is_new = std::none_of(runs.begin(), runs.end(),
                                     [&](const RecipeRun& run) { return run.recipe == &recipe; });
    if (is_new) runs.push_back({&recipe, {}});
    from = comma + 1;
  }
  for (const auto& [name, value] : arguments) {
    bool known = false;
    for (RecipeRun& run : runs) {
      const RecipeParameter* parameter = FindParameter(*run.recipe, name);
      if (parameter == nullptr) continue;
      CheckArgument(*parameter, name, value);
      run.arguments[name] = value;
      known = true;
    }
    if (!known) {
      Fail(ErrorKind::kUsage,
           "--{0}: the recipe {1} has no such option; see 'msprof-analyze -m {1} --help'", name,
           runs.front().recipe->name);
    }
  }
  for (const RecipeRun& run : runs) {
    for (const RecipeParameter& parameter : run.recipe->parameters) {
      if (!parameter.required || run.arguments.contains(parameter.name)) continue;
      Fail(ErrorKind::kUsage, "--{} {} is required by the recipe {}", parameter.name,
           parameter.type_name, run.recipe->name);
    }
  }
  return runs;
}

fs::path PagePath(const Recipe& recipe, const RecipeArguments& arguments) {
  for (const RecipeParameter& parameter : recipe.parameters) {
    if (parameter.value != RecipeParameter::Value::kPage) continue;
    const auto given = arguments.find(parameter.name);
    if (given == arguments.end()) continue;
    const fs::path path = fs::absolute(ExpandHome(given->second)).lexically_normal();
    std::error_code ignored;
    if (!path.has_filename() || fs::is_directory(path, ignored)) {
      Fail(ErrorKind::kUsage, "--{} {}: give the name of a file", parameter.name, given->second);
    }
    InContext(fmt::format("--{}", parameter.name), [&] { io::PrepareOutputFile(path); });
    return path;
  }
  return {};
}

void CheckDirectory(const char* option, const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return;
  if (!fs::exists(path, ignored)) {
    Fail(ErrorKind::kInput, "{} {}: no such directory; check the path", option, path.string());
  }
  if (IsArchive(path)) Fail(ErrorKind::kInput, "{} {}: {}", option, path.string(), kArchiveProblem);
  Fail(ErrorKind::kInput, "{} {}: not a directory; give the one that holds the captures", option,
       path.string());
}

fs::path BaselineOf(const RecipeRun& run) {
  const std::string_view option = run.recipe->baseline;
  if (option.empty()) return {};
  fs::path path = ExpandHome(run.arguments.find(option)->second);  // as it is required
  std::error_code ignored;
  if (run.recipe->earlier_results != nullptr && fs::is_regular_file(path, ignored)) return path;
  CheckDirectory(fmt::format("--{}", option).c_str(), path);
  return path;
}

}  // namespace mpa

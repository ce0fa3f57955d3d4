// SPDX-License-Identifier: Apache-2.0
// What shells complete, from the definitions of the options.
#include "completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "command.h"
#include "help.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/recipe/recipe.h"

namespace mpa {
namespace {

// The beginning of an explanation, as long as a list of a shell has room for.
std::string FewWords(const std::string& help) {
  constexpr std::size_t kMost = 60;
  std::size_t end = help.size();
  for (const std::string_view stop : {": ", "; ", ". ", " [", ", such as"}) {
    end = std::min(end, help.find(stop));
  }
  if (end > kMost) end = std::min(help.rfind(' ', kMost), end);
  return help.substr(0, end);
}

CompletedOption Completed(const CLI::Option& option) {
  CompletedOption completed{
      SpellingsOf(option), FewWords(option.get_description()), ValuesOf(option), {}};
  if (!IsOfRecipes(option)) return completed;
  for (const Recipe& recipe : AllRecipes()) {
    if (IsOfRecipe(option, recipe)) completed.recipes.push_back(recipe.name);
  }
  return completed;
}

std::vector<CompletedOption> OptionsOf(const CLI::App& app) {
  std::vector<CompletedOption> options;
  for (const OptionGroup& group : OptionGroups(app, [](const CLI::Option&) { return true; })) {
    for (const CLI::Option* option : group.options) options.push_back(Completed(*option));
  }
  return options;
}

}  // namespace

CompletionTable CompletionOf(const CLI::App& program) {
  CompletionTable table;
  table.options = OptionsOf(program);
  for (const CLI::App* app : program.get_subcommands([](const CLI::App*) { return true; })) {
    CompletedCommand command{
        app->get_name(), FewWords(app->get_description()), OptionsOf(*app), {}};
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_positional()) command.words = ValuesOf(*option);
    }
    table.commands.push_back(std::move(command));
  }
  for (const CatalogueEntry& entry : Catalogue()) table.findings.push_back(entry.id);
  return table;
}

std::string FillIn(std::string_view script,
                   std::initializer_list<std::pair<std::string_view, std::string>> values) {
  std::string text(script);
  for (const auto& [name, value] : values) {
    const std::string mark = fmt::format("@{}@", name);
    for (std::size_t at = text.find(mark); at != std::string::npos;
         at = text.find(mark, at + value.size())) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

std::string SpellingsText(const std::vector<CompletedOption>& options) {
  std::string text;
  for (const CompletedOption& option : options) {
    for (const std::string& spelling : option.spellings) {
      text += (text.empty() ? "" : " ") + spelling;
    }
  }
  return text;
}

std::string PatternsOf(const CompletedCommand& command, const CompletedOption& option,
                       std::string_view separator) {
  std::string patterns;
  for (const std::string& spelling : option.spellings) {
    patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : separator, command.name, spelling);
  }
  return patterns;
}

std::string KindAndValues(const OptionValues& values, std::string_view quotes) {
  using Kind = OptionValues::Kind;
  const auto with_words = [&](std::string_view kind) {
    return fmt::format("kind={} values={}{}{}", kind, quotes[0], fmt::join(values.words, " "),
                       quotes[1]);
  };
  switch (values.kind) {
    case Kind::kNone:
      return "";
    case Kind::kFree:
      return "kind=free";
    case Kind::kFiles:
      return with_words("files");
    case Kind::kDirectories:
      return "kind=directories";
    case Kind::kWords:
      return with_words("words");
    case Kind::kList:
      return with_words("list");
  }
  return "";
}

std::vector<CompletedOption> OptionsOfAll(const CompletedCommand& command) {
  std::vector<CompletedOption> options = command.options;
  std::erase_if(options, [](const CompletedOption& option) { return !option.recipes.empty(); });
  return options;
}

}  // namespace mpa

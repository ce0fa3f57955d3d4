// SPDX-License-Identifier: Apache-2.0
// What shells complete, from the definitions of the options.
#include "completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include "command.h"
#include "help.h"
#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/catalogue.h"
#include "mpa/recipe/recipe.h"
#include "printing.h"

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
  for (const FindingInfo* finding : Catalogue()) table.findings.push_back(finding->id);
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

// `msprof-analyze auto-completion`: how a shell learns to complete command lines.

namespace {

// The variable and its values are those of the Python tool, whose lines in start files of shells
// go on to work.
constexpr const char* kRequest = "_MSPROF_ANALYZE_COMPLETE";

struct Shell {
  std::string_view name, file;
  std::string_view line;  ///< for that file; {} stands for the program's request
  std::string (*script)(const CompletionTable& table);
};

constexpr std::array<Shell, 3> kShells = {{
    {"bash", "~/.bashrc", "eval \"$({} msprof-analyze)\"", BashCompletion},
    {"zsh", "~/.zshrc", "eval \"$({} msprof-analyze)\"", ZshCompletion},
    {"fish", "~/.config/fish/config.fish", "env {} msprof-analyze | source", FishCompletion},
}};

HelpPage AutoCompletionPage() {
  HelpPage page;
  page.summary = "Prints the line that sets up completion of msprof-analyze in a shell.";
  page.usage = {"auto-completion [bash|zsh|fish]"};
  page.examples = {"auto-completion bash"};
  page.notes = {
      "The shell then completes commands, options, their values, recipes, findings and paths. The "
      "deb and rpm packages set completion up themselves."};
  return page;
}

int TellLine(const std::string& name) {
  for (const Shell& shell : kShells) {
    if (ToLower(name) != shell.name) continue;
    const std::string request = fmt::format("{}={}_source", kRequest, shell.name);
    Print(fmt::format("To complete command lines with Tab, add this line to {}:\n\n{}\n",
                      shell.file, fmt::format(fmt::runtime(shell.line), request)));
  }
  FinishStdout();
  return 0;
}

}  // namespace

bool AnswerShell(const CLI::App& program) {
  const char* request = std::getenv(kRequest);
  if (request == nullptr) return false;
  for (const Shell& shell : kShells) {
    if (request != fmt::format("{}_source", shell.name)) continue;
    Print(shell.script(CompletionOf(program)));
    FinishStdout();
    return true;
  }
  return false;
}

Command AddAutoCompletion(CLI::App& program) {
  CLI::App* app = program.add_subcommand("auto-completion", "Set up completion in a shell");
  const auto shell = std::make_shared<std::string>("bash");
  app->add_option("shell", *shell, "The shell [default: bash]")
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}, CLI::ignore_case));
  return {app, [shell] { return TellLine(*shell); }, AutoCompletionPage};
}

}  // namespace mpa

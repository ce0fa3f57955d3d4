// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "choices.h"

/// Completion of command lines by shells, made from the definitions of the options.
namespace mpa {

struct CompletedOption {
  std::vector<std::string> spellings;  ///< "-d", "--profiling_path"
  std::string help;                    ///< a few words
  OptionValues values;
  std::vector<std::string_view> recipes;  ///< those that have it; empty: it is of no recipe
};

struct CompletedCommand {
  std::string name, help;
  std::vector<CompletedOption> options;
  OptionValues words;  ///< what stands without an option
};

struct CompletionTable {
  std::vector<CompletedOption> options;  ///< of the program itself
  std::vector<CompletedCommand> commands;
  std::vector<std::string_view> findings;  ///< what follows `advisor why` and `advisor timeline`
};

/// The command that runs where none is named.
inline constexpr std::string_view kUnnamedCommand = "cluster";
/// Options that may stand before a command.
inline constexpr std::string_view kBeforeCommand[] = {"-v", "-vv", "--verbose", "-q", "--quiet"};

CompletionTable CompletionOf(const CLI::App& program);

/// The scripts, to be read by the shell.
std::string BashCompletion(const CompletionTable& table);
std::string ZshCompletion(const CompletionTable& table);
std::string FishCompletion(const CompletionTable& table);

/// `template` with each "@NAME@" replaced.
std::string FillIn(std::string_view script,
                   std::initializer_list<std::pair<std::string_view, std::string>> values);
/// All spellings of options, separated by blanks.
std::string SpellingsText(const std::vector<CompletedOption>& options);
/// The words "command option" of all spellings, as patterns of `case` in bash and zsh.
std::string PatternsOf(const CompletedCommand& command, const CompletedOption& option,
                       std::string_view separator);
/// Assignments to `kind` and `values` in bash and zsh; empty without values. `quotes`: the two
/// characters around the words.
std::string KindAndValues(const OptionValues& values, std::string_view quotes);
/// The options without those of recipes.
std::vector<CompletedOption> OptionsOfAll(const CompletedCommand& command);

/// Prints the completion script if the shell asks for one in the environment; false if it does not.
bool AnswerShell(const CLI::App& program);

}  // namespace mpa

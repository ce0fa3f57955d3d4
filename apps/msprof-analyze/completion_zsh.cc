// SPDX-License-Identifier: Apache-2.0
// The script for zsh: in a folder of $fpath as _msprof-analyze, or read by eval.
#include <fmt/format.h>

#include "completion.h"

namespace mpa {
namespace {

constexpr std::string_view kZshScript = R"script(#compdef msprof-analyze
# SPDX-License-Identifier: Apache-2.0
# Completion of msprof-analyze for zsh, written by the program itself.
_msprof_analyze() {
  emulate -L zsh
  local word command= recipes= option=${words[CURRENT-1]} kind=
  local -a values shown
  integer i
  for ((i = 2; i < CURRENT; i++)); do
    word=${words[i]}
    if [[ -z $command ]]; then
      case $word in
        (@BEFORE@) continue ;;
        (@COMMANDS@) command=$word ;;
        (*) command=@UNNAMED@ ;;
      esac
    fi
    case $word in
      (-m|--mode) recipes=${words[i+1]} ;;
      (-m=*|--mode=*) recipes=${word#*=} ;;
    esac
  done
  if [[ $PREFIX == -*=* ]]; then
    option=${PREFIX%%=*}
    compset -P '*='
  fi
  if [[ $option == --* ]]; then
    option=--${${option#--}//-/_}
  fi
  case "$command $option" in
@VALUES@  esac
  if [[ -z $kind && -z $command && $PREFIX != -* ]]; then
    kind=described values=(@COMMANDHELP@)
  elif [[ -z $kind && $PREFIX == -* ]]; then
    case $command in
@OPTIONS@    esac
    for word in ${(s:,:)recipes}; do
@RECIPES@    done
    kind=described
    # The program takes hyphens for the underscores of long names.
    if [[ ${PREFIX#--} == *-* && $PREFIX == --* ]]; then
      kind=words values=(${${values%%:*}//_/-})
    fi
  elif [[ -z $kind && $command == advisor && ($option == why || $option == timeline) ]]; then
    kind=words values=(@FINDINGS@)
  elif [[ -z $kind ]]; then
    case $command in
@WORDS@    esac
  fi
  case $kind in
    (words) compadd -- $values ;;
    (described) shown=(${values/:/  }); compadd -l -d shown -- ${values%%:*} ;;
    (list) compset -P '*,'; compadd -qS , -- $values ;;
    (files) _files; compadd -- $values ;;
    (directories) _path_files -/ ;;
  esac
}
if [[ ${funcstack[1]-} == (_msprof_analyze|_msprof-analyze) ]]; then
  _msprof_analyze "$@"
else
  compdef _msprof_analyze msprof-analyze
fi
)script";

// 'name:help' in quotes.
std::string Entry(const std::string& name, std::string help) {
  for (std::size_t at = help.find('\''); at != std::string::npos; at = help.find('\'', at + 4)) {
    help.replace(at, 1, "'\\''");
  }
  return fmt::format("'{}:{}'", name, help);
}

std::string DescribedOptions(const std::vector<CompletedOption>& options) {
  std::string text;
  for (const CompletedOption& option : options) {
    for (const std::string& spelling : option.spellings) {
      text += fmt::format("{}{}", text.empty() ? "" : " ", Entry(spelling, option.help));
    }
  }
  return text;
}

}  // namespace

std::string ZshCompletion(const CompletionTable& table) {
  std::string values, options, recipes, words, described;
  std::vector<std::string> commands;
  for (const CompletedCommand& command : table.commands) {
    commands.push_back(command.name);
    described +=
        fmt::format("{}{}", described.empty() ? "" : " ", Entry(command.name, command.help));
    for (const CompletedOption& option : command.options) {
      if (!option.recipes.empty()) {
        recipes += fmt::format("      [[ $word != ({}) ]] || values+=({})\n",
                               fmt::join(option.recipes, "|"), DescribedOptions({option}));
      }
      if (option.values.kind == OptionValues::Kind::kNone) continue;
      values += fmt::format("    ({}) {} ;;\n", PatternsOf(command, option, "|"),
                            KindAndValues(option.values, "()"));
    }
    const std::string own = DescribedOptions(OptionsOfAll(command));
    options += fmt::format("      ({}) values=({}) ;;\n", command.name, own);
    if (command.name == kUnnamedCommand) {
      options +=
          fmt::format("      ('') values=({} {}) ;;\n", DescribedOptions(table.options), own);
    }
    const std::string kind = KindAndValues(command.words, "()");
    if (!kind.empty()) words += fmt::format("      ({}) {} ;;\n", command.name, kind);
  }
  return FillIn(kZshScript, {{"BEFORE", fmt::format("{}", fmt::join(kBeforeCommand, "|"))},
                             {"COMMANDS", fmt::format("{}", fmt::join(commands, "|"))},
                             {"COMMANDHELP", described},
                             {"UNNAMED", std::string(kUnnamedCommand)},
                             {"VALUES", values},
                             {"OPTIONS", options},
                             {"RECIPES", recipes},
                             {"FINDINGS", fmt::format("{}", fmt::join(table.findings, " "))},
                             {"WORDS", words}});
}

}  // namespace mpa

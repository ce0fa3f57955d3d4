// SPDX-License-Identifier: Apache-2.0
// The script for bash: version 4 or later, without the package bash-completion.
#include <fmt/format.h>

#include "completion.h"

namespace mpa {
namespace {

constexpr std::string_view kBashScript = R"script(# SPDX-License-Identifier: Apache-2.0
# Completion of msprof-analyze for bash, written by the program itself.
_msprof_analyze() {
  local i word command= recipes= option= kind= values= current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -z $command ]]; then
      case $word in
        @BEFORE@) continue ;;
        @COMMANDS@) command=$word ;;
        *) command=@UNNAMED@ ;;
      esac
    fi
    if [[ $word == -m || $word == --mode ]]; then
      recipes=${COMP_WORDS[i + 1]}
      [[ $recipes != '=' ]] || recipes=${COMP_WORDS[i + 2]}
    fi
  done
  # bash takes "--name=value" for three words.
  option=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $current == '=' ]]; then
    current=
  elif [[ $option == '=' ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ $option == --* ]]; then
    option=${option:2}
    option=--${option//-/_}
  fi
  case "$command $option" in
@VALUES@  esac
  if [[ -z $kind && ($current == -* || -z $command) ]]; then
    kind=words
    case $command in
@OPTIONS@    esac
    for word in ${recipes//,/ }; do
      case $word in
@RECIPES@      esac
    done
    [[ -n $command || $current == -* ]] || values='@COMMANDWORDS@'
    # The program takes hyphens for the underscores of long names.
    if [[ ${current:2} == *-* && $current == --* ]]; then values=${values//_/-}; fi
  elif [[ -z $kind ]]; then
    case $command in
      advisor)
        case $option in
          why | timeline) kind=words values='@FINDINGS@' ;;
        esac
        ;;
    esac
    if [[ -z $kind ]]; then
      case $command in
@WORDS@      esac
    fi
  fi
  case $kind in
    words) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current") ;;
    list)
      word=
      [[ $current != *,* ]] || word=${current%,*},
      mapfile -t COMPREPLY < <(compgen -P "$word" -W "$values" -- "${current##*,}")
      compopt -o nospace 2>/dev/null
      ;;
    files)
      mapfile -t COMPREPLY < <(compgen -f -- "$current"; compgen -W "$values" -- "$current")
      compopt -o filenames 2>/dev/null
      ;;
    directories)
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      compopt -o filenames 2>/dev/null
      ;;
  esac
}
complete -F _msprof_analyze msprof-analyze
)script";

}  // namespace

std::string BashCompletion(const CompletionTable& table) {
  std::string values, options, recipes, words;
  std::vector<std::string> commands;
  for (const CompletedCommand& command : table.commands) {
    commands.push_back(command.name);
    for (const CompletedOption& option : command.options) {
      for (const std::string_view recipe : option.recipes) {
        recipes += fmt::format("        {}) values+=' {}' ;;&\n", recipe, SpellingsText({option}));
      }
      if (option.values.kind == OptionValues::Kind::kNone) continue;
      values += fmt::format("    {}) {} ;;\n", PatternsOf(command, option, " | "),
                            KindAndValues(option.values, "''"));
    }
    const std::string own = SpellingsText(OptionsOfAll(command));
    options += fmt::format("      {}) values='{}' ;;\n", command.name, own);
    if (command.name == kUnnamedCommand) {
      options += fmt::format("      '') values='{} {}' ;;\n", SpellingsText(table.options), own);
    }
    const std::string kind = KindAndValues(command.words, "''");
    if (!kind.empty()) words += fmt::format("        {}) {} ;;\n", command.name, kind);
  }
  return FillIn(kBashScript, {{"BEFORE", fmt::format("{}", fmt::join(kBeforeCommand, " | "))},
                              {"COMMANDS", fmt::format("{}", fmt::join(commands, " | "))},
                              {"COMMANDWORDS", fmt::format("{}", fmt::join(commands, " "))},
                              {"UNNAMED", std::string(kUnnamedCommand)},
                              {"VALUES", values},
                              {"OPTIONS", options},
                              {"RECIPES", recipes},
                              {"FINDINGS", fmt::format("{}", fmt::join(table.findings, " "))},
                              {"WORDS", words}});
}

}  // namespace mpa

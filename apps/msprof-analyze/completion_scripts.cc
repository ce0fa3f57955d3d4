// SPDX-License-Identifier: Apache-2.0
// The scripts with which shells complete command lines: for bash 4 or later, without the package
// bash-completion, for zsh and for fish.
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

// The script for zsh: in a folder of $fpath as _msprof-analyze, or read by eval.

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

// The script for fish, version 3 or later. Its commands end with ';', so that it can also be read
// by eval (...), which puts all lines into one.

namespace {

constexpr std::string_view kFishScript =
    R"script(function __msprof_analyze_is -d 'the command of the line, empty before it';
  set -l words (commandline -opc);
  set -e words[1];
  set -l found '';
  for word in $words;
    if test -z "$found";
      switch $word;
        case @BEFORE@;
          continue;
        case @COMMANDS@;
          set found $word;
        case '*';
          set found @UNNAMED@;
      end;
    end;
  end;
  contains -- "$found" $argv;
end;
function __msprof_analyze_recipe -d 'one of the recipes is on the line';
  for name in $argv;
    string match -qr -- "(^|[ =,])$name(\$|[ ,])" (string join ' ' -- (commandline -opc)); and return 0;
  end;
  return 1;
end;
function __msprof_analyze_after -d 'the word before';
  contains -- (commandline -opc)[-1] $argv;
end;
complete -c msprof-analyze -f;
)script";

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// The arguments of `complete` for the values.
std::string ValueArguments(const OptionValues& values) {
  using Kind = OptionValues::Kind;
  const std::string words = fmt::format("{}", fmt::join(values.words, " "));
  switch (values.kind) {
    case Kind::kNone:
      return "";
    case Kind::kFree:
      return " -x";
    case Kind::kFiles:
      return values.words.empty() ? " -r -F" : fmt::format(" -r -F -a '{}'", words);
    case Kind::kDirectories:
      return " -xa '(__fish_complete_directories)'";
    case Kind::kWords:
      return fmt::format(" -xa '{}'", words);
    case Kind::kList:
      return fmt::format(" -xa '(__fish_append , {})'", words);
  }
  return "";
}

std::string OptionLine(const CompletedOption& option, const std::string& condition) {
  std::string line = fmt::format("complete -c msprof-analyze -n {}", Quoted(condition));
  for (const std::string& spelling : option.spellings) {
    const bool is_long = spelling.starts_with("--");
    line += is_long ? " -l " : spelling.size() == 2 ? " -s " : " -o ";
    line += spelling.substr(is_long ? 2 : 1);
  }
  return line + ValueArguments(option.values) + fmt::format(" -d {};\n", Quoted(option.help));
}

}  // namespace

std::string FishCompletion(const CompletionTable& table) {
  std::vector<std::string> commands;
  for (const CompletedCommand& command : table.commands) commands.push_back(command.name);
  std::string script =
      FillIn(kFishScript, {{"BEFORE", fmt::format("{}", fmt::join(kBeforeCommand, " "))},
                           {"COMMANDS", fmt::format("{}", fmt::join(commands, " "))},
                           {"UNNAMED", std::string(kUnnamedCommand)}});
  for (const CompletedOption& option : table.options) {
    script += OptionLine(option, "__msprof_analyze_is \"\"");
  }
  for (const CompletedCommand& command : table.commands) {
    script += fmt::format("complete -c msprof-analyze -n '__msprof_analyze_is \"\"' -a {} -d {};\n",
                          command.name, Quoted(command.help));
    const std::string is = fmt::format("__msprof_analyze_is {}", command.name);
    for (const CompletedOption& option : command.options) {
      std::string condition = command.name == kUnnamedCommand ? is + " \"\"" : is;
      if (!option.recipes.empty()) {
        condition +=
            fmt::format("; and __msprof_analyze_recipe {}", fmt::join(option.recipes, " "));
      }
      script += OptionLine(option, condition);
    }
    if (command.words.kind == OptionValues::Kind::kFiles) {
      script += fmt::format("complete -c msprof-analyze -n '{}' -F;\n", is);
    } else if (command.words.kind == OptionValues::Kind::kWords) {
      script += fmt::format("complete -c msprof-analyze -n '{}' -a '{}';\n", is,
                            fmt::join(command.words.words, " "));
    }
  }
  script += fmt::format(
      "complete -c msprof-analyze -n '__msprof_analyze_is advisor; and "
      "__msprof_analyze_after why timeline' -a '{}';\n",
      fmt::join(table.findings, " "));
  return script;
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// The script for fish, version 3 or later. Its commands end with ';', so that it can also be read
// by eval (...), which puts all lines into one.
#include <fmt/format.h>

#include "completion.h"

namespace mpa {
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

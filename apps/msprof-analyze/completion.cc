// SPDX-License-Identifier: Apache-2.0
// Completion of command lines. A shell asks the program itself at each Tab, so that all shells know
// the same, and what the program knows.
#include "completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "choices.h"
#include "command.h"
#include "help.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/catalogue.h"
#include "mpa/recipe/recipe.h"
#include "printing.h"

namespace mpa {
namespace {

// What a shell asks: the name and the values "<shell>_source" are those of the Python tool, whose
// lines in start files of shells go on to work. With "words" the others hold the line up to the
// word to complete, a word in a line, and that word.
constexpr const char* kRequest = "_MSPROF_ANALYZE_COMPLETE";
constexpr const char* kBefore = "_MSPROF_ANALYZE_BEFORE";
constexpr const char* kCurrent = "_MSPROF_ANALYZE_CURRENT";

// The scripts read what TellWords() prints. For bash 4 or later, without bash-completion.
constexpr std::string_view kBashScript = R"script(# SPDX-License-Identifier: Apache-2.0
# Completion of msprof-analyze for bash, written by the program itself.
_msprof_analyze() {
  local IFS=$'\n' current=${COMP_WORDS[COMP_CWORD]} kind
  local -a reply before=("${COMP_WORDS[@]:0:COMP_CWORD}")
  mapfile -t reply < <(_MSPROF_ANALYZE_COMPLETE=words _MSPROF_ANALYZE_BEFORE="${before[*]}" \
    _MSPROF_ANALYZE_CURRENT=$current msprof-analyze)
  kind=${reply[0]}
  reply=("${reply[@]:1}")
  [[ $current != '=' ]] || current=  # bash takes "--name=value" for three words
  mapfile -t COMPREPLY < <(
    [[ $kind != files ]] || compgen -f -- "$current"
    [[ $kind != directories ]] || compgen -d -- "$current"
    compgen -W "${reply[*]%%$'\t'*}" -- "$current")
  case $kind in
    list) compopt -o nospace 2>/dev/null ;;
    files | directories) compopt -o filenames 2>/dev/null ;;
  esac
}
complete -F _msprof_analyze msprof-analyze
)script";

// In a folder of $fpath as _msprof-analyze, or read by eval.
constexpr std::string_view kZshScript = R"script(#compdef msprof-analyze
# SPDX-License-Identifier: Apache-2.0
# Completion of msprof-analyze for zsh, written by the program itself.
_msprof_analyze() {
  emulate -L zsh
  local kind tab=$'\t'
  local -a reply shown
  reply=("${(@f)$(_MSPROF_ANALYZE_COMPLETE=words _MSPROF_ANALYZE_BEFORE="${(F)words[1,CURRENT-1]}" \
    _MSPROF_ANALYZE_CURRENT=$PREFIX msprof-analyze)}")
  kind=$reply[1]
  shift reply
  [[ $PREFIX != -*=* ]] || compset -P '*='
  shown=(${reply/$tab/  })
  reply=(${reply%%$tab*})
  case $kind in
    (words) compadd -- $reply ;;
    (described) compadd -l -d shown -- $reply ;;
    (list) compadd -qS , -- $reply ;;
    (files) _files; compadd -- $reply ;;
    (directories) _path_files -/ ;;
  esac
}
if [[ ${funcstack[1]-} == (_msprof_analyze|_msprof-analyze) ]]; then
  _msprof_analyze "$@"
else
  compdef _msprof_analyze msprof-analyze
fi
)script";

// For fish 3 or later. Commands end with ';', so that it can also be read by eval (...), which puts
// all lines into one.
constexpr std::string_view kFishScript =
    R"script(function __msprof_analyze_words -d 'what may stand at the end of the line';
  set -l current (commandline -ct);
  set -l reply (env _MSPROF_ANALYZE_COMPLETE=words _MSPROF_ANALYZE_BEFORE=(commandline -opc | string collect) _MSPROF_ANALYZE_CURRENT=$current msprof-analyze);
  set -l kind $reply[1];
  set -e reply[1];
  set -l name (string match -r -- '^-.*=' $current);
  set -l value (string replace -r -- '^-.*=' '' $current);
  switch $kind;
    case files;
      set -a reply (__fish_complete_path $value);
    case directories;
      set -a reply (__fish_complete_directories $value);
  end;
  for word in $reply;
    printf '%s\n' "$name$word";
  end;
end;
complete -c msprof-analyze -f -a '(__msprof_analyze_words)';
)script";

struct Shell {
  std::string_view name, file;
  std::string_view line;  ///< for that file; {} stands for the program's request
  std::string_view script;
};

constexpr std::array<Shell, 3> kShells = {{
    {"bash", "~/.bashrc", "eval \"$({} msprof-analyze)\"", kBashScript},
    {"zsh", "~/.zshrc", "eval \"$({} msprof-analyze)\"", kZshScript},
    {"fish", "~/.config/fish/config.fish", "env {} msprof-analyze | source", kFishScript},
}};

// The command that runs where none is named.
constexpr const char* kUnnamedCommand = "cluster";

// A command line up to the word that is to be completed.
struct Line {
  const CLI::App* command = nullptr;  ///< null: none is named yet
  std::vector<std::string> recipes{};
  std::string before{}, current{};  ///< the word to complete, and the one before it
};

// The words behind the program's name, "--name=value" as two of them.
std::vector<std::string> WordsOfLine() {
  std::vector<std::string> words;
  bool goes_on = false;  // bash takes "--name=value" for three words
  const auto add = [&](std::string_view word) {
    const bool is_option = word.starts_with('-');
    const std::size_t equals = is_option ? word.find('=') : std::string_view::npos;
    if (word == "=" && !words.empty()) {
      goes_on = true;
      words.emplace_back();
    } else if (std::exchange(goes_on, false)) {
      words.back() = word;
    } else {
      words.emplace_back(word.substr(0, equals));
      if (equals != std::string_view::npos) words.emplace_back(word.substr(equals + 1));
    }
  };
  const std::string before = Variable(kBefore);
  const std::vector<std::string_view> pieces = Split(before, '\n');
  for (std::size_t i = 1; i < pieces.size(); ++i) add(pieces[i]);
  add(Variable(kCurrent));
  return words;
}

Line ReadLine(const CLI::App& program) {
  const std::vector<std::string> words = WordsOfLine();
  Line line;
  line.current = words.back();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    line.before = words[i];
    if (line.command == nullptr && !MayStandBeforeCommand(words[i])) {
      const auto named =
          program.get_subcommands([&](const CLI::App* app) { return app->get_name() == words[i]; });
      line.command = named.empty() ? program.get_subcommand(kUnnamedCommand) : named.front();
    }
    if (!IsOneOf(words[i], {"-m", "--mode"})) continue;
    for (const std::string_view recipe : Split(words[i + 1], ','))
      line.recipes.emplace_back(recipe);
  }
  return line;
}

// The beginning of an explanation, as long as a list of a shell has room for.
std::string FewWords(const std::string& help) {
  constexpr std::size_t kMax = 60;
  std::size_t end = help.size();
  for (const std::string_view stop : {": ", "; ", ". ", " [", ", such as"}) {
    end = std::min(end, help.find(stop));
  }
  if (end > kMax) end = std::min(help.rfind(' ', kMax), end);
  return help.substr(0, end);
}

// The program takes hyphens for the underscores of long names.
std::string WithUnderscores(std::string name) {
  if (name.starts_with("--")) std::replace(name.begin() + 2, name.end(), '-', '_');
  return name;
}

bool IsWanted(const CLI::Option& option, const std::vector<std::string>& recipes) {
  return !IsOfRecipes(option) || std::ranges::any_of(AllRecipes(), [&](const Recipe& recipe) {
    return IsOfRecipe(option, recipe) && std::ranges::find(recipes, recipe.name) != recipes.end();
  });
}

void AddOptions(const CLI::App& app, const Line& line, std::vector<std::string>& words) {
  const bool hyphens =
      line.current.starts_with("--") && line.current.find('-', 2) < line.current.size();
  for (const OptionGroup& group : OptionGroups(app, [](const CLI::Option&) { return true; })) {
    for (const CLI::Option* option : group.options) {
      if (!IsWanted(*option, line.recipes)) continue;
      for (std::string spelling : SpellingsOf(*option)) {
        if (hyphens) std::replace(spelling.begin(), spelling.end(), '_', '-');
        words.push_back(fmt::format("{}\t{}", spelling, FewWords(option->get_description())));
      }
    }
  }
}

// Prints what kind of word may stand at the end of the line, then words, each with a tab and an
// explanation if there is one. Kinds: words, described (the same with explanations), list (words
// that others follow behind commas), files or directories (besides the words), none.
bool TellWords(std::string_view kind, const std::vector<std::string>& words) {
  Print(fmt::format("{}\n{}{}", kind, fmt::join(words, "\n"), words.empty() ? "" : "\n"));
  FinishStdout();
  return true;
}

bool TellValues(const OptionValues& values, const std::string& current) {
  using Kind = OptionValues::Kind;
  switch (values.kind) {
    case Kind::kNone:
    case Kind::kFree:
      return TellWords("none", {});
    case Kind::kFiles:
      return TellWords("files", values.words);
    case Kind::kDirectories:
      return TellWords("directories", {});
    case Kind::kWords:
      return TellWords("words", values.words);
    case Kind::kList:
      break;
  }
  const std::string begun = current.substr(0, current.rfind(',') + 1);
  std::vector<std::string> words;
  for (const std::string& word : values.words) words.push_back(begun + word);
  return TellWords("list", words);
}

bool TellFollowers(const CLI::App& program, const Line& line) {
  std::vector<std::string> words;
  if (line.command == nullptr && !line.current.starts_with('-')) {
    for (const CLI::App* app : program.get_subcommands([](const CLI::App*) { return true; })) {
      words.push_back(fmt::format("{}\t{}", app->get_name(), FewWords(app->get_description())));
    }
    return TellWords("described", words);
  }
  const CLI::App& command = line.command ? *line.command : *program.get_subcommand(kUnnamedCommand);
  const bool wants_key =
      (command.get_name() == "advisor" && IsOneOf(line.before, {"why", "timeline"})) ||
      line.before == "--around";
  if (wants_key && !line.current.starts_with('-')) {
    for (const FindingType* finding : Catalogue()) words.emplace_back(finding->id);
    return TellWords("words", words);
  }
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string> spellings = SpellingsOf(*option);
    const OptionValues values = ValuesOf(*option);
    const bool is_before =
        std::ranges::find(spellings, WithUnderscores(line.before)) != spellings.end();
    if (is_before && values.kind != OptionValues::Kind::kNone)
      return TellValues(values, line.current);
  }
  if (line.current.starts_with('-')) {
    if (line.command == nullptr) AddOptions(program, line, words);
    AddOptions(command, line, words);
    return TellWords("described", words);
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) return TellValues(ValuesOf(*option), line.current);
  }
  return TellWords("none", {});
}

HelpPage AutoCompletionPage() {
  HelpPage page;
  page.summary = "Prints the line that sets up completion of msprof-analyze in a shell.";
  page.usage = {"auto-completion [bash|zsh|fish]"};
  page.examples = {"auto-completion bash"};
  page.notes = {
      "The shell then completes commands, options, their values, recipes, findings and paths. The"
      " deb and rpm packages set completion up themselves."};
  return page;
}

int TellLine(const std::string& name) {
  for (const Shell& shell : kShells) {
    if (ToLower(name) != shell.name) continue;
    const std::string request = fmt::format("{}={}_source", kRequest, shell.name);
    Print(Say("To complete command lines with Tab, add this line to {}:\n\n{}\n", shell.file,
              fmt::format(fmt::runtime(shell.line), request)));
  }
  FinishStdout();
  return 0;
}

}  // namespace

bool IsAskedByShell() { return !Variable(kRequest).empty(); }

bool AnswerShell(const CLI::App& program) {
  const std::string request = Variable(kRequest);
  if (request == "words") return TellFollowers(program, ReadLine(program));
  for (const Shell& shell : kShells) {
    if (request != fmt::format("{}_source", shell.name)) continue;
    Print(shell.script);
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

// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze auto-completion`: how a shell learns to complete command lines.
#include "auto_completion.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "command.h"
#include "completion.h"
#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "screen.h"

namespace mpa {
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

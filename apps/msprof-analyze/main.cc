// SPDX-License-Identifier: Apache-2.0
// The program: finds the command, runs it, and turns what went wrong into one line and an exit
// code.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <new>
#include <vector>

#include "agent.h"
#include "command.h"
#include "completion.h"
#include "help.h"
#include "mpa/base/columns.h"
#include "mpa/base/console.h"
#include "mpa/base/ending.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/memory.h"
#include "mpa/base/reword.h"
#include "mpa/base/text.h"
#include "printing.h"
#include "unknown_names.h"
#include "version.h"

namespace mpa {
namespace {

HelpPage ProgramPage(const CLI::App& program) {
  HelpPage page;
  page.summary = program.get_description();
  page.usage = {"COMMAND [OPTIONS]", "-m RECIPE -d DIR [OPTIONS]"};
  page.before_options = {CommandList(program), RecipeList()};
  page.examples = {"check ./result",
                   "compare -d ./new_ascend_pt -bp ./old_ascend_pt",
                   "compare -d ./new -bp ./old --fail_on 'step_time>+3%'",
                   "advisor all -d ./result",
                   "-m module_statistic -d ./result",
                   "parse ./result"};
  page.notes = {
      "For scripts and language models: --agent, with every command that reads captures, prints one"
      " bounded JSON object.",
      "See 'msprof-analyze COMMAND --help' and 'msprof-analyze -m RECIPE --help' for the options."};
  page.documents = {"output.md", "differences.md"};
  return page;
}

// The option, else the environment. Before anything else: options and messages are texts, too. The
// manual, what shells ask for, and documents for programs do not follow the environment.
void ChooseLanguage(int count, const char* const* arguments) {
  const auto any_of = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(arguments, arguments + count,
                       [&](const char* word) { return IsOneOf(word, words); });
  };
  const bool is_manual =
      count > 1 && std::string_view(arguments[1]) == "man" && !any_of({"-h", "--help"});
  if (IsAskedByShell() || is_manual) return;
  std::string_view given;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    const std::size_t equals = word.find('=');
    if (!IsOneOf(word.substr(0, equals), {"-l", "--language"})) continue;
    if (equals != std::string_view::npos) given = word.substr(equals + 1);
    if (equals == std::string_view::npos && i + 1 < count) given = arguments[i + 1];
  }
  if (!given.empty()) return SetLanguage(given == "cn" ? Language::kChinese : Language::kEnglish);
  if (any_of({"--json", "--agent"})) return;
  const EnvironmentLanguage environment = LanguageOfEnvironment();
  SetLanguage(environment.language);
  if (!environment.unwritable.empty())
    LogNotice("{} is not UTF-8; texts are in English (set LANG=zh_CN.UTF-8, or give --language cn)",
              environment.unwritable);
}

bool IsOption(const std::string& word) { return word.starts_with("-"); }

// Takes `all` away from "--help all".
HelpDetail TakeHelpDetail(std::vector<std::string>& arguments) {
  const auto is_help = [](const std::string& word) { return IsOneOf(word, {"-h", "--help"}); };
  for (auto word = arguments.begin(); word != arguments.end(); ++word) {
    if (*word == "--help=all") {
      *word = "--help";
      return HelpDetail::kAll;
    }
    if (*word == "all" && word != arguments.begin() && is_help(*std::prev(word))) {
      arguments.erase(word);
      return HelpDetail::kAll;
    }
  }
  return HelpDetail::kFirst;
}

// "help COMMAND" is "COMMAND --help", which people expect, too.
void TakeHelp(const CLI::App& program, std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "help" || arguments.size() > 2) return;
  if (arguments.size() == 1) {
    arguments = {"--help"};
    return;
  }
  const std::string about = arguments.back();
  const std::vector<std::string> commands = CommandNames(program);
  const std::vector<std::string_view> recipes = RecipeNames();
  if (std::ranges::find(commands, about) != commands.end()) {
    arguments = {about, "--help"};
  } else if (std::ranges::find(recipes, about) != recipes.end()) {
    arguments = {"cluster", "-m", about, "--help"};
  } else {
    FailUnknownCommand(program, about);
  }
}

// Puts the command first: `cluster` may be left out, as in "msprof-analyze -m RECIPE -d DIR", and
// the options that every command has may stand before it.
void PutCommandFirst(const CLI::App& program, std::vector<std::string>& arguments) {
  const auto first = std::ranges::find_if_not(arguments, MayStandBeforeCommand);
  if (first == arguments.end()) {
    if (arguments.size() == 1 && arguments[0] == "-v") arguments[0] = "--version";
    if (arguments.empty()) arguments.emplace_back("--help");
    return;
  }
  const std::vector<std::string> commands = CommandNames(program);
  if (std::ranges::find(commands, *first) != commands.end()) {
    std::rotate(arguments.begin(), first, first + 1);
    return;
  }
  std::error_code ignored;
  if (!IsOption(*first) && !std::filesystem::exists(ExpandHome(*first), ignored)) {
    FailUnknownCommand(program, *first);
  }
  const auto given = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::any_of(arguments,
                               [&](const std::string& word) { return IsOneOf(word, names); });
  };
  const bool of_program =
      given({"--version", "-V"}) || (given({"-h", "--help"}) && !given({"-m", "--mode"}));
  if (!of_program) arguments.insert(arguments.begin(), "cluster");
}

// What CLI11 says, in the language of the process.
std::string InOurWords(const std::string& message) {
  constexpr const char* kForms[] = {"Could not convert: {} = {}",
                                    "{}: Value {} not in range {} to {}",
                                    "{}: {} not in {}",
                                    "{}: Should be true/false or a number",
                                    "{}: too many inputs for a flag",
                                    "{}: At least {} required but received {}",
                                    "The value {} is not an allowed value for {}",
                                    "{} was given a disallowed flag override"};
  return Reworded(message, kForms);
}

// What CLI11 has to say, with the way out.
[[noreturn]] void FailParse(const CLI::App& command, const CLI::ParseError& error) {
  std::string message = error.what();
  // "--mode: 1 required RECIPE missing"
  constexpr std::string_view kMissing = ": 1 required ", kEnd = " missing";
  const std::size_t at = message.find(kMissing);
  if (at != std::string::npos && message.ends_with(kEnd)) {
    const std::size_t type = at + kMissing.size();
    const std::string name_of_type = message.substr(type, message.size() - kEnd.size() - type);
    message = Say("{} needs a value ({})", message.substr(0, at),
                  name_of_type.substr(0, name_of_type.find(':')));
  }
  // "--mode: At Most 1 required but received 2"
  constexpr std::string_view kRepeated = ": At Most 1 required but received ";
  if (const std::size_t repeated = message.find(kRepeated); repeated != std::string::npos) {
    const std::string option = message.substr(0, repeated);
    const std::string times = message.substr(repeated + kRepeated.size());
    if (option == "--mode")
      Fail(ErrorKind::kUsage, "-m is given {} times; join them: -m a,b", times);
    Fail(ErrorKind::kUsage, "{} is given {} times; give it once", option, times);
  }
  const std::string name = command.get_parent() == nullptr ? "" : command.get_name() + " ";
  Fail(ErrorKind::kUsage, "{}; see 'msprof-analyze {}--help'", InOurWords(message), name);
}

int RunProgram(int count, const char* const* arguments, Agent& agent) {
  CLI::App program("Finds out why a model is slow on Ascend NPUs, from captures of the profiler.",
                   "msprof-analyze");
  program.set_help_flag("-h,--help", "Show this page");
  program.set_version_flag("-V,--version", VersionText,
                           "Show the version and how the program was built");
  program.require_subcommand(0, 1);
  std::vector<Command> commands = {AddCompare(program, agent), AddCluster(program, agent),
                                   AddCheck(program, agent),   AddParse(program, agent),
                                   AddAdvisor(program, agent), AddMerge(program, agent),
                                   AddExport(program, agent),  AddQuery(program, agent),
                                   AddSchema(program),         AddMcp(program),
                                   AddSkill(program),          AddHistory(program, agent),
                                   AddAutoCompletion(program)};
  commands.push_back(AddManual(program, [&](const std::string& name) {
    const auto found = std::ranges::find_if(
        commands, [&](const Command& command) { return command.app->get_name() == name; });
    return found == commands.end() ? ManualPart{&program, ProgramPage(program)}
                                   : ManualPart{found->app, found->page()};
  }));
  std::vector<std::function<void()>> apply_common;
  apply_common.reserve(commands.size());
  for (const Command& command : commands) apply_common.push_back(AddCommonOptions(*command.app));

  if (AnswerShell(program)) return 0;

  std::vector<std::string> normalized = NormalizeArguments(count, arguments);
  TakeHelp(program, normalized);
  const HelpDetail detail = TakeHelpDetail(normalized);
  PutCommandFirst(program, normalized);
  std::ranges::reverse(normalized);  // the order in which CLI11 wants them
  const auto chosen = [&] {
    return std::ranges::find_if(commands,
                                [](const Command& command) { return command.app->parsed(); });
  };
  try {
    program.parse(normalized);
  } catch (const CLI::CallForHelp&) {
    const auto command = chosen();
    const std::size_t width = ScreenWidth(stdout);
    Print(command == commands.end()
              ? FormatHelp(program, ProgramPage(program), HelpDetail::kAll, width)
              : FormatHelp(*command->app, command->page(), detail, width));
    FinishStdout();
    return 0;
  } catch (const CLI::Success& success) {  // --version
    const int code = program.exit(success);
    FinishStdout();
    return code;
  } catch (const CLI::ParseError& error) {
    const auto command = chosen();
    const CLI::App& app = command == commands.end() ? program : *command->app;
    const bool is_unknown = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    if (is_unknown) FailUnknownOption(app, program.remaining(true));
    FailParse(app, error);
  }
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (!commands[i].app->parsed()) continue;
    apply_common[i]();
    if (!agent.IsWanted()) SetScreenColumns(ScreenWidth(stdout));
    // Without --memory_limit: better to end with a message than to be killed, or have others
    // killed, when the machine has no more.
    LimitMemory(MemoryOfProcess() / 10 * 9);
    const int exit_code = commands[i].run();
    if (agent.IsWanted()) agent.Finish(exit_code);
    return exit_code;
  }
  return 0;
}

int ReportFailure(ErrorKind kind, const char* text, Agent& agent) {
  WriteLog(LogLevel::kError, text);
  const int exit_code = ExitCode(kind);
  if (agent.IsWanted()) agent.FinishWithError(text, exit_code);
  return exit_code;
}

}  // namespace
}  // namespace mpa

int main(int argc, char** argv) {
  mpa::PrepareForEnds();
  mpa::KeepFreedMemory();
  mpa::Agent agent(mpa::NormalizeArguments(argc, argv));
  try {
    mpa::ChooseLanguage(argc, argv);
    return mpa::RunProgram(argc, argv, agent);
  } catch (const mpa::Error& error) {
    return mpa::ReportFailure(error.kind(), error.what(), agent);
  } catch (const std::filesystem::filesystem_error& error) {
    return mpa::ReportFailure(
        mpa::ErrorKind::kInput,
        fmt::format("{}: {}", error.path1().string(), error.code().message()).c_str(), agent);
  } catch (const std::bad_alloc&) {
    mpa::EndForMemory();
  } catch (const std::exception& error) {
    return mpa::ReportFailure(
        mpa::ErrorKind::kInternal,
        mpa::Say("internal error: {}; please report this", error.what()).c_str(), agent);
  }
}

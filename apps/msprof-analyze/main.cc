// SPDX-License-Identifier: Apache-2.0
// The program: finds the command, runs it, and turns what went wrong into one line and an exit
// code.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <vector>

#include "command.h"
#include "mpa/base/ending.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/memory.h"
#include "screen.h"

namespace mpa {
namespace {

constexpr const char* kMainFooter = R"(
Examples:
  msprof-analyze compare -d ./new_ascend_pt -bp ./old_ascend_pt
  msprof-analyze -m module_statistic -d ./result
  msprof-analyze check -d ./result
  msprof-analyze parse -d ./result

'msprof-analyze COMMAND --help' tells more about a command.)";

bool Contains(const std::vector<std::string>& words, std::initializer_list<const char*> wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
  });
}

// `cluster` may be left out, as in "msprof-analyze -m RECIPE -d DIR".
void AddDefaultCommand(const std::vector<Command>& commands, std::vector<std::string>& arguments) {
  const bool has_command =
      std::any_of(commands.begin(), commands.end(), [&](const Command& command) {
        return Contains(arguments, {command.app->get_name().c_str()});
      });
  if (has_command || Contains(arguments, {"--version", "-V"})) return;
  const bool wants_help = Contains(arguments, {"-h", "--help"});
  if (wants_help && !Contains(arguments, {"-m", "--mode"})) return;
  if (arguments.size() == 1 && arguments[0] == "-v") {
    arguments[0] = "--version";
  } else if (arguments.empty()) {
    arguments.emplace_back("--help");
  } else {
    arguments.insert(arguments.begin(), "cluster");
  }
}

int RunProgram(int count, const char* const* arguments) {
  CLI::App program(
      "Finds out why a model is slow on Ascend NPUs, from the captures of its profiler.",
      "msprof-analyze");
  program.footer(kMainFooter);
  program.set_version_flag("-V,--version", "msprof-analyze " MPA_VERSION);
  program.require_subcommand(0, 1);
  program.get_formatter()->column_width(34);
  std::vector<Command> commands = {AddCluster(program), AddCompare(program), AddCheck(program),
                                   AddParse(program)};
  std::vector<std::function<void()>> apply_common;
  apply_common.reserve(commands.size());
  for (const Command& command : commands) apply_common.push_back(AddCommonOptions(*command.app));

  std::vector<std::string> normalized = NormalizeArguments(count, arguments);
  AddDefaultCommand(commands, normalized);
  std::reverse(normalized.begin(), normalized.end());  // the order in which CLI11 wants them
  try {
    program.parse(normalized);
  } catch (const CLI::Success& success) {  // --help, --version
    const int code = program.exit(success);
    FinishStdout();
    return code;
  } catch (const CLI::ExtrasError&) {
    const auto chosen = program.get_subcommands();
    const CLI::App& command = chosen.empty() ? program : *chosen.front();
    FailUnknown(program, command, program.remaining(true));
  } catch (const CLI::ParseError& error) {
    const auto chosen = program.get_subcommands();
    const std::vector<std::string> unknown = program.remaining(true);
    // What is missing may be there, but misspelt.
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
        !unknown.empty()) {
      FailUnknown(program, chosen.empty() ? program : *chosen.front(), unknown);
    }
    Fail(ErrorKind::kUsage, "{}; see 'msprof-analyze {}--help'", error.what(),
         chosen.empty() ? "" : chosen.front()->get_name() + " ");
  }
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (!commands[i].app->parsed()) continue;
    apply_common[i]();
    // Without --memory_limit: better to end with a message than to be killed, or have others
    // killed, when the machine has no more.
    LimitMemory(MemoryOfProcess() / 10 * 9);
    return commands[i].run();
  }
  return 0;
}

int ReportFailure(ErrorKind kind, const char* text) {
  WriteLog(LogLevel::kError, text);
  return ExitCode(kind);
}

}  // namespace
}  // namespace mpa

int main(int argc, char** argv) {
  mpa::PrepareForEnds();
  try {
    return mpa::RunProgram(argc, argv);
  } catch (const mpa::Error& error) {
    return mpa::ReportFailure(error.kind(), error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return mpa::ReportFailure(
        mpa::ErrorKind::kInput,
        fmt::format("{}: {}", error.path1().string(), error.code().message()).c_str());
  } catch (const std::bad_alloc&) {
    mpa::EndForMemory();
  } catch (const std::exception& error) {
    return mpa::ReportFailure(
        mpa::ErrorKind::kInternal,
        fmt::format("internal error: {}; please report this", error.what()).c_str());
  }
}

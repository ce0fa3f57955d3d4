// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "help.h"
#include "mpa/base/error.h"
#include "mpa/base/rank.h"
#include "mpa/capture/capture.h"
#include "version.h"

namespace mpa {

/// A subcommand: its options live in the closures. `run` gives the exit code, `page` what --help
/// says, which may depend on the other options.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
  std::function<HelpPage()> page;
};

/// Adds options to a command, each with the type of its value and under a heading.
class OptionAdder {
 public:
  explicit OptionAdder(CLI::App& command) : command_(command) {}
  template <typename Value>
  CLI::Option* operator()(const char* name, Value& value, const std::string& help, const char* type,
                          const char* group) const {
    return command_.add_option(name, value, help)->type_name(type)->group(group);
  }
  /// Without a value of its own.
  template <typename Value>
  CLI::Option* Flag(const char* name, Value& value, const std::string& help,
                    const char* group) const {
    return command_.add_flag(name, value, help)->group(group);
  }

 private:
  CLI::App& command_;
};

class Agent;

/// Each adds its subcommand to the program. `agent` has to outlive the command.
Command AddCluster(CLI::App& program, Agent& agent);
Command AddCompare(CLI::App& program, Agent& agent);
Command AddCheck(CLI::App& program, Agent& agent);
Command AddParse(CLI::App& program, Agent& agent);
Command AddAdvisor(CLI::App& program, Agent& agent);
Command AddMerge(CLI::App& program, Agent& agent);
Command AddExport(CLI::App& program, Agent& agent);
Command AddQuery(CLI::App& program, Agent& agent);
Command AddSchema(CLI::App& program);
Command AddMcp(CLI::App& program);
Command AddSkill(CLI::App& program);
Command AddHistory(CLI::App& program, Agent& agent);
Command AddAutoCompletion(CLI::App& program);
/// `part` gives a command of the program by its name, and the program by no name.
Command AddManual(CLI::App& program, std::function<ManualPart(const std::string& name)> part);

struct ClusterRequest;
struct Recipe;

/// The options of commands that read the ranks of a job.
struct RankOptions {
  std::string rank_list = "all", step, memory_limit, memory;
  OpenOptions open;

  /// What they ask for, without arguments of a recipe. Throws Error (kUsage) that names the option.
  ClusterRequest Request(const std::string& directory) const;
  /// See ClusterRequest::reduce_bytes.
  std::int64_t ReduceBytes() const;
};

std::vector<std::string_view> RecipeNames();

/// The recipes and what they are for.
HelpPage::List RecipeList();

/// True for an option that only some recipes have, and for one that this recipe has.
bool IsOfRecipes(const CLI::Option& option);
bool IsOfRecipe(const CLI::Option& option, const Recipe& recipe);

/// True for an option that may stand before the command: -v, -q.
bool MayStandBeforeCommand(const std::string& word);

/// --jobs, --language, -v, -q and --help, which every command has; applied by the function that is
/// returned.
std::function<void()> AddCommonOptions(CLI::App& command);

/// --force and --raw, of the commands that read captures.
void AddOpenOptions(CLI::App& command, OpenOptions& options);

/// The captures that a command reads: -d PATH, once or more, and paths alone, as shells make them
/// of "-d result/*_ascend_pt".
class CaptureArgument {
 public:
  /// Adds both to a command; *this has to outlive the parsing.
  void AddTo(CLI::App& command, const std::string& help);
  bool Given() const { return !named_.empty() || !bare_.empty(); }
  /// See PathOf(). `usage` is the command as it should be.
  std::string Path(std::string_view usage, OpenOptions& open) const;

 private:
  std::vector<std::string> named_, bare_;
};

/// The path that was given, "~" replaced; of several the directory above them, where `open` says
/// which. Throws Error (kUsage) if there is none, or a further one does not exist.
std::string PathOf(const std::vector<std::string>& given, std::string_view usage,
                   OpenOptions& open);

/// Calls `prepare`, which makes sure that results can be written. Gives the Error (kOutput) to end
/// with, once the answer is on the screen, where nobody asked for the directory; else throws it.
std::optional<Error> PrepareOrTell(bool is_given, const std::function<void()>& prepare);

/// "-bp" of "--benchmark_profiling_path"; empty for options without a short name of two letters.
std::string TwoLetterName(const std::string& option);

/// The arguments behind the program's name as the parser wants them: option names with hyphens get
/// underscores, the two-letter short names become long ones, "-d=X" becomes "-d X".
std::vector<std::string> NormalizeArguments(int count, const char* const* arguments);

/// `path` with a leading "~" replaced by the home directory.
std::string ExpandHome(const std::string& path);

/// Of the environment; empty where it is not set.
std::string Variable(const char* name);

/// "20261231235959": now.
std::string UtcTimeStamp();

/// The bytes of a size such as 8G. Throws Error (kUsage, names the option).
std::int64_t ParseMemory(const char* option, const std::string& text);

/// "8G" as bytes, to which the process is held; three quarters of the memory of the process if
/// nothing was given. Throws Error (kUsage) that names the option.
std::int64_t ApplyMemoryLimit(const char* option, const std::string& text);

/// --memory_limit; see ApplyMemoryLimit().
CLI::Option* AddMemoryOption(CLI::App& command, std::string& limit);

/// --memory, of the commands that replay ranks.
void AddReplayMemoryOption(const OptionAdder& add, std::string& memory);

/// How a step may be written: "5" alone, or any whole number, where -1 means all steps.
enum class StepForm { kDigits, kNumberOrAll };

/// The step that `option` names; empty means all. Throws Error (kUsage) when `text` is no step.
std::optional<std::int32_t> ParseStep(const char* option, const std::string& text, StepForm form);

/// "0,1,4-7" as a set; empty for "all" and for no text. Throws Error (kUsage) that names the
/// option.
std::optional<std::set<RankId>> ParseRanks(const char* option, const std::string& text);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mpa/capture/capture.h"

namespace mpa {

/// A subcommand: its options live in the closure of `run`, which gives the exit code.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

/// Each adds its subcommand to the program.
Command AddCluster(CLI::App& program);
Command AddCompare(CLI::App& program);
Command AddCheck(CLI::App& program);
Command AddParse(CLI::App& program);

/// --jobs, -v and -q, which every command has; applied by the function that is returned.
std::function<void()> AddCommonOptions(CLI::App& command);

/// --force and --raw, of the commands that read captures.
void AddOpenOptions(CLI::App& command, OpenOptions& options);

/// The arguments behind the program's name as the parser wants them: option names with hyphens get
/// underscores, the two-letter short names become long ones, "-d=X" becomes "-d X".
std::vector<std::string> NormalizeArguments(int count, const char* const* arguments);

/// `path` with a leading "~" replaced by the home directory.
std::string ExpandHome(const std::string& path);

/// "20261231235959": now.
std::string UtcTimeStamp();

/// The bytes of a size such as 8G. Throws Error (kUsage, names the option).
std::int64_t ParseMemory(const char* option, const std::string& text);

/// "8G" as bytes, to which the process is held; three quarters of the memory of the process if
/// nothing was given. Throws Error (kUsage) that names the option.
std::int64_t ApplyMemoryLimit(const char* option, const std::string& text);

/// How a step may be written: "5" alone, or any whole number, where -1 means all steps.
enum class StepForm { kDigits, kNumberOrAll };

/// The step that `option` names; empty means all. Throws Error (kUsage) when `text` is no step.
std::optional<std::int32_t> ParseStep(const char* option, const std::string& text, StepForm form);

/// "0,1,4-7" as a set; empty for "all" and for no text. Throws Error (kUsage) that names the option.
std::optional<std::set<std::int64_t>> ParseRanks(const char* option, const std::string& text);

/// Throws Error (kUsage) that names an unknown option or command of `program`, and the nearest
/// known one.
[[noreturn]] void FailUnknown(const CLI::App& program, const CLI::App& command,
                              const std::vector<std::string>& unknown);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "mcp_tools.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "agent.h"
#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/writers/agent.h"
#include "query_output.h"

extern char** environ;

namespace mpa {
namespace {

namespace fs = std::filesystem;
using Json = McpTools::Json;

constexpr std::size_t kUsualChars = 4000, kMostChars = 100'000;

struct ToolArgument {
  const char *name, *type, *meaning;
  bool required = false;
};

constexpr ToolArgument kCaptures{
    "path", "string", "capture, or directory with the captures of all ranks of a job", true};
constexpr ToolArgument kChars{"max_chars", "integer", "longest answer in bytes, 600 to 100000"};

constexpr ToolArgument kOfCheck[] = {kCaptures, kChars};
constexpr ToolArgument kOfDiagnose[] = {
    kCaptures, {"rank_list", "string", "ranks, such as 0,1,4-7; all without it"}, kChars};
constexpr ToolArgument kOfWhy[] = {
    kCaptures,
    {"key", "string", "key of a finding of diagnose, such as comm.wait/r5", true},
    kChars};
constexpr ToolArgument kOfCompare[] = {
    kCaptures, {"base", "string", "what to compare with", true}, kChars};
constexpr ToolArgument kOfQuery[] = {
    kCaptures,
    {"sql", "string",
     "one SELECT (SQLite). Without it: the tables with rows. Times are ns, sizes bytes, NULL is not"
     " recorded"},
    {"base", "string", "captures to compare with: every table then has the column side"},
    kChars};
constexpr ToolArgument kOfTimeline[] = {
    kCaptures,
    {"rank", "integer", "rank; the first one without it"},
    {"from_ms", "number", "begin, in ms after the first step of the rank began", true},
    {"to_ms", "number", "end, in ms after the first step of the rank began", true},
    kChars};

struct Tool {
  const char *name, *description;
  std::span<const ToolArgument> arguments;
  std::vector<const char*> command;  // with what stands for the path, and for another argument
};

// "{path}": the value of that argument. "{rank_list?}": the option with its value, where it is
// given.
const std::vector<Tool>& Tools() {
  static const std::vector<Tool> tools = {
      {"check",
       "What captures hold, which analyses can use them, and how to collect what is missing. Begin"
       " here.",
       kOfCheck,
       {"check", "{path}"}},
      {"diagnose",
       "What slows the step down, on which ranks, and what mending it wins: findings by gain, each"
       " with a key.",
       kOfDiagnose,
       {"advisor", "all", "-d", "{path}", "{rank_list?}"}},
      {"why",
       "The evidence of one finding: numbers, places, what would refute it.",
       kOfWhy,
       {"advisor", "why", "{key}", "-d", "{path}"}},
      {"compare",
       "What differs between two captures, and what it costs.",
       kOfCompare,
       {"compare", "-d", "{path}", "-bp", "{base}"}},
      {"query", "Any other question, as SQL over the captures.", kOfQuery, {}},
      {"timeline",
       "What ran on one rank within some ms: kernels, collectives and operators, the longest"
       " first.",
       kOfTimeline,
       {}}};
  return tools;
}

const Tool& FindTool(const std::string& name) {
  const auto tool =
      std::ranges::find_if(Tools(), [&](const Tool& one) { return one.name == name; });
  if (tool == Tools().end()) Fail(ErrorKind::kUsage, "unknown tool: {}", name);
  return *tool;
}

// Throws Error (kUsage) that says which argument is wrong.
void Check(const Tool& tool, const Json& arguments) {
  if (!arguments.is_object()) Fail(ErrorKind::kUsage, "{}: arguments must be an object", tool.name);
  for (const auto& [name, value] : arguments.items()) {
    const auto known = std::ranges::find_if(
        tool.arguments, [&, &key = name](const ToolArgument& one) { return one.name == key; });
    if (known == tool.arguments.end())
      Fail(ErrorKind::kUsage, "{}: unknown argument '{}'", tool.name, name);
    const std::string_view type = known->type;
    const bool fits = type == "string"    ? value.is_string()
                      : type == "integer" ? value.is_number_integer()
                                          : value.is_number();
    if (!fits) Fail(ErrorKind::kUsage, "{}: '{}' must be of type {}", tool.name, name, type);
  }
  for (const ToolArgument& argument : tool.arguments) {
    if (argument.required && !arguments.contains(argument.name))
      Fail(ErrorKind::kUsage, "{}: '{}' is required: {}", tool.name, argument.name,
           argument.meaning);
  }
}

std::string ArgumentText(const Json& arguments, std::string_view key) {
  const auto found = arguments.find(key);
  if (found == arguments.end()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// What the program prints on stdout for these arguments. A process of its own: whatever happens
// there, the next question is answered.
McpTools::Result RunItself(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) Fail(ErrorKind::kResource, "no pipe can be made");
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<std::string> words = {"msprof-analyze"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t process = 0;
  const int failed =
      posix_spawn(&process, "/proc/self/exe", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  (void)close(ends[1]);
  McpTools::Result result;
  std::array<char, 4096> piece{};
  for (ssize_t bytes = 0; (bytes = read(ends[0], piece.data(), piece.size())) > 0;)
    result.text.append(piece.data(), static_cast<std::size_t>(bytes));
  (void)close(ends[0]);
  if (failed != 0) Fail(ErrorKind::kResource, "the program cannot be started again");
  int status = 0;
  (void)waitpid(process, &status, 0);
  // 1, 4 and 5 are answers, too.
  const bool ended = WIFEXITED(status);
  const int code = ended ? WEXITSTATUS(status) : -1;
  result.is_error = code != 0 && code != 1 && code != 4 && code != 5;
  if (result.text.empty()) result.text = Say("the command ended without an answer");
  return result;
}

std::size_t CharsOf(const Json& arguments) {
  const auto given = arguments.find("max_chars");
  if (given == arguments.end()) return kUsualChars;
  const auto most = given->get<std::int64_t>();
  if (most < static_cast<std::int64_t>(kFewestChars) ||
      most > static_cast<std::int64_t>(kMostChars))
    Fail(ErrorKind::kUsage, "max_chars {}: give {} to {}", most, kFewestChars, kMostChars);
  return static_cast<std::size_t>(most);
}

// What runs within the time, as a statement.
std::string TimelineSql(const Json& arguments) {
  const auto ns = [&](const char* key) {
    const double ms = arguments.at(key).get<double>();
    constexpr double kMost = 1e12;
    if (!(std::abs(ms) < kMost)) Fail(ErrorKind::kUsage, "{}: give a time in ms", key);
    return static_cast<std::int64_t>(std::llround(ms * 1e6));
  };
  const std::int64_t from = ns("from_ms"), to = ns("to_ms");
  if (from >= to) Fail(ErrorKind::kUsage, "from_ms must be before to_ms");
  const auto rank = arguments.find("rank");
  const std::string of_rank =
      rank == arguments.end() ? "(SELECT min(rank) FROM step)" : rank->dump();
  const auto part = [&](std::string_view kind, std::string_view table) {
    return fmt::format(
        "SELECT '{0}' kind, name, start - zero AS start_ns, dur FROM {1}, z WHERE rank = {2} AND"
        " start < zero + {4} AND start + dur > zero + {3}",
        kind, table, of_rank, from, to);
  };
  return fmt::format(
      "WITH z AS (SELECT min(start) zero FROM step WHERE rank = {}) {} UNION ALL {} UNION ALL {}"
      " ORDER BY dur DESC",
      of_rank, part("kernel", "kernel"), part("collective", "comm"), part("operator", "op"));
}

}  // namespace

Json McpTools::List() {
  Json list = Json::array();
  for (const Tool& tool : Tools()) {
    Json properties = Json::object(), required = Json::array();
    for (const ToolArgument& argument : tool.arguments) {
      properties[argument.name] = {{"type", argument.type}, {"description", argument.meaning}};
      if (argument.required) required.push_back(argument.name);
    }
    list.push_back({{"name", tool.name},
                    {"description", tool.description},
                    {"inputSchema",
                     {{"type", "object"},
                      {"properties", std::move(properties)},
                      {"required", std::move(required)},
                      {"additionalProperties", false}}},
                    {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}});
  }
  return list;
}

std::string McpTools::PathIn(const Json& arguments, const char* key) const {
  const std::string given = ArgumentText(arguments, key);
  if (given.empty()) return {};
  std::error_code error;
  const fs::path path = fs::weakly_canonical(root_ / given, error);
  const fs::path inside = path.lexically_relative(root_);
  const bool is_below = !error && !inside.empty() && *inside.begin() != "..";
  if (!is_below)
    Fail(ErrorKind::kUsage, "{} {}: outside of {}; start mcp with another --root", key, given,
         root_.string());
  if (!fs::exists(path, error))
    Fail(ErrorKind::kInput, "{} {}: no such file or directory; check the path", key, given);
  return path.string();
}

QueryJob& McpTools::JobOf(const std::string& captures, const std::string& base) {
  const std::string both = captures + '\n' + base;
  if (job_ != nullptr && loaded_ == both) return *job_;
  job_.reset();
  const RankOptions options;
  std::vector<QuerySide> sides;
  if (!base.empty()) sides.push_back({"base", options.Request(base)});
  sides.push_back({base.empty() ? "" : "comparison", options.Request(captures)});
  job_ = std::make_unique<QueryJob>(std::move(sides));
  loaded_ = both;
  return *job_;
}

McpTools::Result McpTools::Ask(const std::string& captures, const std::string& base,
                               const std::string& sql, std::size_t most) {
  QueryJob& job = JobOf(captures, base);
  AgentAnswer answer{.question = sql};
  TellAgent(sql.empty() ? job.Tables() : job.Run(sql), answer);
  return {AgentObject("success", 0, AgentMessage(answer, most), ""), false};
}

McpTools::Result McpTools::Call(const std::string& name, const Json& arguments) {
  const Tool& tool = FindTool(name);
  try {
    Check(tool, arguments);
    const std::string captures = PathIn(arguments, "path"), base = PathIn(arguments, "base");
    const std::size_t most = CharsOf(arguments);
    if (tool.command.empty()) {
      const bool is_timeline = name == "timeline";
      return Ask(captures, base,
                 is_timeline ? TimelineSql(arguments) : ArgumentText(arguments, "sql"), most);
    }
    std::vector<std::string> words;
    for (const std::string_view word : tool.command) {
      if (word == "{path}") {
        words.push_back(captures);
      } else if (word == "{base}") {
        words.push_back(base);
      } else if (word == "{key}") {
        words.push_back(ArgumentText(arguments, "key"));
        if (words.back().starts_with('-')) Fail(ErrorKind::kUsage, "{}: not a key", words.back());
      } else if (word == "{rank_list?}") {
        const std::string ranks = ArgumentText(arguments, "rank_list");
        if (!ranks.empty()) words.push_back("--rank_list=" + ranks);
      } else {
        words.emplace_back(word);
      }
    }
    words.insert(words.end(), {"--agent", "--max_chars", fmt::format("{}", most)});
    return RunItself(words);
  } catch (const Error& error) {
    return {error.what(), true};
  }
}

}  // namespace mpa

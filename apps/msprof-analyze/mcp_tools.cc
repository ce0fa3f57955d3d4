// SPDX-License-Identifier: Apache-2.0
#include "mcp_tools.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <string_view>
#include <utility>
#include <vector>

#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/writers/agent.h"
#include "query_output.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;
using Json = McpTools::Json;

constexpr std::int64_t kUsualChars = 4000, kMostChars = 100'000;

struct ToolArgument {
  std::string_view name, type, meaning;
};
constexpr ToolArgument kArguments[] = {
    {"path", "string", "capture, or directory with the captures of all ranks of a job"},
    {"base", "string", "captures to compare with; every table of query then has the column side"},
    {"rank_list", "string", "ranks, such as 0,1,4-7; all without it"},
    {"key", "string", "key of a finding of diagnose, such as comm.wait/r5"},
    {"sql", "string",
     "one SELECT (SQLite). Without it: the tables with rows. Times are ns, sizes bytes, NULL is not"
     " recorded"},
    {"rank", "integer", "rank; the first one without it"},
    {"from_ms", "number", "begin, in ms after the first step of the rank began"},
    {"to_ms", "number", "end, in ms after the first step of the rank began"},
    {"max_chars", "integer", "longest answer in bytes, 600 to 100000"}};

// The arguments of a tool, with "?" where they may be missing, and the command with them in braces:
// without the words of those that are missing. No command: a statement of `query`.
struct Tool {
  std::string_view name, description, arguments, command;
};
constexpr Tool kTools[] = {
    {"check",
     "What captures hold, which analyses can use them, and how to collect what is missing. Begin"
     " here.",
     "path max_chars?", "check {path}"},
    {"diagnose",
     "What slows the step down, on which ranks, and what mending it wins: findings by gain, each"
     " with a key.",
     "path rank_list? max_chars?", "advisor all -d {path} --rank_list={rank_list}"},
    {"why", "The evidence of one finding: numbers, places, what would refute it.",
     "path key max_chars?", "advisor why {key} -d {path}"},
    {"compare", "What differs between two captures, and what it costs.", "path base max_chars?",
     "compare -d {path} -bp {base}"},
    {"query", "Any other question, as SQL over the captures.", "path sql? base? max_chars?", ""},
    {"timeline",
     "What ran on one rank within some ms: kernels, collectives and operators, the longest first.",
     "path rank? from_ms to_ms max_chars?", ""}};

struct Wanted {
  const ToolArgument* argument;
  bool required;
};

std::vector<Wanted> WantedBy(const Tool& tool) {
  std::vector<Wanted> wanted;
  for (std::string_view name : Split(tool.arguments, ' ')) {
    const bool required = !name.ends_with('?');
    if (!required) name.remove_suffix(1);
    wanted.push_back({std::ranges::find(kArguments, name, &ToolArgument::name), required});
  }
  return wanted;
}

// Throws Error (kUsage) that says which argument is wrong.
void Check(const Tool& tool, const Json& arguments) {
  if (!arguments.is_object()) Fail(ErrorKind::kUsage, "{}: arguments must be an object", tool.name);
  const std::vector<Wanted> wanted = WantedBy(tool);
  for (const auto& [name, value] : arguments.items()) {
    const auto known = std::ranges::find_if(
        wanted, [&, &key = name](const Wanted& one) { return one.argument->name == key; });
    if (known == wanted.end())
      Fail(ErrorKind::kUsage, "{}: unknown argument '{}'", tool.name, name);
    const std::string_view type = known->argument->type;
    const bool fits = type == "string"    ? value.is_string()
                      : type == "integer" ? value.is_number_integer()
                                          : value.is_number();
    if (!fits) Fail(ErrorKind::kUsage, "{}: '{}' must be of type {}", tool.name, name, type);
  }
  for (const auto& [argument, required] : wanted) {
    if (required && !arguments.contains(argument->name))
      Fail(ErrorKind::kUsage, "{}: '{}' is required: {}", tool.name, argument->name,
           argument->meaning);
  }
}

// What the program prints on stdout for these arguments. A process of its own: whatever happens
// there, the next question is answered. It ends with this one.
McpTools::Result RunItself(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) Fail(ErrorKind::kResource, "no pipe can be made");
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(ends[1], STDOUT_FILENO);
    (void)execv("/proc/self/exe", pointers.data());
    _exit(127);
  }
  (void)close(nothing);
  (void)close(ends[1]);
  McpTools::Result result;
  std::array<char, 4096> piece{};
  for (ssize_t bytes = 0; (bytes = read(ends[0], piece.data(), piece.size())) > 0;)
    result.text.append(piece.data(), static_cast<std::size_t>(bytes));
  (void)close(ends[0]);
  if (process < 0) Fail(ErrorKind::kResource, "the program cannot be started again");
  int status = 0;
  (void)waitpid(process, &status, 0);
  // 1, 4 and 5 are answers, too.
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.is_error = code != 0 && code != 1 && code != 4 && code != 5;
  if (result.text.empty()) result.text = Say("the command ended without an answer");
  return result;
}

std::size_t CharsOf(const Json& arguments) {
  const auto most = arguments.value("max_chars", kUsualChars);
  if (most < static_cast<std::int64_t>(kFewestChars) || most > kMostChars)
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
  const std::string rank =
      arguments.contains("rank") ? arguments["rank"].dump() : "(SELECT min(rank) FROM step)";
  const auto part = [&](std::string_view kind, std::string_view table) {
    return fmt::format(
        "SELECT rank, '{0}' kind, name, start - zero AS start_ns, dur AS dur_ns FROM {1}, z WHERE"
        " rank = {2} AND start < zero + {4} AND start + dur > zero + {3}",
        kind, table, rank, from, to);
  };
  return fmt::format(
      "WITH z AS (SELECT min(start) zero FROM step WHERE rank = {}) {} UNION ALL {} UNION ALL {}"
      " ORDER BY dur_ns DESC",
      rank, part("kernel", "kernel"), part("collective", "comm"), part("operator", "op"));
}

}  // namespace

Json McpTools::List() {
  Json list = Json::array();
  for (const Tool& tool : kTools) {
    Json properties = Json::object(), needed = Json::array();
    for (const auto& [argument, required] : WantedBy(tool)) {
      properties[std::string(argument->name)] = {{"type", argument->type},
                                                 {"description", argument->meaning}};
      if (required) needed.push_back(argument->name);
    }
    list.push_back({{"name", tool.name},
                    {"description", tool.description},
                    {"inputSchema",
                     {{"type", "object"},
                      {"properties", std::move(properties)},
                      {"required", std::move(needed)},
                      {"additionalProperties", false}}},
                    {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}});
  }
  return list;
}

bool McpTools::IsBelow(const fs::path& path) const {
  const fs::path inside = path.lexically_relative(root_);
  return !inside.empty() && *inside.begin() != "..";
}

std::string McpTools::PathIn(const Json& arguments, const char* key) const {
  const std::string given = arguments.value(key, "");
  if (given.empty()) return {};
  std::error_code error;
  const fs::path path = fs::weakly_canonical(root_ / given, error);
  const auto refuse = [&](const std::string& which) {
    Fail(ErrorKind::kUsage, "{} {}: outside of {}; start mcp with another --root", key, which,
         root_.string());
  };
  if (error || !IsBelow(path)) refuse(given);
  if (!fs::exists(path, error))
    Fail(ErrorKind::kInput, "{} {}: no such file or directory; check the path", key, given);
  // Captures are looked for below it.
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code dangling;
    if (entry->is_symlink(dangling) && !IsBelow(fs::weakly_canonical(entry->path(), dangling)))
      refuse(entry->path().string());
  }
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

McpTools::Result McpTools::Call(const std::string& name, const Json& arguments) {
  const auto* const tool = std::ranges::find(kTools, name, &Tool::name);
  if (tool == std::end(kTools)) Fail(ErrorKind::kUsage, "unknown tool: {}", name);
  try {
    Check(*tool, arguments);
    const std::string captures = PathIn(arguments, "path"), base = PathIn(arguments, "base");
    const std::size_t most = CharsOf(arguments);
    if (tool->command.empty()) {
      const bool is_timeline = name == "timeline";
      const std::string sql = is_timeline ? TimelineSql(arguments) : arguments.value("sql", "");
      QueryJob& job = JobOf(captures, base);
      AgentAnswer answer{.question = sql};
      const QueryAnswer rows = sql.empty() ? job.Tables() : job.Run(sql);
      TellAgent(rows, answer);
      if (is_timeline) {
        answer.question = fmt::format("what ran on a rank from {} to {} ms",
                                      arguments["from_ms"].dump(), arguments["to_ms"].dump());
        answer.scope.back().second = "start_ns: ns after the first step of the rank began";
      }
      return {FormatAgent(answer, rows.partial ? kExitPartial : 0, most), false};
    }
    std::vector<std::string> words = {"msprof-analyze"};
    for (const std::string_view word : Split(tool->command, ' ')) {
      const std::size_t brace = std::min(word.find('{'), word.size());
      const std::string before(word.substr(0, brace));
      if (brace == word.size()) {
        words.push_back(before);
        continue;
      }
      const std::string key(word.substr(brace + 1, word.size() - brace - 2));
      if (!arguments.contains(key)) continue;
      words.push_back(key == "path"   ? captures
                      : key == "base" ? base
                                      : before + arguments[key].get<std::string>());
      if (words.back().starts_with('-') && before.empty())
        Fail(ErrorKind::kUsage, "{}: not a key", words.back());
    }
    words.insert(words.end(), {"--agent", "--max_chars", fmt::format("{}", most)});
    return RunItself(std::move(words));
  } catch (const Error& error) {
    return {error.what(), true};
  }
}

}  // namespace mpa

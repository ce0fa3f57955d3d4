// SPDX-License-Identifier: Apache-2.0
// What the commands share on the command line.
#include "command.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "choices.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/memory.h"
#include "mpa/base/parallel.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"
#include "mpa/pipeline/cluster.h"
#include "mpa/writers/agent.h"

namespace mpa {
namespace {

// CLI11 knows one-letter short names only.
const std::map<std::string, std::string> kTwoLetterNames = {
    {"-bp", "--benchmark_profiling_path"},
    {"-cv", "--cann_version"},
    {"-tv", "--torch_version"},
    {"-pt", "--profiling_type"},
};

bool IsShortOption(const std::string& argument) {
  return argument.size() >= 2 && argument[0] == '-' && argument[1] != '-';
}

}  // namespace

bool MayStandBeforeCommand(const std::string& word) {
  return IsOneOf(word, {"-v", "-vv", "--verbose", "-q", "--quiet"});
}

std::function<void()> AddCommonOptions(CLI::App& command) {
  struct Common {
    int jobs = 0;
    int verbosity = 0;
    bool quiet = false;
    bool agent = false;  // main() looks for both before options are read
    std::size_t max_chars = 0;
    std::string language;  // main() has chosen it, before texts are made
  };
  const auto common = std::make_shared<Common>();
  command.get_help_ptr()
      ->description("Show what is needed first; --help all shows everything")
      ->group(kCommon);
  const OptionAdder add(command);
  add.Flag("-v,--verbose", common->verbosity, "Log which file feeds which table; -vv logs more",
           kCommon);
  add.Flag("-q,--quiet", common->quiet, "Log errors only", kCommon);
  add("-l,--language", common->language,
      "Language of texts for people [default: that of LC_ALL, LC_MESSAGES or LANG]", "LANG",
      kCommon)
      ->check(OneOf({"en", "cn"}));
  // What they print has one form.
  const bool reads_captures =
      !IsOneOf(command.get_name(), {"auto-completion", "man", "skill", "schema", "mcp"});
  if (reads_captures)
    add.Flag("--agent", common->agent, "Print one bounded JSON object for agents", kMaxUsed);
  if (reads_captures && command.get_option_no_throw("--max_chars") == nullptr) {
    add("--max_chars", common->max_chars,
        "Longest document of --agent, in bytes; rows that have no room are counted [default: 2000]",
        "K", kCommon)
        ->check(CLI::Range(kFewestChars, std::size_t{1} << 30));
  }
  add("--jobs", common->jobs, "Number of threads [default: one per CPU]", "N", kCommon)
      ->check(CLI::Range(1, 1024));
  return [common] {
    SetJobs(common->jobs);
    if (common->quiet) {
      SetLogLevel(LogLevel::kError);
    } else if (common->verbosity > 0) {
      SetLogLevel(common->verbosity > 1 ? LogLevel::kDebug : LogLevel::kInfo);
    }
  };
}

void AddOpenOptions(CLI::App& command, OpenOptions& options) {
  const OptionAdder add(command);
  add.Flag("--raw", options.raw,
           "Read the raw data (PROF_*, FRAMEWORK) even if the capture was parsed; unparsed captures"
           " are always read this way. Experimental for chips other than 910A, 910B and 910C",
           kReading);
  add("--graph_capture", options.graph_capture,
      "Trace of the graph capture (CUDA, HIP), or a directory of such traces, which names the"
      " operators of kernels that a graph launched [default: capture_traces/ beside the trace]",
      "FILE", kReading);
  add.Flag("--force", options.force,
           "Read files of other owners without a warning, and follow links that lead out of"
           " the capture",
           kReading);
}

void CaptureArgument::AddTo(CLI::App& command, const std::string& help) {
  OptionAdder{command}("-d,--profiling_path", named_, help, "PATH", kMaxUsed)
      ->allow_extra_args(false);
  command.add_option("path", bare_)->expected(-1)->type_name("PATH");
}

std::string CaptureArgument::Path(std::string_view usage, OpenOptions& open) const {
  std::vector<std::string> given = named_;
  given.insert(given.end(), bare_.begin(), bare_.end());
  return PathOf(given, usage, open);
}

std::string PathOf(const std::vector<std::string>& given, std::string_view usage,
                   OpenOptions& open) {
  if (given.empty() || given.front().empty()) {
    Fail(ErrorKind::kUsage, "-d,--profiling_path is required; give the captures: {}", usage);
  }
  std::vector<std::filesystem::path> paths;
  for (const std::string& path : given) {
    paths.emplace_back(ExpandHome(path));
    std::error_code ignored;
    if (paths.size() > 1 && !std::filesystem::exists(paths.back(), ignored))
      Fail(ErrorKind::kUsage, "unexpected argument '{}': no such path; give {}", path, usage);
  }
  if (paths.size() == 1) return paths.front().string();
  ChosenCaptures chosen = InContext("-d", [&] { return Together(paths); });
  if (chosen.paths.size() == 1) return paths.front().string();
  open.chosen = std::move(chosen);
  return open.chosen.top.string();
}

std::optional<Error> PrepareOrTell(bool is_given, const std::function<void()>& prepare) {
  try {
    InContext(is_given ? "-o" : Translated("the results"), prepare);
  } catch (const Error& error) {
    const bool is_taken = error.kind() == ErrorKind::kUsage;  // by a file, for one
    if (is_given || (error.kind() != ErrorKind::kOutput && !is_taken)) throw;
    return Error(ErrorKind::kOutput, Say("{}; give -o DIR", error.what()));
  }
  return std::nullopt;
}

std::vector<std::string> NormalizeArguments(int count, const char* const* arguments) {
  std::vector<std::string> normalized;
  for (int i = 1; i < count; ++i) {
    std::string argument = arguments[i];
    const std::size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    if (argument.starts_with("--") && argument.size() > 2) {
      std::replace(name.begin() + 2, name.end(), '-', '_');
      normalized.push_back(equals == std::string::npos ? name : name + argument.substr(equals));
    } else if (IsShortOption(argument)) {
      const auto two_letters = kTwoLetterNames.find(name);
      if (two_letters != kTwoLetterNames.end()) name = two_letters->second;
      if (name == "-H") name = "-h";
      normalized.push_back(name);
      if (equals != std::string::npos) normalized.push_back(argument.substr(equals + 1));
    } else {
      normalized.push_back(std::move(argument));
    }
  }
  return normalized;
}

std::string TwoLetterName(const std::string& option) {
  for (const auto& [two_letters, name] : kTwoLetterNames) {
    if (name == option) return two_letters;
  }
  return {};
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string UtcTimeStamp() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 16> text{};
  (void)std::strftime(text.data(), text.size(), "%Y%m%d%H%M%S", &utc);
  return text.data();
}

std::string ExpandHome(const std::string& path) {
  const char* home = std::getenv("HOME");
  if (home == nullptr || !(path == "~" || path.starts_with("~/"))) return path;
  return home + path.substr(1);
}

std::optional<std::int32_t> ParseStep(const char* option, const std::string& text, StepForm form) {
  const bool or_all = form == StepForm::kNumberOrAll;
  if (text.empty() || (or_all && text == "-1")) return std::nullopt;  // -1 as in the Python tool
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  const auto step = digits || or_all ? io::ParseInt(text) : std::nullopt;
  if (!step || *step < 0 || *step > std::numeric_limits<std::int32_t>::max()) {
    Fail(ErrorKind::kUsage, "{} {}: invalid step; give a whole number such as 5", option, text);
  }
  return static_cast<std::int32_t>(*step);
}

std::int64_t ParseMemory(const char* option, const std::string& text) {
  int shift = 0;
  std::string number = text;
  constexpr std::string_view kUnits = "KMGT";
  const std::size_t unit =
      text.empty()
          ? std::string::npos
          : kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.back()))));
  if (unit != std::string::npos) {
    shift = 10 * (static_cast<int>(unit) + 1);
    number.pop_back();
  }
  const auto value = io::ParseInt(number);
  if (!value || *value <= 0 || *value > (std::int64_t{1} << 60) >> shift) {
    Fail(ErrorKind::kUsage, "{} {}: invalid size; give one such as 8G", option, text);
  }
  return *value << shift;
}

std::int64_t ApplyMemoryLimit(const char* option, const std::string& text) {
  if (text.empty()) return MemoryOfProcess() / 4 * 3;
  const std::int64_t bytes = ParseMemory(option, text);
  LimitMemory(bytes);
  return bytes;
}

CLI::Option* AddMemoryOption(CLI::App& command, std::string& limit) {
  return command
      .add_option(
          "--memory_limit", limit,
          "Limit of the memory to use, such as 8G: ranks wait for each other, and a run that needs"
          " more exits with 7 [default: ranks wait at 75 % of the memory of the machine"
          " or container, a run ends at 90 %]")
      ->type_name("SIZE");
}

void AddReplayMemoryOption(const OptionAdder& add, std::string& memory) {
  add("--memory", memory,
      "Memory for the replay, such as 4G: of a job that takes more, some ranks are replayed"
      " [default: half of the memory of the machine or container, at most 4G]",
      "SIZE", kReading);
}

std::optional<std::set<RankId>> ParseRanks(const char* option, const std::string& text) {
  if (text == "all" || text.empty()) return std::nullopt;
  constexpr std::int64_t kMaxRank = 1'000'000;
  constexpr std::int64_t kMaxNamed = 100'000;
  std::set<RankId> ranks;
  std::int64_t named = 0;
  for (const std::string_view piece : Split(text, ',')) {
    const std::string item(Trim(piece));
    const std::size_t dash = std::min(item.find('-', 1), item.size());
    const auto first = io::ParseInt(item.substr(0, dash));
    const auto last = dash == item.size() ? first : io::ParseInt(item.substr(dash + 1));
    // The label of a capture without a number.
    if (item.find_first_not_of("0123456789-+ ") != std::string::npos) {
      ranks.insert(RankOfLabel(item));
      continue;
    }
    if (!first || !last || *first < 0 || *last < *first || *last > kMaxRank) {
      Fail(ErrorKind::kUsage, "{} {}: invalid rank '{}'; give 'all' or a list such as 0,1,4-7",
           option, text, item);
    }
    named += *last - *first;
    if (named > kMaxNamed)
      Fail(ErrorKind::kUsage, "{}: more than {} ranks; give fewer, or leave {} out for all", option,
           kMaxNamed, option);
    for (std::int64_t rank = *first; rank <= *last; ++rank) ranks.insert(rank);
  }
  return ranks;
}

ClusterRequest RankOptions::Request(const std::string& directory) const {
  ClusterRequest request;
  request.directory = directory;
  request.ranks = ParseRanks("--rank_list", rank_list);
  request.step = ParseStep("--step_id", step, StepForm::kNumberOrAll);
  request.open = open;
  request.memory_bytes = ApplyMemoryLimit("--memory_limit", memory_limit);
  request.reduce_bytes = ReduceBytes();
  return request;
}

std::int64_t RankOptions::ReduceBytes() const {
  if (!memory.empty()) return ParseMemory("--memory", memory);
  if (memory_limit.empty()) return UsualMemory();
  return std::min(UsualMemory(), ParseMemory("--memory_limit", memory_limit) / 2);
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// The logs of dynamic profiling (torch_npu.profiler.dynamic_profile): why a capture is missing or
// ends early. They lie in a directory "log" beside profiler_config.json:
//   dp_<host>_<process>_rank_<rank>.log, monitor_dp_<host>_<process>_rank_<rank>.log,
// each with an older part "<name>.1". A line is
//   2026-01-31 10:20:30,123 [ERROR] [4711] _dynamic_profiler_utils.py: <message>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/parallel.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"
#include "scan_rank.h"
#include "survey_parts.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // the profiler rotates at 200 kB
constexpr std::size_t kMostMessage = 200;                  // characters that are shown

struct LogFile {
  fs::path path;
  std::string process;  ///< the name without the number of an older part
  std::int64_t part = 0;
};

// Empty for other files. "dp_node-1_4711_rank_3.log.1"
std::optional<LogFile> LogOf(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string_view text = name;
  const std::size_t first = text.starts_with("monitor_") ? 8 : 0;
  const std::size_t end = text.rfind(".log"), rank = text.rfind("_rank_");
  if (!text.substr(first).starts_with("dp_") || end == std::string_view::npos ||
      rank == std::string_view::npos || rank < first + 3 || rank > end)
    return std::nullopt;
  const std::string_view digits = text.substr(rank + 6, end - rank - 6);
  if (!WholeNumber<std::int64_t>(digits)) return std::nullopt;
  std::string_view part = text.substr(end + 4);
  if (part.empty()) return LogFile{path, name, 0};
  part.remove_prefix(1);
  const auto number = text[end + 4] == '.' ? WholeNumber<std::int64_t>(part) : std::nullopt;
  if (!number) return std::nullopt;
  return LogFile{path, std::string(text.substr(0, end + 4)), *number};
}

// None of a directory that may not be read: its captures say so themselves.
std::vector<fs::path> EntriesOrNone(const fs::path& directory) {
  try {
    return Entries(directory);
  } catch (const Error&) {
    return {};
  }
}

// The logs of each process, older parts first. Links are not followed.
std::map<fs::path, std::vector<LogFile>> FindLogs(const std::set<fs::path>& directories) {
  std::map<fs::path, std::vector<LogFile>> logs;
  for (const fs::path& directory : directories) {
    std::error_code ignored;
    const fs::path place = directory / "log";
    if (!fs::is_directory(fs::symlink_status(place, ignored))) continue;
    for (const fs::path& path : EntriesOrNone(place)) {
      if (!fs::is_regular_file(fs::symlink_status(path, ignored))) continue;
      if (const auto log = LogOf(path)) logs[place / log->process].push_back(*log);
    }
  }
  for (auto& [process, parts] : logs) StableSort(parts, std::ranges::greater{}, &LogFile::part);
  return logs;
}

struct LogLine {
  std::string_view level, message;
};

// Empty for what is not the first line of a message.
std::optional<LogLine> LineOf(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00 00:00:00,000 [";
  if (text.size() <= kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    if (kForm[i] == '0' ? !is_digit : text[i] != kForm[i]) return std::nullopt;
  }
  text.remove_prefix(kForm.size());
  const std::size_t level = text.find(']'), source = text.find(": ");
  if (level == std::string_view::npos || source == std::string_view::npos || source < level)
    return std::nullopt;
  return LogLine{text.substr(0, level), Trim(text.substr(source + 2))};
}

// "Start Dynamic Profiler at 12 step.": 12, for a message that begins so.
std::optional<std::int64_t> NumberAfter(std::string_view message, std::string_view words) {
  if (!message.starts_with(words)) return std::nullopt;
  message.remove_prefix(words.size());
  const std::size_t end = message.find_first_not_of("-0123456789");
  return WholeNumber<std::int64_t>(message.substr(0, end));
}

// A message with other numbers says the same of another rank.
std::string WithoutNumbers(std::string_view message) {
  std::string text;
  for (const char letter : message) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(letter)) != 0;
    if (is_digit && text.ends_with('#')) continue;
    text += is_digit ? '#' : letter;
  }
  return text;
}

// Attempts that are repeated, and the end of a program that removes what another one removed.
bool IsHarmless(std::string_view message) {
  if (message.find("unlink shm failed") != std::string_view::npos) return true;
  const std::size_t at = message.find("retry times = ");
  return at != std::string_view::npos &&
         NumberAfter(message.substr(at), "retry times = ").value_or(0) > 0;
}

// What the lines of one or several logs say alike.
struct LogProblem {
  int order = 0;     ///< errors stand first
  std::string text;  ///< with "{}" for how often
  std::string advice;
  std::int64_t count = 0;
  std::vector<fs::path> places = {};  ///< "dp_node_4711_rank_0.log:12", one for each log
};
using LogProblems = std::map<std::pair<int, std::string>, LogProblem>;

class LogReader {
 public:
  LogProblems Read(const std::vector<LogFile>& parts) {
    for (const LogFile& part : parts) ReadPart(part);
    if (begun_)
      Add(1, "not stopped", begun_at_,
          Say("dynamic profiling began at step {} and did not stop: the program ended first, or"
              " still runs",
              *begun_),
          "let the program run for warmup + active more steps, then read the capture");
    if (asked_)
      Add(1, "not begun", asked_at_,
          Say("dynamic profiling was asked for from step {} and did not begin: the program was past"
              " this step, or never reached it",
              *asked_),
          "set start_step to a step that the program has not reached yet, or to -1 to begin at"
          " once");
    return std::move(problems_);
  }

 private:
  void ReadPart(const LogFile& part) {
    const io::InputText file(part.path, io::Content::kAsIs);
    std::string_view text = file.text().substr(0, kMostBytes);
    for (std::int64_t number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (const auto found = LineOf(line))
        ReadLine(*found, fmt::format("{}:{}", part.path.string(), number));
    }
  }

  void ReadLine(const LogLine& line, const std::string& place) {
    if (const auto step = NumberAfter(line.message, "Start step will be set to ")) {
      asked_ = step;
      asked_at_ = place;
    }
    if (const auto step = NumberAfter(line.message, "Start Dynamic Profiler at ")) {
      begun_ = step;
      begun_at_ = place;
      asked_.reset();
    }
    if (line.message.starts_with("Stop Dynamic Profiler at ")) begun_.reset();
    const bool is_error = line.level == "ERROR", is_warning = line.level == "WARNING";
    if ((!is_error && !is_warning) || IsHarmless(line.message)) return;
    // Left out by the configuration, which is said.
    if (line.message.find("not in valid rank_list") != std::string_view::npos) asked_.reset();
    std::string message(line.message.substr(0, kMostMessage));
    if (message.size() < line.message.size()) message += "...";
    Add(is_error ? 0 : 2, WithoutNumbers(line.message), place,
        Say("dynamic profiling: {}: {}", ToLower(line.level), message),
        is_error ? "correct what the message names, then profile again"
                 : "correct profiler_config.json if this was not meant");
  }

  void Add(int order, std::string_view key, const std::string& place, std::string text,
           std::string advice) {
    LogProblem& problem = problems_[{order, std::string(key)}];
    if (problem.count++ > 0) return;
    problem.order = order;
    problem.text = std::move(text);
    problem.advice = std::move(advice);
    problem.places = {place};
  }

  LogProblems problems_;
  std::optional<std::int64_t> asked_, begun_;  ///< steps
  std::string asked_at_, begun_at_;
};

}  // namespace

void WarnOfDynamicProfile(Survey& survey) {
  std::set<fs::path> directories;
  std::error_code ignored;
  if (fs::is_directory(survey.path, ignored)) {
    directories.insert(survey.path);
    for (const fs::path& entry : EntriesOrNone(survey.path)) directories.insert(entry);
  }
  for (const RankFacts& facts : survey.ranks)
    directories.insert(CaptureDirectory(facts.path).parent_path());
  const auto logs = FindLogs(directories);
  std::vector<const std::vector<LogFile>*> processes;
  for (const auto& [process, parts] : logs) processes.push_back(&parts);
  std::vector<LogProblems> of_process(processes.size());
  std::vector<std::string> unreadable(processes.size());
  ParallelFor(processes.size(), [&](std::size_t i) {
    try {
      of_process[i] = LogReader().Read(*processes[i]);
    } catch (const Error& error) {
      unreadable[i] = error.what();
    }
  });
  LogProblems problems;
  for (LogProblems& found : of_process) {
    for (auto& [key, problem] : found) {
      const auto [at, is_new] = problems.try_emplace(key, problem);
      if (is_new) continue;
      at->second.count += problem.count;
      at->second.places.insert(at->second.places.end(), problem.places.begin(),
                               problem.places.end());
    }
  }
  constexpr std::size_t kMostProblems = 6;  // of a log of something else
  std::size_t told = 0;
  for (auto& [key, problem] : problems) {
    if (told++ == kMostProblems) break;
    if (problem.count > 1)
      problem.text = Say("{} ({} in {})", problem.text, Counted(problem.count, "line"),
                         Counted(std::ssize(problem.places), "log"));
    survey.warnings.push_back({key.first == 0 ? "dynamic_profile_error" : "dynamic_profile",
                               std::move(problem.text), std::move(problem.advice),
                               std::move(problem.places)});
  }
  if (problems.size() > kMostProblems)
    survey.warnings.push_back(
        {"dynamic_profile",
         Say("dynamic profiling: {} more log messages", problems.size() - kMostProblems),
         "read the logs",
         {}});
  for (std::string& problem : unreadable) {
    if (!problem.empty())
      survey.warnings.push_back({"broken_file",
                                 Say("{}; this log of dynamic profiling is not read", problem),
                                 "make it readable, or copy it again",
                                 {}});
  }
}

}  // namespace mpa

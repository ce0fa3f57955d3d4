// SPDX-License-Identifier: Apache-2.0
#include "printing.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/base/utf8.h"

namespace mpa {

void Print(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stdout); }

void PrintLines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) Print(Printable(line) + "\n");
}

std::vector<std::string> FewLines(std::string_view text) {
  constexpr std::size_t kMaxLines = 5;
  const std::size_t width = ScreenColumns();
  const std::string printable = Printable(text);
  std::string_view rest = printable;
  std::vector<std::string> lines;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    std::size_t end = rest.size();
    if (end > width) end = rest.substr(0, width + 1).rfind(' ');
    if (end == std::string_view::npos) end = std::min(rest.find(' '), rest.size());
    if (line == kMaxLines && end < rest.size()) {
      lines.emplace_back("...");
      break;
    }
    lines.push_back(ShortenMiddle(rest.substr(0, end), width));
    rest = Trim(rest.substr(end));
  }
  return lines;
}

namespace {

// As after `| head`, which has read what it wants.
bool IsReaderGone() {
  pollfd state{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&state, 1, 0) == 1 && (state.revents & POLLERR) != 0;
}

}  // namespace

void FinishStdout() {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (failed && !IsReaderGone()) {
    Fail(ErrorKind::kOutput, "cannot write to standard output; check where it goes");
  }
}

// One JSON object for programs that run this one.

namespace {

using Json = nlohmann::ordered_json;

std::string AsJsonText(std::string_view text) { return ValidUtf8(text); }

Json TextsOf(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(AsJsonText(text));
  return list;
}

// A file of its own in the directory for temporary files; empty when none can be made.
std::filesystem::path RedirectStderr() {
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::temp_directory_path(error);
  if (error) return {};
  std::string path = (directory / "msprof_analyze_XXXXXX.log").string();
  constexpr int kEndingLength = 4;
  const int file = mkostemps(path.data(), kEndingLength, O_CLOEXEC);
  if (file < 0) return {};
  const bool redirected = dup2(file, STDERR_FILENO) >= 0;
  (void)close(file);
  return redirected ? std::filesystem::path(path) : std::filesystem::path();
}

void PrintObject(std::string_view status, int exit_code, const Json& message,
                 std::string_view suggestion, const std::filesystem::path& log) {
  const Json object = {{"status", status},
                       {"code", exit_code},
                       {"message", message},
                       {"suggestion", AsJsonText(suggestion)},
                       {"log_path", AsJsonText(log.string())}};
  Print(object.dump() + '\n');
}

}  // namespace

Agent::Agent(int count, const char* const* arguments) {
  wanted_ =
      std::any_of(arguments + std::min(count, 1), arguments + count,
                  [](const char* argument) { return std::string_view(argument) == "--agent"; });
  if (wanted_) log_ = RedirectStderr();
}

void Agent::PrintResults(const std::vector<WrittenResults>& written,
                         const std::vector<std::string>& answer,
                         const std::vector<std::string>& warnings, const std::string& suggestion,
                         int exit_code) const {
  Json message = Json::object(), rows = Json::object();
  Json tables = Json::array(), csv = Json::array(), files = Json::array();
  for (const WrittenResults& results : written) {
    if (!results.database.empty()) message["db_path"] = AsJsonText(results.database.string());
    for (const std::string& table : results.tables) tables.push_back(AsJsonText(table));
    for (const std::filesystem::path& file : results.files) {
      (file.extension() == ".csv" ? csv : files).push_back(AsJsonText(file.string()));
    }
    for (const auto& [name, count] : results.rows) rows[AsJsonText(name)] = count;
  }
  if (!tables.empty()) message["tables"] = tables;
  if (!csv.empty()) message["csv_path"] = csv;
  if (!files.empty()) message["files"] = files;
  message["rows"] = rows;
  message["answer"] = TextsOf(answer);
  if (!warnings.empty()) message["warnings"] = TextsOf(warnings);
  PrintObject(exit_code == 0 ? "success" : "warning", exit_code, message, suggestion, log_);
}

void Agent::PrintFiles(const std::vector<std::filesystem::path>& files,
                       const std::vector<std::string>& answer,
                       const std::vector<std::string>& warnings, const std::string& suggestion,
                       int exit_code) const {
  WrittenResults written;
  written.files = files;
  PrintResults({written}, answer, warnings, suggestion, exit_code);
}

void Agent::RefuseJson(bool json) const {
  if (wanted_ && json)
    Fail(ErrorKind::kUsage, "--json and --agent print different documents; give one of them");
}

void Agent::PrintDocument(std::string_view document, const std::string& suggestion,
                          int exit_code) const {
  PrintObject(exit_code == 0 ? "success" : "warning", exit_code, Json::parse(document), suggestion,
              log_);
}

void Agent::PrintFailure(std::string_view text, int exit_code) const {
  PrintObject("error", exit_code, {{"err", AsJsonText(text)}},
              "message.err says what is wrong and what to do", log_);
}

}  // namespace mpa

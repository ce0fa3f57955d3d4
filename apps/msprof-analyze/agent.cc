// SPDX-License-Identifier: Apache-2.0
// One JSON object for programs that run this one.
#include "agent.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "export_options.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/base/utf8.h"
#include "mpa/io/numbers.h"
#include "mpa/report/screen_line.h"
#include "printing.h"
#include "unknown_names.h"

namespace mpa {
namespace {

using Json = nlohmann::ordered_json;

Json TextsAsJson(const auto& texts) {
  Json list = Json::array();
  for (const auto& text : texts) list.push_back(ValidUtf8(std::filesystem::path(text).string()));
  return list;
}

bool SetsLength(std::string_view word) { return IsOneOf(word, {"--max_chars", "--max-chars"}); }

// The value of --max_chars. CLI11 refuses invalid ones.
std::size_t CharsIn(const std::vector<std::string>& words, std::size_t usual) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::size_t equals = word.find('=');
    if (!SetsLength(word.substr(0, equals))) continue;
    const std::string_view value = equals != std::string_view::npos ? word.substr(equals + 1)
                                   : i + 1 < words.size()           ? words[i + 1]
                                                                    : "";
    const auto most = io::ParseInt(value);
    return most && *most >= 0 ? static_cast<std::size_t>(*most) : usual;
  }
  return usual;
}

// stderr of this process, as a file that is nowhere; -1 where there can be none.
int KeepLog() {
  const int file = memfd_create("log", MFD_CLOEXEC);
  if (file < 0 || dup2(file, STDERR_FILENO) < 0) return -1;
  return file;
}

}  // namespace

std::string AgentObject(std::string_view status, int exit_code, std::string_view message,
                        std::string_view suggestion) {
  return fmt::format(R"({{"status":"{}","code":{},"message":{},"suggestion":{},"log_path":""}})"
                     "\n",
                     status, exit_code, message, Json(ValidUtf8(suggestion)).dump());
}

Agent::Agent(int count, const char* const* arguments)
    : words_(arguments + std::min(count, 1), arguments + count) {
  wanted_ = std::ranges::find(words_, "--agent") != words_.end();
  if (!wanted_) return;
  most_ = CharsIn(words_, most_);
  log_ = KeepLog();
}

void Agent::Show(const Report& report) {
  std::vector<std::string> lines = ScreenOf(report);
  std::vector<std::string> verdicts = report.page ? report.page->lead : TakeVerdicts(lines);
  if (verdicts.empty()) verdicts.assign(lines.begin(), lines.begin() + (lines.empty() ? 0 : 1));
  answer_.answer.insert(answer_.answer.end(), verdicts.begin(), verdicts.end());
  for (const Sheet& sheet : report.sheets) answer_.tables.push_back(AgentTableOf(sheet));
}

void Agent::IsAbout(const MappedRanks& mapped) {
  std::set<RankId> ranks;
  for (const RankPart& part : mapped.parts) ranks.insert(part.rank);
  const std::size_t of_job = ranks.size() + mapped.absent.states.size();
  answer_.scope = {{"ranks", RankList(ranks).Names(RankList::kAllRuns)},
                   {"ranks_of_job", static_cast<std::int64_t>(of_job)},
                   {"times", "ns since the Unix epoch"}};
}

void Agent::Wrote(const WrittenResults& results) {
  if (!results.database.empty()) written_.database = results.database;
  const auto add = [](const auto& from, auto& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(results.tables, written_.tables);
  add(results.files, written_.files);
  add(results.rows, written_.rows);
}

void Agent::Wrote(const std::vector<std::filesystem::path>& files) {
  written_.files.insert(written_.files.end(), files.begin(), files.end());
}

void Agent::RefuseJson(bool json) const {
  if (!wanted_ || !json) return;
  SuggestInstead("--json", "");
  Fail(ErrorKind::kUsage, "--json and --agent print different documents; give one of them");
}

std::string Agent::Command(std::string_view dropped, std::string_view put) const {
  std::string command = "msprof-analyze";
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::string& word = words_[i];
    if (dropped == "--agent" && SetsLength(word)) {
      ++i;  // with its value
    } else if (word != dropped) {
      command += ' ' + ShellWord(word);
    } else if (!put.empty()) {
      command += ' ' + std::string(put);
    }
  }
  return command;
}

std::vector<std::string> Agent::Warnings() const {
  std::string text;
  std::vector<char> piece(1 << 16);
  (void)std::fflush(stderr);
  for (off_t at = 0; log_ >= 0;) {
    const ssize_t bytes = pread(log_, piece.data(), piece.size(), at);
    if (bytes <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(bytes));
    at += bytes;
  }
  const std::string begin = fmt::format("msprof-analyze: {}: ", Translated("warning"));
  std::vector<std::string> warnings;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.starts_with(begin)) warnings.emplace_back(line.substr(begin.size()));
  }
  return warnings;
}

void Agent::Finish(int exit_code) {
  AgentAnswer& answer = answer_;
  for (std::string& warning : Warnings()) answer.caveats.push_back(std::move(warning));
  if (exit_code == kExitPartial)
    answer.lost =
        answer.caveats.empty() ? "parts of the input were left out" : answer.caveats.front();
  const auto add = [&](const char* key, const Json& value) {
    answer.members.emplace_back(key, value.dump());
  };
  if (!written_.database.empty()) add("db_path", ValidUtf8(written_.database.string()));
  if (!written_.tables.empty()) add("tables", TextsAsJson(written_.tables));
  std::vector<std::filesystem::path> csv, others;
  for (const std::filesystem::path& file : written_.files)
    (file.extension() == ".csv" ? csv : others).push_back(file);
  if (!csv.empty()) add("csv_path", TextsAsJson(csv));
  if (!others.empty()) add("files", TextsAsJson(others));
  if (!written_.rows.empty()) {
    Json rows = Json::object();
    for (const auto& [name, count] : written_.rows) rows[ValidUtf8(name)] = count;
    add("rows", rows);
  }
  if (answer.rest.empty() && !answer.tables.empty()) answer.rest = Command("--agent", "--json");
  Print(AgentObject(exit_code == 0 ? "success" : "warning", exit_code, AgentMessage(answer, most_),
                    answer.next));
  (void)std::fflush(stdout);
}

void Agent::FinishWithError(std::string_view text, int exit_code) {
  const auto [wrong, right] = Suggestion();
  const std::string corrected = wrong.empty() ? "" : Command(wrong, right);
  Print(
      AgentObject("error", exit_code, Json({{"err", ValidUtf8(text)}}).dump(),
                  corrected.empty() ? "message.err says what is wrong and what to do" : corrected));
  (void)std::fflush(stdout);
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// One JSON object for programs that run this one.
#include "agent.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

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

constexpr const char* kOurName = "msprof-analyze";

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += ' ' + ShellWord(word);
  return text;
}

// `text` with `right` in place of `wrong`, where that is a whole name.
std::string Replaced(const std::string& text, const std::string& wrong, const std::string& right) {
  const auto is_of_name = [&](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  std::string made;
  for (std::size_t from = 0;;) {
    const std::size_t at = text.find(wrong, from);
    made += text.substr(from, at - from);
    if (at == std::string::npos) return made;
    from = at + wrong.size();
    made += is_of_name(at - 1) || is_of_name(from) ? wrong : right;
  }
}

// "comm.wit" and "comm.wait" of "no finding 'comm.wit'; did you mean 'comm.wait'?".
Instead InsteadIn(std::string_view text) {
  constexpr std::string_view kBetween = "'; did you mean '";
  const std::size_t at = text.find(kBetween);
  if (at == std::string_view::npos) return {};
  const std::string_view before = text.substr(0, at), behind = text.substr(at + kBetween.size());
  return {std::string(before.substr(before.rfind('\'') + 1)),
          std::string(behind.substr(0, behind.find('\'')))};
}

// The command that "...; see 'msprof-analyze check DIR'" names. Paths in texts are not quoted.
std::string CommandIn(std::string_view text, const std::vector<std::string>& words) {
  const std::size_t at = text.rfind("'msprof-analyze ");
  if (at == std::string_view::npos) return {};
  const std::string_view quoted = text.substr(at + 1);
  const std::string_view command = quoted.substr(0, quoted.find('\''));
  const bool is_doubtful =
      command.ends_with(" check") || std::ranges::any_of(words, [&](const std::string& word) {
        return ShellWord(word) != word && text.find(word) != std::string_view::npos;
      });
  return is_doubtful ? "" : std::string(command);
}

// stderr of this process, as a file that is nowhere; -1 where there can be none.
int KeepLog() {
  const int file = memfd_create("log", MFD_CLOEXEC);
  if (file < 0 || dup2(file, STDERR_FILENO) < 0) return -1;
  return file;
}

}  // namespace

Agent::Agent(std::vector<std::string> words) : words_(std::move(words)) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::string& word = words_[i];
    const std::size_t equals = word.find('=');
    const bool is_option = operands_.empty() && word != "--";
    if (is_option && IsOneOf(word, {"--agent", "--agent=true"})) {
      wanted_ = true;
    } else if (is_option && word.substr(0, equals) == "--max_chars") {
      const bool is_behind = equals == std::string::npos && i + 1 < words_.size();
      const auto most = io::ParseInt(is_behind ? words_[++i] : word.substr(equals + 1));
      if (most && *most >= 0) most_ = static_cast<std::size_t>(*most);  // CLI11 refuses others
    } else {
      (is_option ? options_ : operands_).push_back(word);
    }
  }
  if (wanted_) log_ = KeepLog();
}

void Agent::Show(const Report& report) {
  std::vector<std::string> said;
  if (report.page) {
    said = report.page->lead;
  } else if (!report.story.empty()) {
    said = TextsOf(report.lines);
    said.insert(said.end(), report.story.begin(), report.story.end());
  } else if (report.screens.empty()) {
    std::vector<std::string> lines = ScreenOf(report);
    said = TakeVerdicts(lines);
    if (said.empty() && !lines.empty()) said = {lines.front()};
  }
  answer_.answer.insert(answer_.answer.end(), said.begin(), said.end());
  if (!report.preface.empty()) answer_.caveats.push_back(report.preface);
  for (const Sheet& sheet : report.sheets) answer_.tables.push_back(AgentTableOf(sheet));
}

void Agent::IsAbout(const MappedRanks& mapped) {
  std::set<RankId> ranks;
  for (const RankPart& part : mapped.parts) ranks.insert(part.rank);
  const std::size_t found = ranks.size() + mapped.absent.states.size();
  answer_.scope = {{"ranks", RankList(ranks).Names(RankList::kAllRuns)},
                   {"ranks_found", static_cast<std::int64_t>(found)},
                   {"times", kTimesOfCaptures}};
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

// The command line without what the error says of it; else a command that the text names.
std::string Agent::Corrected(std::string_view text) const {
  Instead instead = Suggestion();
  if (instead.wrong.empty()) instead = InsteadIn(text);
  const auto& [wrong, right] = instead;
  std::vector<std::string> words = words_;
  if (right.empty()) {
    std::erase(words, wrong);
  } else if (std::ranges::find(words, wrong) != words.end()) {
    std::ranges::replace(words, wrong, right);
  } else {
    for (std::string& word : words) {
      const bool is_path = word.find('/') != std::string::npos;
      if (!is_path) word = Replaced(word, wrong, right);
    }
  }
  return words == words_ ? CommandIn(text, words_) : kOurName + Joined(words);
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
  const std::size_t told = answer.caveats.size();
  for (std::string& warning : Warnings()) answer.caveats.push_back(std::move(warning));
  if (exit_code == kExitPartial && answer.lost.empty())
    answer.lost =
        told == answer.caveats.size() ? "parts of the input were left out" : answer.caveats[told];
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
  if (answer.rest.empty() && !answer.tables.empty())
    answer.rest = kOurName + Joined(options_) + ' ' + rest_ + Joined(operands_);
  Print(FormatAgent(answer, exit_code, most_));
  (void)std::fflush(stdout);
}

void Agent::FinishWithError(std::string_view text, int exit_code) {
  Print(FormatAgentError(text, Corrected(text), exit_code, most_));
  (void)std::fflush(stdout);
}

}  // namespace mpa

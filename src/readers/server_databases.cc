// SPDX-License-Identifier: Apache-2.0
// ms_service_*.db: what msServiceProfiler collects, a database of each process of a server.
#include <algorithm>
#include <string>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/io/sqlite.h"
#include "server_events.h"

namespace mpa::readers {
namespace {

namespace fs = std::filesystem;

// Behind a text whose quote is at `at`: where the text ends.
std::size_t EndOfText(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at, text.size());
}

// Behind an array, an object, or whatever ends before the next member.
std::size_t EndOfValue(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') at = EndOfText(text, at);
    if (c == '[' || c == '{') ++depth;
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) return at;
    if ((c == ']' || c == '}') && --depth == 0) return at + 1;
  }
  return text.size();
}

void CountInvalid(const ServerRecords& records, const std::string& file, std::int64_t row) {
  records.trace.issues.Count("event of the server left out, invalid start or duration",
                             fmt::format("{}:{}", file, row));
}

// Releases of 2025 write all of an event into one text, without braces and with other quotes.
void ReadMarks(const io::Database& database, StringId process, const ServerRecords& records,
               ServerLog& log) {
  std::vector<EventArg> members;
  std::string text;
  std::int64_t row = 0;
  database.Scan("message, timestamp, endTimestamp", "Mstx NOT INDEXED", [&](const io::Row& cells) {
    ++row;
    text = cells.Text(0);
    std::ranges::replace(text, '^', '"');
    ReadMembers(text, members);
    const TimeNs start = cells.IntOr(1, -1), end = cells.IntOr(2, -1);
    if (IsTime(start) && start > 0 && IsDuration(end - start))
      log.Add({.start = start, .dur = end - start, .process = process}, members);
    else
      CountInvalid(records, database.name(), row);
  });
}

void ReadSlices(const io::Database& database, StringId process, const ServerRecords& records,
                ServerLog& log) {
  std::vector<EventArg> members;
  std::int64_t row = 0;
  database.Scan("timestamp, duration, name, args", "slice NOT INDEXED", [&](const io::Row& cells) {
    ++row;
    const TimeNs start = cells.IntOr(0, -1), dur = cells.IntOr(1, -1);
    if (!IsTime(start) || start <= 0 || !IsDuration(dur)) {
      CountInvalid(records, database.name(), row);
      return;
    }
    ReadMembers(cells.Text(3), members);
    log.Add({.start = start,
             .dur = dur,
             .name = records.trace.strings.Intern(cells.Text(2)),
             .process = process},
            members);
  });
}

void ReadProcess(const fs::path& path, const ServerRecords& records, ServerLog& log) {
  const io::Database database(path);
  const StringId process = records.trace.strings.Intern(path.stem().string());
  if (database.HasTable("Meta")) {
    database.Scan("name, value", "Meta NOT INDEXED", [&](const io::Row& cells) {
      const std::int32_t rank = SmallCountIn(cells.Text(1));
      if (cells.Text(0) == "dpRankId" && rank >= 0) log.SetDpRank(process, rank);
    });
  }
  if (database.HasTable("slice"))
    ReadSlices(database, process, records, log);
  else if (database.HasTable("Mstx"))
    ReadMarks(database, process, records, log);
  else
    Fail(ErrorKind::kCorrupt, "{}: no table of events (slice or Mstx)", path.string());
}

}  // namespace

void ReadMembers(std::string_view object, std::vector<EventArg>& members) {
  members.clear();
  constexpr std::string_view kBlanks = " \t\r\n";
  for (std::size_t at = 0; at < object.size();) {
    const std::size_t quote = object.find('"', at);
    if (quote == std::string_view::npos) return;
    const std::size_t end = EndOfText(object, quote);
    const std::size_t colon = object.find_first_not_of(kBlanks, end + 1);
    if (colon == std::string_view::npos || object[colon] != ':') return;
    const std::size_t begin = object.find_first_not_of(kBlanks, colon + 1);
    if (begin == std::string_view::npos) return;
    const bool is_text = object[begin] == '"';
    at = is_text ? EndOfText(object, begin) + 1 : EndOfValue(object, begin);
    at = std::min(at, object.size());
    std::string_view value = object.substr(begin, at - begin);
    if (is_text) {
      value.remove_prefix(1);
      if (value.ends_with('"')) value.remove_suffix(1);
    }
    while (!is_text && !value.empty() && kBlanks.find(value.back()) != std::string_view::npos)
      value.remove_suffix(1);
    members.push_back({object.substr(quote + 1, end - quote - 1), value,
                       is_text && value.find('\\') != std::string_view::npos});
  }
}

void ReadServerDatabases(const CaptureFile& files, const ServerRecords& records) {
  ServerLog log(records, files.path.parent_path().filename().string());
  std::vector<fs::path> paths = files.slices;
  paths.insert(paths.begin(), files.path);
  std::size_t broken = 0;
  for (const fs::path& path : paths) {
    try {
      ReadProcess(path, records, log);
    } catch (const Error& error) {
      // The other processes can still be told apart; without any there is nothing.
      if (error.kind() == ErrorKind::kResource || ++broken == paths.size()) throw;
      records.trace.issues.Count("records of a process of the server left out", error.what());
    }
  }
  log.Finish();
}

}  // namespace mpa::readers

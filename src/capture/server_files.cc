// SPDX-License-Identifier: Apache-2.0
// Which files are records of a server's requests.
#include "server_files.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "file_checks.h"
#include "mpa/base/error.h"
#include "mpa/io/input_text.h"
#include "scan_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// A table, and columns of which its header has one.
struct NamedTable {
  std::string_view name;
  std::array<std::string_view, 3> columns;
};
// In the order in which they are read.
constexpr NamedTable kTables[] = {
    {"request.csv", {"http_rid", "recv_token_size", "execution_time"}},
    {"batch.csv", {"res_list", "prefill_batch_size", "batch_type"}},
    {"forward.csv", {"forward_iter", "bubble_time", "batch_type"}},
    {"kvcache.csv", {"kvcache_usage_rate", "device_kvcache_left", "free_blocks"}},
    {"request_status.csv", {"waiting", "running", "swapped"}},
    {"coordinator.csv", {"node_type", "running_count", "add_count"}},
    {"pd_split_communication.csv", {"prefill_res_time", "send_request_time", "http_req_time"}},
    {"pd_split_kvcache.csv", {"block_tables", "seq_len", "during_time"}},
    {"spec_decode.csv", {"spec_tokens", "accepted_tokens", "accepted_ratio"}},
};
constexpr std::string_view kDatabase = "profiler.db", kSpans = "span_info",
                           kTrace = "chrome_tracing.json";
constexpr std::array<std::string_view, 3> kSpanColumns = {"span_name", "during_time",
                                                          "start_datetime"};

bool HasColumnOf(const fs::path& path, const std::array<std::string_view, 3>& columns) {
  constexpr std::size_t kBeginning = 4096;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  try {
    std::string header = io::ReadStart(path, kBeginning);
    header.resize(std::min(header.find('\n'), header.size()));
    return std::ranges::any_of(
        columns, [&](std::string_view column) { return header.find(column) != std::string::npos; });
  } catch (const Error&) {
    return false;  // unreadable, so it is not known to be one
  }
}

bool IsDatabase(const fs::path& path) {
  std::error_code ignored;
  return path.filename() == kDatabase && fs::is_regular_file(path, ignored);
}

// What the server left for the parser, one of each process.
bool IsUnparsed(const fs::path& path) {
  const std::string name = path.filename().string();
  std::error_code ignored;
  return name.starts_with("ms_service_") && name.ends_with(".db") &&
         fs::is_regular_file(path, ignored);
}

// Only events of a server have a date; others call traces so, too.
bool IsTrace(const fs::path& path) {
  constexpr std::size_t kBeginning = 1 << 20;
  std::error_code ignored;
  if (path.filename() != kTrace || !fs::is_regular_file(path, ignored)) return false;
  try {
    return io::ReadStart(path, kBeginning).find("\"start_datetime\"") != std::string::npos;
  } catch (const Error&) {
    return false;  // unreadable, so it is not known to be one
  }
}

bool Holds(const std::vector<fs::path>& tables, const fs::path& path, std::string_view name) {
  return std::ranges::find(tables, path / name) != tables.end();
}

// Spans that the other tables do not hold.
std::vector<fs::path> SpanTables(const fs::path& directory, const std::vector<fs::path>& tables) {
  constexpr std::string_view kOfBatches[] = {"BatchSchedule", "batchFrameworkProcessing",
                                             "modelExec",     "modelRunnerExec",
                                             "Execute",       "specDecoding"};
  std::vector<fs::path> found;
  if (!IsDirectory(directory / kSpans)) return found;
  const bool has_batches = Holds(tables, directory, "batch.csv");
  const bool has_forwards = Holds(tables, directory, "forward.csv");
  const bool has_database = Holds(tables, directory, kDatabase);
  for (const fs::path& entry : Entries(directory / kSpans)) {
    const std::string name = entry.stem().string();
    const bool is_of_batches = std::ranges::find(kOfBatches, name) != std::end(kOfBatches);
    const bool is_held = (is_of_batches && (has_batches || has_database)) ||
                         (name == "forward" && (has_forwards || has_database));
    if (!is_held && entry.extension() == ".csv" && HasColumnOf(entry, kSpanColumns))
      found.push_back(entry);
  }
  return found;
}

}  // namespace

bool IsServerTable(const fs::path& path) {
  if (IsDatabase(path) || IsUnparsed(path) || IsTrace(path)) return true;
  const std::string name = path.filename().string();
  const auto table = std::ranges::find(kTables, name, &NamedTable::name);
  return table != std::end(kTables) && HasColumnOf(path, table->columns);
}

namespace {

// The files of the most complete form, in the order in which they are read: requests come first,
// since batches tell more about them.
std::vector<fs::path> FilesOfServer(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const NamedTable& table : kTables) {
    if (HasColumnOf(directory / table.name, table.columns)) found.push_back(directory / table.name);
  }
  const bool is_whole =
      Holds(found, directory, "request.csv") && Holds(found, directory, "batch.csv");
  const auto with_spans = [&](std::vector<fs::path> tables) {
    for (fs::path& spans : SpanTables(directory, tables)) tables.push_back(std::move(spans));
    return tables;
  };
  if (!is_whole && IsDatabase(directory / kDatabase)) return with_spans({directory / kDatabase});
  if (is_whole) return with_spans(std::move(found));
  std::vector<fs::path> unparsed = Entries(directory);
  std::erase_if(unparsed, [](const fs::path& entry) { return !IsUnparsed(entry); });
  if (!unparsed.empty()) return unparsed;
  if (IsTrace(directory / kTrace)) return {directory / kTrace};
  return with_spans(std::move(found));
}

// The larger, the more a form tells.
int Completeness(const RankInput& server) {
  const fs::path& file = server.files.front().path;
  if (IsUnparsed(file)) return 1;
  return file.filename() == kTrace ? 0 : 2;
}

}  // namespace

void KeepMostComplete(std::vector<RankInput>& servers) {
  std::vector<bool> is_twin(servers.size());
  for (std::size_t i = 0; i < servers.size(); ++i) {
    is_twin[i] = std::ranges::any_of(servers, [&](const RankInput& other) {
      return Completeness(other) > Completeness(servers[i]) &&
             (IsWithin(other.path, servers[i].path) || IsWithin(servers[i].path, other.path));
    });
  }
  for (std::size_t i = servers.size(); i-- > 0;) {
    if (is_twin[i]) servers.erase(servers.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

RankInput JoinServers(std::vector<RankInput> servers, const fs::path& top) {
  RankInput joined = std::move(servers.front());
  if (servers.size() == 1) return joined;
  joined.path = top;
  for (RankInput& server : std::span(servers).subspan(1))
    std::ranges::move(server.files, std::back_inserter(joined.files));
  return joined;
}

bool IsDeviceRecord(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".db") && name.starts_with("ascend_service_profiler_");
}

std::optional<RankInput> ScanServer(const fs::path& path) {
  RankInput server;
  server.kind = CaptureKind::kServer;
  server.path = path;
  std::vector<fs::path> tables;
  if (IsDirectory(path))
    tables = FilesOfServer(path);
  else if (IsServerTable(path))
    tables = {path};
  for (const fs::path& table : tables) {
    CheckReadable(table);
    // The databases of all processes are read together.
    if (IsUnparsed(table) && !server.files.empty()) {
      std::error_code error;
      const auto bytes = fs::file_size(table, error);
      server.files.front().slices.push_back(table);
      if (!error) server.files.front().bytes += static_cast<std::int64_t>(bytes);
    } else {
      AddFile(server, FileKind::kServerTable, table);
    }
  }
  if (server.files.empty()) return std::nullopt;
  return server;
}

}  // namespace mpa

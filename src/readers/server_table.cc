// SPDX-License-Identifier: Apache-2.0
// What msServiceProfiler recorded of the requests of a server: request.csv, batch.csv and their
// kin, the tables of profiler.db, chrome_tracing.json, or ms_service_*.db before any parsing.
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/readers/reader.h"
#include "server_events.h"
#include "server_records.h"

namespace mpa::readers {
namespace {

namespace fs = std::filesystem;

struct NamedTable {
  std::string_view name;  // of the file without its ending, and in the database
  void (*read)(ServerRows& rows, const ServerRecords& records);
};
// In the order in which they are read.
constexpr NamedTable kTables[] = {
    {"request", ReadServerRequests},
    {"batch", ReadServerBatches},
    {"forward", ReadServerForwards},
    {"kvcache", ReadServerCache},
    {"request_status", ReadServerStatus},
    {"coordinator", ReadServerNodes},
    {"pd_split_communication", ReadServerHandovers},
    {"pd_split_kvcache", ReadServerTransfers},
    {"spec_decode", ReadServerGuesses},
};
// Those with a point in time as a number and as a date.
constexpr std::string_view kWithBoth[] = {"request", "batch", "forward", "request_status"};

// What dates are ahead of UTC, by the first row that has both; 0: no table says it.
TimeNs ZoneOf(ServerRows& rows) {
  constexpr TimeNs kQuarter = 900'000'000'000;
  constexpr int kRows = 100;
  const TimeColumn time(rows, {"start_time", "timestamp"}, {"start_datetime"}, 0);
  Issues ignored;
  for (int i = 0; i < kRows && rows.Next(ignored); ++i) {
    const auto ahead = time.Ahead(rows);
    // Zones are within a day of UTC.
    if (ahead && std::abs(*ahead) < 96 * kQuarter)
      return (*ahead + (*ahead < 0 ? -kQuarter : kQuarter) / 2) / kQuarter * kQuarter;
  }
  return 0;
}

TimeNs ZoneOfFiles(const fs::path& directory) {
  for (const std::string_view name : kWithBoth) {
    const fs::path path = directory / (std::string(name) + ".csv");
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) continue;
    constexpr std::size_t kBeginning = 1 << 20;
    try {
      const auto rows = RowsOfFile(path, kBeginning);
      if (const TimeNs zone = ZoneOf(*rows); zone != 0) return zone;
    } catch (const Error&) {
      continue;  // its own reader says what is wrong with it
    }
  }
  return 0;
}

// Those of a table that count. Some releases keep the unit in some names.
constexpr std::string_view kColumns[] = {"http_rid",
                                         "rid",
                                         "start_time",
                                         "start_time(ms)",
                                         "start_datetime",
                                         "recv_token_size",
                                         "reply_token_size",
                                         "execution_time",
                                         "queue_wait_time",
                                         "first_token_latency",
                                         "cache_hit_rate",
                                         "name",
                                         "res_list",
                                         "during_time",
                                         "during_time(ms)",
                                         "batch_type",
                                         "prof_id",
                                         "batch_size",
                                         "prefill_batch_size",
                                         "decode_batch_size",
                                         "prefill_scheduled_tokens",
                                         "decode_scheduled_tokens",
                                         "total_blocks",
                                         "free_blocks",
                                         "device_kvcache_left",
                                         "blocks_allocated",
                                         "blocks_freed",
                                         "kvcache_usage_rate",
                                         "accepted_ratio",
                                         "dp_rank",
                                         "forward_iter",
                                         "hostname",
                                         "timestamp",
                                         "QueueSize=",
                                         "status",
                                         "WAITING",
                                         "RUNNING",
                                         "SWAPPED",
                                         "time",
                                         "address",
                                         "node_type",
                                         "add_count",
                                         "end_count",
                                         "running_count",
                                         "http_req_time",
                                         "send_request_time",
                                         "send_request_succ_time",
                                         "prefill_res_time",
                                         "request_end_time",
                                         "rank",
                                         "batch_seq_len",
                                         "seq_len"};

TimeNs ZoneOfDatabase(const ServerDatabase& database) {
  for (const std::string_view name : kWithBoth) {
    const auto rows = database.Rows(name, kColumns);
    if (rows == nullptr) continue;
    if (const TimeNs zone = ZoneOf(*rows); zone != 0) return zone;
  }
  return 0;
}

// Spans are files, also beside the database.
TimeNs ZoneOfDirectory(const fs::path& directory) {
  const fs::path database = directory / "profiler.db";
  std::error_code ignored;
  const TimeNs zone = ZoneOfFiles(directory);
  if (zone != 0 || !fs::is_regular_file(database, ignored)) return zone;
  try {
    return ZoneOfDatabase(ServerDatabase(database));
  } catch (const Error&) {
    return 0;  // its own reader says what is wrong with it
  }
}

void ReadDatabase(const fs::path& path, ServerRecords records) {
  const ServerDatabase database(path);
  records.zone = ZoneOfDatabase(database);
  bool any = false;
  for (const NamedTable& table : kTables) {
    const auto rows = database.Rows(table.name, kColumns);
    if (rows == nullptr) continue;
    table.read(*rows, records);
    any = true;
  }
  if (any) return;
  Fail(ErrorKind::kCorrupt, "{}: no table of a server's requests (request, batch, kvcache)",
       path.string());
}

void ReadServerTable(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  const fs::path& path = file.path;
  const bool is_span = path.parent_path().filename() == "span_info";
  const fs::path directory = is_span ? path.parent_path().parent_path() : path.parent_path();
  // Of several instances the names of their folders alone may be the same.
  const fs::path below = directory.lexically_relative(trace.capture_path);
  const bool is_below = !below.empty() && *below.begin() != ".." && below != ".";
  const fs::path instance = is_below ? below : directory.filename();
  ServerRecords records{trace, 0, trace.strings.Intern(instance.string())};
  if (path.extension() == ".json") return ReadServerTrace(file, records);
  if (path.filename() == "profiler.db") return ReadDatabase(path, records);
  if (path.extension() == ".db") return ReadServerDatabases(file, records);
  records.zone = ZoneOfDirectory(directory);
  const auto rows = RowsOfFile(path);
  if (is_span) {
    ReadServerSpans(*rows, records);
    return;
  }
  for (const NamedTable& table : kTables) {
    if (table.name == path.stem().string()) table.read(*rows, records);
  }
}

}  // namespace

Reader ServerTable() {
  return {"table of a server's requests", FileKind::kServerTable, Tables::kServer, ReadServerTable};
}

}  // namespace mpa::readers

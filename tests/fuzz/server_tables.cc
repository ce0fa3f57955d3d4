// SPDX-License-Identifier: Apache-2.0
// The tables and events of msServiceProfiler, and what serving_requests makes of them.
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/fuzzing.h"
#include "mpa/recipe/recipe.h"
#include "support/reading.h"

namespace mpa::test {
namespace {

constexpr const char* kNodes =
    "time,address,node_type,add_count,end_count,running_count\n"
    "2025-08-14 16:06:00,10.0.0.1:1000,prefill,2,1,1\n";
constexpr const char* kGuesses =
    "rid,iter,prof_id,start_datetime,end_datetime,during_time(ms),spec_tokens,accepted_tokens\n"
    "a,3,1,2025-08-14 16:06:00:000100,2025-08-14 16:06:00:000900,0.8,4,3\n";
constexpr const char* kOlder =
    "http_rid,start_time_httpReq(microsecond),recv_token_size,reply_token_size,"
    "execution_time(microsecond),queue_wait_time(microsecond),first_token_latency\n"
    "7,1755158760000000,12,5,90000.5,10,30000\n";
constexpr const char* kSpans =
    "span_name,start_datetime,end_datetime,during_time(ms),hostname,pid\n"
    "sample,2025-08-14 16:06:00:000100,2025-08-14 16:06:00:000900,0.8,host,7\n";

constexpr const char* kTrace =
    "[{\"name\": \"httpReq\", \"ph\": \"I\", \"ts\": 1755158760000000, \"dur\": 0, \"pid\": 5,"
    " \"args\": {\"start_datetime\": \"2025-08-14\", \"res_list\": \"a\"}},"
    " {\"name\": \"modelExec\", \"ph\": \"X\", \"ts\": 1755158760000100, \"dur\": 50, \"pid\": 6,"
    " \"args\": {\"start_datetime\": \"2025-08-14\", \"res_list\": [{\"rid\": \"a\", \"iter\":"
    " 0}]}},"
    " {\"name\": \"process_labels\", \"ph\": \"M\", \"pid\": 6, \"args\": {\"labels\":"
    " \"host,dp1\"}}]";
// Names and attributes of events, one a line, of which the database is made.
constexpr const char* kEvents =
    "httpReq\t{\"rid\": \"a\"}\n"
    "Enqueue\t{\"rid\": [\"a\"], \"scope#QueueName\": \"WAITING\", \"QueueSize=\": 1}\n"
    "batchFrameworkProcessing\t{\"rid\": [{\"rid\": \"a\", \"iter\": 0, \"type\": 0}]}\n"
    "KVCacheStatus\t{\"TotalBlocks=\": 9, \"FreeBlocks=\": 4, \"UsagePercent=\": 0.5}\n"
    "Link\t{\"from\": \"a\", \"to\": 3}\n"
    "PullKVCache\t{\"rid\": \"a\", \"rank\": 1, \"seq_len\": 12}\n"
    "httpRes\t{\"rid\": \"a\", \"recvTokenSize=\": 3, \"replyTokenSize=\": 2}\n";

void MakeDatabase(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::remove(path);
  sqlite3* database = nullptr;
  if (sqlite3_open(path.c_str(), &database) != SQLITE_OK) Die("cannot open the database");
  const auto run = [&](const char* sql) { sqlite3_exec(database, sql, nullptr, nullptr, nullptr); };
  run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  run("CREATE TABLE Meta (name TEXT, value TEXT); INSERT INTO Meta VALUES ('dpRankId', '1')");
  run("CREATE TABLE slice (timestamp INTEGER, duration INTEGER, name TEXT, args TEXT)");
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(database, "INSERT INTO slice VALUES (?, ?, ?, ?)", -1, &insert, nullptr);
  std::int64_t time = 1'755'158'760'000'000'000;
  while (!content.empty()) {
    const std::string_view line = content.substr(0, content.find('\n'));
    const std::string_view name = line.substr(0, line.find('\t'));
    const std::string_view args = line.substr(std::min(name.size() + 1, line.size()));
    sqlite3_bind_int64(insert, 1, time += 1000);
    sqlite3_bind_int64(insert, 2, static_cast<std::int64_t>(line.size()));
    sqlite3_bind_text(insert, 3, name.data(), static_cast<int>(name.size()), SQLITE_TRANSIENT);
    sqlite3_bind_text(insert, 4, args.data(), static_cast<int>(args.size()), SQLITE_TRANSIENT);
    sqlite3_step(insert);
    sqlite3_reset(insert);
    content.remove_prefix(std::min(line.size() + 1, content.size()));
  }
  sqlite3_finalize(insert);
  run("COMMIT");
  sqlite3_close(database);
}

// Map, its bytes and back, and everything that is made of it.
void Analyse(const RankTrace& trace) {
  const auto recipe = std::ranges::find(AllRecipes(), "serving_requests", &Recipe::name);
  RankPart part{RankId{}, recipe->map(trace, {})};
  part.part = recipe->decode(recipe->encode(part));
  Report report;
  recipe->reduce({part, part}, {}, {.screen = Detail::kAll}, report);
  for (const Sheet& sheet : report.sheets) {
    for (const Row& row : sheet.rows) {
      if (row.cells.size() != sheet.columns.size()) Die("a row lacks cells");
    }
  }
}

}  // namespace

std::vector<Target> Targets() {
  static const Scratch scratch;
  std::vector<Target> targets;
  const auto add = [&](std::string name, std::vector<std::string> seeds) {
    targets.push_back({name, std::move(seeds), [name](std::string_view content) {
                         const auto path = scratch.Write(name, content);
                         if (name.ends_with(".db")) MakeDatabase(path, content);
                         RankTrace trace;
                         trace.source = "server";
                         if (Try(name, [&] { ReadInto(trace, FileKind::kServerTable, path); }))
                           Analyse(trace);
                       }});
  };
  add("request.csv", {Captured("server_requests/request.csv"), kOlder});
  for (const char* name : {"batch.csv", "forward.csv", "kvcache.csv", "request_status.csv",
                           "pd_split_kvcache.csv", "pd_split_communication.csv"})
    add(name, {Captured(std::string("server_requests/") + name)});
  add("coordinator.csv", {kNodes});
  add("spec_decode.csv", {kGuesses});
  add("span_info/sample.csv", {kSpans});
  add("chrome_tracing.json", {kTrace});
  add("ms_service_1.db", {kEvents});
  return targets;
}

}  // namespace mpa::test

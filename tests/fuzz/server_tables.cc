// SPDX-License-Identifier: Apache-2.0
// The tables of msServiceProfiler, and what serving_requests makes of them.
#include <algorithm>
#include <string>

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
  return targets;
}

}  // namespace mpa::test

// SPDX-License-Identifier: Apache-2.0
// Statements of `query` on a small capture: whatever they ask, they end in time, and can only read.
#include <filesystem>

#include "fuzz/fuzzing.h"
#include "mpa/query/query.h"

namespace mpa::test {
namespace {

QueryJob& Job() {
  static QueryJob job = [] {
    QuerySide side;
    side.captures.directory = MPA_QUERIED_CAPTURE;
    return QueryJob({side});
  }();
  return job;
}

void Statement(std::string_view text) {
  constexpr std::size_t kRows = 50;
  Try("", [&] {
    const QueryAnswer answer = Job().Run(std::string(text), {.rows = kRows, .seconds = 1});
    if (answer.rows.size() > kRows) Die("more rows than asked for");
    for (const auto& row : answer.rows) {
      if (row.size() != answer.columns.size()) Die("a row of another length than the columns");
    }
  });
  if (std::filesystem::exists("written_by_a_statement")) Die("a statement wrote a file");
}

}  // namespace

std::vector<Target> Targets() {
  return {
      {"statement",
       {"SELECT name, sum(dur) FROM kernel WHERE start >= 17 AND id < 9 GROUP BY 1 ORDER BY 2",
        "SELECT k.name, o.name FROM kernel k JOIN op o ON o.id = k.op AND o.rank = k.rank",
        "SELECT median(x), percentile(x, 99.9), busy_ns(x, 2) FROM (SELECT 1 AS x UNION SELECT 5)",
        "SELECT * FROM account a LEFT JOIN gap g ON g.step = a.step WHERE g.dur BETWEEN 1 AND 1e9",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n",
        "ATTACH 'written_by_a_statement' AS w; VACUUM INTO 'written_by_a_statement'",
        "SELECT s.value FROM TASK t JOIN COMPUTE_TASK_INFO c ON c.globalTaskId = t.globalTaskId"
        " JOIN STRING_IDS s ON s.id = c.name",
        "SELECT short(name, 9), in_step(start, rank), overlap_ns(start, dur, 1, 2) FROM comm"},
       Statement}};
}

}  // namespace mpa::test

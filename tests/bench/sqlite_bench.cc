// SPDX-License-Identifier: Apache-2.0
// Scanning a table of tasks in the order of its rows.
#include <benchmark/benchmark.h>

#include "bench/random_times.h"
#include "mpa/io/sqlite.h"
#include "support/files.h"

namespace mpa {
namespace {

void ScanTasks(benchmark::State& state) {
  constexpr std::int64_t kRows = 20000;
  const test::TempDir dir;
  const auto path = test::BuildDatabase(
      dir / "profiler.db",
      "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, connectionId INTEGER, streamId INTEGER);"
      "WITH RECURSIVE row(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM row WHERE i + 1 < 20000)"
      " INSERT INTO TASK SELECT 1736408883000000000 + i * 1700, 1736408883000000900 + i * 1700,"
      " 10000 + i, 2 FROM row");
  for (auto _ : state) {
    const io::Database database(path);
    io::Statement rows = database.Query("SELECT startNs, endNs, connectionId, streamId FROM TASK");
    while (rows.Step()) {
      for (int column = 0; column < 4; ++column) benchmark::DoNotOptimize(rows.Int(column));
    }
  }
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  state.SetBytesProcessed(state.iterations() * bytes);
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(ScanTasks);

}  // namespace
}  // namespace mpa

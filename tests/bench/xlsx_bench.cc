// SPDX-License-Identifier: Apache-2.0
// Writing a workbook.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/random_times.h"
#include "mpa/writers/writers.h"
#include "support/files.h"

namespace mpa {
namespace {

// Two texts that recur in many rows, and eight numbers, as in the sheets of operators.
Report OperatorSheet(std::int64_t rows) {
  Sheet sheet;
  sheet.name = "OperatorCompare";
  sheet.columns = {{.name = "Operator"}, {.name = "Shapes"}};
  for (int i = 0; i < 8; ++i) {
    sheet.columns.push_back({.name = fmt::format("Number {}", i), .format = Format::kDecimals2});
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    Row row;
    row.cells = {fmt::format("aten::operator_{}", i % 300), std::string("4096,1024;1024,1024")};
    for (int column = 0; column < 8; ++column) {
      row.cells.emplace_back(0.01 * static_cast<double>(i * 37 % 5000 + column));
    }
    sheet.rows.push_back(std::move(row));
  }
  Report report;
  report.sheets.push_back(std::move(sheet));
  return report;
}

void WriteWorkbook(benchmark::State& state) {
  constexpr std::int64_t kRows = 2000;
  const Report report = OperatorSheet(kRows);
  for (auto _ : state) {
    const test::TempDir dir;
    WriteXlsx(report, dir.path(), "report");
  }
  state.SetItemsProcessed(state.iterations() * kRows * 10);  // cells
}
BENCHMARK(WriteWorkbook)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Reading rows like those of kernel_details.csv.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/random_times.h"
#include "mpa/io/csv_file.h"
#include "support/files.h"

namespace mpa {
namespace {

void ReadCsv(benchmark::State& state) {
  constexpr std::int64_t kRows = 4096;
  std::string text =
      "Step Id,Name,Type,Start Time(us),Duration(us),Input Shapes,Input Data"
      " Types,aic_time(us)\r\n";
  for (std::int64_t i = 0; i < kRows; ++i) {
    text += fmt::format(
        "5,aclnnMm_MatMulV2_MatMulV2,MatMulV2,{}\t,53.741,\"\"\"4096,1024;1024,1024\"\"\",FLOAT;"
        "FLOAT,"
        "51.2\r\n",
        bench::MicrosText(static_cast<std::uint64_t>(i)));
  }
  const test::TempDir dir;
  const auto path = dir.Write("kernel_details.csv", text);
  for (auto _ : state) {
    io::CsvFile csv(path);
    const auto start = csv.Require("Start Time(us)"), shapes = csv.Require("Input Shapes");
    while (csv.Next()) benchmark::DoNotOptimize(csv[start].size() + csv[shapes].size());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(ReadCsv);

}  // namespace
}  // namespace mpa

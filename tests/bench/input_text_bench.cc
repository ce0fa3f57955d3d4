// SPDX-License-Identifier: Apache-2.0
// Opening a trace, as it is and packed with gzip.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/random_times.h"
#include "mpa/io/input_text.h"
#include "support/files.h"

namespace mpa {
namespace {

std::string Events() {
  std::string text;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    text += fmt::format(R"({{"ph":"X","name":"aten::operator_{}","ts":"{}","dur":{}}},)", i % 300,
                        bench::MicrosText(i), i % 97);
  }
  return text;
}

// Every page is touched: a file that is only mapped has not been read yet.
void OpenInput(benchmark::State& state) {
  const bool packed = state.range(0) != 0;
  const std::string text = Events();
  const test::TempDir dir;
  const auto path = dir.Write("trace.json", packed ? test::Gzip(text) : text);
  for (auto _ : state) {
    const io::InputText input(path);
    int sum = 0;
    for (std::size_t at = 0; at < input.text().size(); at += 4096) sum += input.text()[at];
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(OpenInput)->ArgName("packed")->Arg(0)->Arg(1);

}  // namespace
}  // namespace mpa

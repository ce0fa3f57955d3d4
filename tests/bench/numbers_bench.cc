// SPDX-License-Identifier: Apache-2.0
// Reading times.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/random_times.h"
#include "mpa/io/numbers.h"

namespace mpa {
namespace {

void ReadStarts(benchmark::State& state) {
  std::vector<std::string> texts;
  std::int64_t bytes = 0;
  for (std::uint64_t i = 0; i < 4096; ++i) {
    texts.push_back(bench::MicrosText(i));
    bytes += static_cast<std::int64_t>(texts.back().size());
  }
  for (auto _ : state) {
    for (const std::string& text : texts) benchmark::DoNotOptimize(io::NsFromMicros(text));
  }
  state.SetBytesProcessed(state.iterations() * bytes);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(texts.size()));
}
BENCHMARK(ReadStarts);

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Matching the operators of two runs of a training loop.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "bench/random_times.h"
#include "mpa/compare/sequence_matching.h"

namespace mpa {
namespace {

// `steps` equal steps of 800 operators; in one of the two runs one operator in 500 is another.
void MatchRuns(benchmark::State& state) {
  bench::Numbers numbers;
  std::vector<std::uint32_t> step(800);
  for (std::uint32_t& key : step) key = numbers.Below(60);
  std::vector<std::uint32_t> base;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    base.insert(base.end(), step.begin(), step.end());
  }
  std::vector<std::uint32_t> comparison = base;
  for (std::uint32_t& key : comparison) {
    if (numbers.Below(500) == 0) key = 60 + numbers.Below(10);
  }
  for (auto _ : state) benchmark::DoNotOptimize(MatchSequences(base, comparison));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(base.size()));
}
BENCHMARK(MatchRuns)->ArgName("steps")->Arg(1)->Arg(10)->Arg(40);

}  // namespace
}  // namespace mpa

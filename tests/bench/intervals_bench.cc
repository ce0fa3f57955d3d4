// SPDX-License-Identifier: Apache-2.0
// The time that overlapping device work covers.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/random_times.h"
#include "mpa/measure/intervals.h"

namespace mpa {
namespace {

// Work begins nearly in order, as the tables of a rank have it, or in any order.
void UnionOfWork(benchmark::State& state) {
  const bool in_order = state.range(0) != 0;
  bench::Numbers numbers;
  std::vector<Interval> work;
  for (TimeNs i = 0; i < 50000; ++i) {
    const TimeNs begin = in_order ? i * 1000 : numbers.Below(50'000'000);
    work.push_back({begin, begin + 1 + numbers.Below(2500)});
  }
  for (auto _ : state) benchmark::DoNotOptimize(Union(work));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(work.size()));
}
BENCHMARK(UnionOfWork)->ArgName("in_order")->Arg(1)->Arg(0);

}  // namespace
}  // namespace mpa

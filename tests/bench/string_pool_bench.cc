// SPDX-License-Identifier: Apache-2.0
// Interning the names of operators, and call stacks of more than a kilobyte.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <vector>

#include "bench/random_times.h"
#include "mpa/model/string_pool.h"

namespace mpa {
namespace {

// As many texts as a step has operators, few of them different, as long as the argument says.
void Intern(benchmark::State& state) {
  constexpr std::int64_t kDistinct = 300;
  std::vector<std::string> distinct;
  for (std::int64_t i = 0; i < kDistinct; ++i) {
    std::string text = fmt::format("aten::operator_{}", i);
    const auto length = static_cast<std::size_t>(state.range(0));
    while (text.size() < length) text += ";\r\n/site-packages/torch/nn/modules/module.py(1501)";
    distinct.push_back(std::move(text));
  }
  bench::Numbers numbers;
  std::vector<std::string> texts;
  std::int64_t bytes = 0;
  for (int i = 0; i < 4096; ++i) {
    texts.push_back(distinct[numbers.Below(kDistinct)]);
    bytes += static_cast<std::int64_t>(texts.back().size());
  }
  for (auto _ : state) {
    StringPool pool;
    for (const std::string& text : texts) benchmark::DoNotOptimize(pool.Intern(text));
  }
  state.SetBytesProcessed(state.iterations() * bytes);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(texts.size()));
}
BENCHMARK(Intern)->Arg(20)->Arg(1200);

}  // namespace
}  // namespace mpa

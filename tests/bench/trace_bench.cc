// SPDX-License-Identifier: Apache-2.0
// Cutting a trace into pieces, and reading one with everything or little wanted of it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/random_times.h"
#include "mpa/io/event_pieces.h"
#include "support/files.h"
#include "support/reading.h"

namespace mpa {
namespace {

constexpr std::uint64_t kEvents = 10000;  // as many as one rich step has

// One operator in three with a call stack, kernels, counters that nothing reads.
std::string Trace() {
  std::string stack;
  for (int i = 0; i < 14; ++i) {
    stack +=
        fmt::format(R"(/opt/lib/python3.10/site-packages/torch/module_{0}.py({0}): call;\r\n)", i);
  }
  std::string text =
      R"([{"ph":"M","name":"process_name","pid":10,"tid":0,"args":{"name":"Ascend Hardware"}})";
  for (std::uint64_t i = 1; i < kEvents; ++i) {
    const std::string ts = bench::MicrosText(i);
    if (i % 10 < 3) {
      text += fmt::format(
          R"(, {{"ph":"X","name":"aten::op_{}","pid":1,"tid":2,"ts":"{}","dur":9.5,"cat":"cpu_op",)"
          R"("args":{{"Sequence number":-1,"Input Dims":"8,64;\r\n64,64","Call stack":"{}"}}}})",
          i % 300, ts, i % 10 == 0 ? stack : "");
    } else if (i % 10 < 5) {
      text += fmt::format(
          R"(, {{"name":"MatMulV2","pid":10,"tid":2,"ts":"{}","dur":14.32,"args":{{"Model Id":)"
          R"(4294967295,"Task Type":"AI_CORE","Stream Id":2,"Task Id":{}}},"ph":"X"}})",
          ts, i % 65536);
    } else {
      text += fmt::format(
          R"(, {{"name":"read_ost","ts":"{}","pid":30,"tid":0,"args":{{"value":0}},"ph":"C"}})",
          ts);
    }
  }
  return text + "]";
}

void Report(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kEvents));
}

// Pieces of a few hundred events, so that there are many cuts.
void CutTrace(benchmark::State& state) {
  const std::string text = Trace();
  const test::TempDir dir;
  const auto path = dir.Write("trace_view.json", text);
  for (auto _ : state) {
    io::EventPieces pieces(path, 64 << 10);
    io::EventPiece piece;
    while (pieces.Next(piece)) benchmark::DoNotOptimize(piece.array().data());
  }
  Report(state, text.size());
}
BENCHMARK(CutTrace);

void ReadTrace(benchmark::State& state, Tables wanted) {
  const std::string text = Trace();
  const test::TempDir dir;
  const auto path = dir.Write("trace_view.json", text);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        test::ReadFile(FileKind::kTraceView, path, {wanted, ""}).strings.Size());
  }
  Report(state, text.size());
}
BENCHMARK_CAPTURE(ReadTrace, all, test::kAllTables);
BENCHMARK_CAPTURE(ReadTrace, device_tasks, Tables::kDeviceTasks);

}  // namespace
}  // namespace mpa

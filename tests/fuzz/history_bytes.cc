// SPDX-License-Identifier: Apache-2.0
// Histories of gates whose file is broken anywhere: they are read, judged by and added to.
#include "fuzz/fuzzing.h"
#include "mpa/gate/history.h"
#include "mpa/pipeline/history.h"
#include "support/files.h"

namespace mpa::test {
namespace {

gate::Baseline Captures() {
  gate::Baseline captures;
  gate::RunSummary& run = captures.runs.emplace_back();
  run.steps = {1, 2, 3};
  run.samples[{gate::MetricKind::kStepTime, ""}] = {100, 101, 99};
  return captures;
}

gate::HistoryRun Run() {
  gate::HistoryRun run;
  run.label = "commit";
  run.values = {{"step_time", Quantity::kTime, 100, 1, "ok", "3 %"}};
  return run;
}

}  // namespace

std::vector<Target> Targets() {
  static const Scratch scratch;
  Target target{"history", {}, [](std::string_view content) {
                  const auto path = scratch.Write("runs.db", content);
                  Try("runs.db", [&] {
                    const auto runs = ReadHistory(path, 100);
                    if (gate::HistoryReport(runs, "").sheets.empty()) Die("no tables");
                    (void)gate::NewestOfHistory(runs);
                  });
                  Try("runs.db", [&] { (void)BaseOfHistory(path, 10); });
                  Try("runs.db", [&] { AddToHistory(Run(), Captures(), path); });
                }};
  const TempDir directory;
  const auto path = directory / "runs.db";
  for (int i = 0; i < 10; ++i) AddToHistory(Run(), Captures(), path);
  target.seeds.push_back(ReadAll(path));
  return {target};
}

}  // namespace mpa::test

// SPDX-License-Identifier: Apache-2.0
// Documents of a gate: baselines, learned noise, rules. What is accepted is judged and reported in
// every form.
#include "fuzz/fuzzing.h"
#include "mpa/gate/judge.h"
#include "mpa/pipeline/gate.h"
#include "mpa/writers/writers.h"

namespace mpa::test {
namespace {

constexpr const char* kBaseline = R"({
 "created": "20261231235959", "kind": "msprof-analyze-baseline", "schema_version": 1,
 "tool_version": "1", "oldest_anchor": {"created": "20260101000000", "tool_version": "1",
 "medians": {"step_time": 90}},
 "runs": [{"source": "a", "facts": {"profiler_level": "Level1"}, "steps": [1, 2, 3],
 "samples": {"step_time": [100, 101, 99], "peak_memory": [5], "op:Mat*": [7, 8, 9]},
 "medians": {"kernels": {"mm": [60, 2]}, "op_types": {"MatMulV2": [60, 2]},
 "operators": {"aten::mm": [60, 2]}, "modules": {"Linear_0": [60, 2]}, "apis": {"aten::mm": [5, 1]},
 "collectives": {"allreduce": [9, 1]}}, "shapes": {"12": 2}}]})";
constexpr const char* kNoise = R"({"kind": "msprof-analyze-noise", "schema_version": 1,
 "tool_version": "1", "runs": 3, "relative_noise": {"step_time": 0.01}})";
constexpr const char* kRules =
    R"({"metrics": [{"metric": "op:Mat*", "limit": "+3%&+2us", "min_abs": "1ms",
 "min_share": "0.5%"}], "min_abs": "20us,1MB", "min_share": "0.1%", "min_steps": 3, "warmup": 1})";

void Report(const gate::GateSettings& settings, const gate::Baseline& baseline) {
  const GateReport report =
      gate::Judge(settings, baseline.runs, baseline.runs, gate::AnchorOf(baseline));
  if (report.headline.empty()) Die("a gate without a headline");
  FormatGateText(report);
  for (const auto format : {FormatGateJson, FormatGateMarkdown, FormatGateJunit,
                            FormatGateOpenMetrics, FormatGateAnnotations}) {
    if (format(report).empty()) Die("a report without a text");
  }
  if (gate::ReportOf(report).sheets.empty()) Die("a report without tables");
}

}  // namespace

std::vector<Target> Targets() {
  static const Scratch scratch;
  const auto usual_rules = [] {
    gate::GateSettings settings;
    settings.rules = {gate::ParseRule("step_time>+3%"), gate::ParseRule("peak_memory>+1MB"),
                      gate::ParseRule("op:Mat*>+3%&+1us")};
    return settings;
  };
  const auto usual_baseline = [] {
    return gate::BaselineFromJson(nlohmann::json::parse(kBaseline));
  };
  const auto baseline = [=](std::string_view text) {
    const auto path = scratch.Write("baseline.json", text);
    Try("baseline.json", [&] {
      const gate::Baseline read = ReadBaseline(path);
      WriteDocument(gate::BaselineToJson(read), path);
      // Texts that are no UTF-8 cannot be in a document.
      if (!(ReadBaseline(path) == read)) Die("a baseline changes when it is written and read");
      Report(usual_rules(), read);
    });
  };
  const auto noise = [=](std::string_view text) {
    const auto path = scratch.Write("noise.json", text);
    Try("noise.json", [&] {
      gate::GateSettings settings = usual_rules();
      settings.learned_noise = ReadNoise(path);
      Report(settings, usual_baseline());
    });
  };
  const auto rules = [=](std::string_view text) {
    const auto path = scratch.Write("gate.json", text);
    Try("", [&] {
      gate::GateSettings settings;
      gate::ApplyGateFile(ReadDocument(path), settings);
      if (settings.rules.empty()) settings.rules = usual_rules().rules;
      Report(settings, usual_baseline());
    });
  };
  return {
      {"baseline", {kBaseline}, baseline}, {"noise", {kNoise}, noise}, {"rules", {kRules}, rules}};
}

}  // namespace mpa::test

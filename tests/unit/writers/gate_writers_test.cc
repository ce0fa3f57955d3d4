// SPDX-License-Identifier: Apache-2.0
// What a gate found, as the forms show it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "mpa/writers/writers.h"
#include "support/failures.h"

namespace mpa {
namespace {

constexpr std::int64_t kGateMs = 1'000'000;

GateMetric Judged(const char* name, GateVerdict verdict, std::int64_t base,
                  std::int64_t comparison) {
  GateMetric metric;
  metric.name = name;
  metric.verdict = verdict;
  metric.base = base * kGateMs;
  metric.comparison = comparison * kGateMs;
  metric.noise = 0.5 * kGateMs;
  metric.limit = "3 %";
  metric.line = std::string("line of ") + name;
  return metric;
}

GateMetric NotJudged(const char* name) {
  GateMetric metric;
  metric.name = name;
  metric.verdict = GateVerdict::kInconclusive;
  metric.reason = "no values";
  metric.line = std::string("INCONCLUSIVE ") + name + ": no values";
  return metric;
}

ChangeNode Part(const char* kind, const char* name, std::int64_t base, std::int64_t comparison) {
  return {kind, name, base * kGateMs, comparison * kGateMs, 0, 0};
}

ChangeNode StepOf(std::vector<ChangeNode> parts) {
  ChangeNode step{"component", "step_time"};
  for (ChangeNode& part : parts) AddChild(std::move(part), step);
  return step;
}

// step_time grew by 5 ms.
GateReport Slower() {
  GateReport report;
  report.verdict = GateVerdict::kRegression;
  report.exit_code = 1;
  report.headline = "line of step_time: +5.0 ms MatMulV2";
  report.metrics = {Judged("step_time", GateVerdict::kRegression, 100, 105)};
  report.change = StepOf({Part("kernel", "MatMulV2", 40, 45), Part("remainder", "other", 60, 60)});
  return report;
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::string Screen(const GateReport& report) {
  std::string text;
  for (const std::string& line : FormatGateText(report)) text += line + "\n";
  return text;
}

TEST(GateText, SaysTheVerdictOnce) {
  GateReport report = Slower();
  EXPECT_EQ(CountOf(Screen(report), "line of step_time"), 1u);
  report.verdict = report.metrics[0].verdict = GateVerdict::kOk;
  report.headline = report.metrics[0].line;
  report.metrics[0].reason = "not above the floor";
  report.metrics[0].anchor = 90 * kGateMs;
  report.metrics.push_back(Judged("free", GateVerdict::kOk, 50, 51));
  const std::string text = Screen(report);
  EXPECT_EQ(CountOf(text, "line of step_time"), 1u);
  EXPECT_HAS_TEXT(text, "\n  not above the floor\n");
  EXPECT_HAS_TEXT(text, "since the oldest baseline, 90.00 ms: +16.7 %");
  EXPECT_HAS_TEXT(text, "\n  line of free\n");
}

TEST(GateForms, WhatIsUndecidedIsGreenInNone) {
  GateReport report = Slower();
  report.verdict = report.metrics[0].verdict = GateVerdict::kUndecided;
  report.metrics[0].reason = "not above the floor of 9.000 ms";
  report.metrics[0].line = "UNDECIDED step_time: not above the floor of 9.000 ms";
  report.headline = report.metrics[0].line;
  report.metrics.push_back(report.metrics[0]);
  report.metrics[1].name = "free";
  report.metrics[1].line = "UNDECIDED free: not above the floor of 9.000 ms";
  report.exit_code = 4;
  EXPECT_EQ(CountOf(Screen(report), "not above the floor"), 2u) << "once for each";
  EXPECT_EQ(CountOf(FormatGateJunit(report), "<error message=\"UNDECIDED "), 2u);
  EXPECT_HAS_TEXT(FormatGateJson(report), "\"verdict\": \"undecided\"");
  EXPECT_HAS_TEXT(FormatGateOpenMetrics(report),
                  "{metric=\"free\",msprof_gate_verdict=\"undecided\"} 1\n");
  EXPECT_HAS_TEXT(FormatGateMarkdown(report),
                  "### Not decided\n\n- free: not above the floor of 9.000 ms\n");
  EXPECT_HAS_TEXT(FormatGateAnnotations(report), "::error title=msprof-analyze gate::UNDECIDED");
  report.exit_code = 1;  // --strict
  EXPECT_EQ(CountOf(FormatGateJunit(report), "<failure message=\"UNDECIDED "), 2u);
  report.exit_code = 0;  // --on_inconclusive pass
  EXPECT_EQ(CountOf(FormatGateJunit(report), "<skipped message=\"UNDECIDED "), 2u);
}

TEST(GateText, ListsNoNoise) {
  GateReport report = Slower();
  report.change =
      StepOf({Part("kernel", "MatMulV2", 40, 46), Part("kernel", "Relu", 8, 7),
              Part("component", "free time", 2, 3), Part("remainder", "other", 50, 49)});
  for (std::size_t i = 1; i < 4; ++i) report.change.children[i].is_noise = true;
  const std::string text = Screen(report);
  EXPECT_HAS_TEXT(text, "  +6.000 ms MatMulV2 (+15.0 %)\n  -1.000 ms in 3 smaller changes\n");
  EXPECT_EQ(CountOf(text, "Relu") + CountOf(text, "free time") + CountOf(text, " other"), 0u);
  EXPECT_EQ(CountOf(FormatGateMarkdown(report), "Relu"), 0u);
  report.change.is_noise = report.change.children[0].is_noise = true;
  EXPECT_EQ(CountOf(Screen(report), "made of"), 0u) << "nothing to list";
  EXPECT_EQ(CountOf(FormatGateMarkdown(report), "made of"), 0u);
}

// A first step that only the comparison is slow in, and drift of its own.
GateReport LeftOut() {
  GateReport report = Slower();
  report.warmup = GateWarmup{1, 1.0, 2.5, false, true};
  report.metrics[0].drift = GateDrift{0, 1.25, true, 7.5};
  return report;
}

TEST(GateText, SaysWhatIsLeftOutAndTakenOff) {
  const std::string text = Screen(LeftOut());
  EXPECT_HAS_TEXT(text,
                  "\nfirst step left out as warm-up: 1.00 times the later ones in the base, 2.50"
                  " times in the comparison; only the comparison was slow there, --warmup 0 judges"
                  " all steps\n");
  EXPECT_HAS_TEXT(
      text,
      "\n"
      "  drift differs and is not subtracted: +0.00 % per step in the base, +1.25 % in the"
      " comparison; in the last step the change is +7.5 %\n");
  GateReport alike = LeftOut();
  alike.warmup = GateWarmup{2, 3, 2.5, true, true};
  alike.metrics[0].drift = GateDrift{0.4, 0.4, false, 5};
  EXPECT_HAS_TEXT(Screen(alike),
                  "first 2 steps left out as warm-up: 3.00 times the later ones in"
                  " the base, 2.50 times in the comparison\n");
  EXPECT_HAS_TEXT(Screen(alike), "\n  drift of +0.40 % per step subtracted\n");
  EXPECT_EQ(CountOf(Screen(Slower()), "warm-up") + CountOf(Screen(Slower()), "drift"), 0u);
}

TEST(GateMarkdown, SaysWhatIsLeftOutAndTakenOff) {
  const std::string text = FormatGateMarkdown(LeftOut());
  EXPECT_HAS_TEXT(text,
                  "### Left out or subtracted\n"
                  "\n"
                  "- first step left out as warm-up: ");
  EXPECT_HAS_TEXT(text, "\n- step_time: drift differs and is not");
}

TEST(GateGithub, WarnsWhereTheSidesDifferAlone) {
  const std::string text = FormatGateAnnotations(LeftOut());
  EXPECT_HAS_TEXT(text, "::warning title=msprof-analyze gate::first step left out as warm-up: ");
  EXPECT_HAS_TEXT(text, "::warning title=msprof-analyze gate::step_time: drift differs and is not");
  GateReport alike = LeftOut();
  alike.warmup->in_base = true;
  alike.metrics[0].drift->differs = false;
  EXPECT_EQ(CountOf(FormatGateAnnotations(alike), "::warning"), 0u);
}

TEST(GateJson, HasWhatIsLeftOutAndTakenOff) {
  const nlohmann::json json = nlohmann::json::parse(FormatGateJson(LeftOut()));
  EXPECT_EQ(json["warmup"], nlohmann::json::parse(R"({"steps": 1, "base_times_later": 1.0,
      "comparison_times_later": 2.5, "in_base": false, "in_comparison": true})"));
  EXPECT_EQ(json["metrics"][0]["drift"], nlohmann::json::parse(R"({"base_percent_per_step": 0.0,
      "comparison_percent_per_step": 1.25, "differs": true, "change_percent_at_end": 7.5})"));
  const nlohmann::json nothing = nlohmann::json::parse(FormatGateJson(Slower()));
  EXPECT_TRUE(nothing["warmup"].is_null());
  EXPECT_TRUE(nothing["metrics"][0]["drift"].is_null());
}

TEST(GateMarkdown, TellsTheBaseFromTheComparison) {
  const std::string text = FormatGateMarkdown(Slower());
  EXPECT_HAS_TEXT(text, "| Metric | Verdict | Base | Comparison | Change | Limit | Noise |");
  EXPECT_HAS_TEXT(text,
                  "| step_time | regression | 100.0 ms | 105.0 ms | +5.0 % | 3 % | 500.0 us |");
  EXPECT_HAS_TEXT(text, "| Change | What | Base | Comparison |\n");
  EXPECT_HAS_TEXT(text, "| +5.000 ms | MatMulV2 | 40.00 ms | 45.00 ms |\n");
  GateReport report = Slower();
  report.change.children[0].base_count = 3;
  report.change.children[0].comparison_count = 4;
  EXPECT_HAS_TEXT(FormatGateMarkdown(report), "| 40.00 ms | 45.00 ms | 4 instead of 3 |");
}

TEST(GateMarkdown, TheVerdictIsAParagraphAndNoColumnIsEmpty) {
  GateReport report = Slower();
  report.headline = "REGRESSION step_time: 100.0 -> 105.0 ms (+5.0 %), limit 3 %: +5.0 ms MatMulV2";
  report.metrics = {NotJudged("free")};
  const std::string text = FormatGateMarkdown(report);
  EXPECT_TRUE(text.starts_with(
      "## REGRESSION step_time\n\n100.0 -> 105.0 ms (+5.0 %), limit 3 %: +5.0 ms MatMulV2\n"))
      << text;
  EXPECT_HAS_TEXT(text, "| Metric | Verdict |\n| --- | --- |\n| free | inconclusive |\n");
}

TEST(GateMarkdown, HasNoNumbersForWhatWasNotJudged) {
  GateReport report = Slower();
  report.metrics.push_back(NotJudged("free"));
  EXPECT_HAS_TEXT(FormatGateMarkdown(report), "| free | inconclusive |  |  |  |  |  |");
}

TEST(GateJunit, NothingIsGreenOnPartialData) {
  GateReport report = Slower();
  report.verdict = report.metrics[0].verdict = GateVerdict::kOk;
  report.metrics.push_back(Judged("free", GateVerdict::kRegression, 50, 60));
  report.partial = true;
  report.exit_code = 5;
  report.notes = {"trace_view.json breaks off"};
  const std::string text = FormatGateJunit(report);
  EXPECT_HAS_TEXT(text, "tests=\"3\" failures=\"0\" errors=\"1\" skipped=\"2\"");
  EXPECT_HAS_TEXT(text, "<skipped message=\"judged on partial data: line of step_time\"/>");
  EXPECT_HAS_TEXT(text, "<testcase name=\"complete_input\"");
  EXPECT_HAS_TEXT(text, ">trace_view.json breaks off</error>");
  EXPECT_EQ(CountOf(text, "<system-out>"), 0u) << "no case has passed";
}

TEST(GateOpenMetrics, HasNoValuesOfWhatWasNotJudged) {
  GateReport report = Slower();
  report.metrics.push_back(NotJudged("free"));
  const std::string text = FormatGateOpenMetrics(report);
  EXPECT_HAS_TEXT(text, "msprof_gate_base_seconds{metric=\"step_time\"} 0.100000000\n");
  EXPECT_HAS_TEXT(text, "msprof_gate_comparison_seconds{metric=\"step_time\"} 0.105000000\n");
  EXPECT_HAS_TEXT(text, "msprof_gate_noise_seconds{metric=\"step_time\"} 0.000500000\n");
  EXPECT_EQ(CountOf(text, "metric=\"free\""), 5u) << "its verdict alone, in five states";
  EXPECT_EQ(CountOf(text, "seconds{metric=\"free\""), 0u);
  EXPECT_HAS_TEXT(text, "{metric=\"free\",msprof_gate_verdict=\"inconclusive\"} 1\n");
}

}  // namespace
}  // namespace mpa

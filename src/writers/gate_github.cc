// SPDX-License-Identifier: Apache-2.0
// Annotations of GitHub Actions.
#include <fmt/format.h>

#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "mpa/writers/gate_writers.h"

namespace mpa {
namespace {

// GitHub shows no more of one step.
constexpr std::size_t kMostAnnotations = 10;

// A name from a capture must not end the command or begin another one.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(ValidUtf8(text))) {
    if (c == '%') {
      escaped += "%25";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string FormatGateAnnotations(const GateReport& report) {
  std::vector<std::string> commands;
  const auto add = [&](const char* level, std::string_view text) {
    commands.push_back(fmt::format("::{} title=msprof-analyze gate::{}\n", level, Escaped(text)));
  };
  const bool fails = report.exit_code != 0;
  const char* bad = fails ? "error" : "warning";
  const bool passed =
      report.verdict == GateVerdict::kOk || report.verdict == GateVerdict::kImproved;
  add(passed && !report.partial ? "notice" : bad, report.headline);
  if (report.partial) {
    add(bad, "judged on partial data: parts of the input were broken and left out");
  }
  const GateMetric* leading = report.Leading();  // told by the headline
  for (const GateVerdict verdict : {GateVerdict::kRegression, GateVerdict::kInconclusive}) {
    for (const GateMetric& metric : report.metrics) {
      if (metric.verdict != verdict || &metric == leading) continue;
      add(verdict == GateVerdict::kRegression ? bad : "warning", metric.line);
    }
  }
  if (report.warmup && report.warmup->in_base != report.warmup->in_comparison) {
    add("warning", WarmupText(*report.warmup));
  }
  if (!report.hint.empty()) add("notice", report.hint);
  for (const GateMetric& metric : report.metrics) {
    if (metric.drift && metric.drift->differs) {
      add("warning", metric.name + ": " + DriftText(*metric.drift));
    }
  }
  for (const std::string& note : report.notes) add("warning", note);
  if (commands.size() > kMostAnnotations) {
    const std::size_t more = commands.size() - kMostAnnotations + 1;
    commands.resize(kMostAnnotations - 1);
    add("warning", fmt::format("and {} more in the report", more));
  }
  return fmt::format("{}", fmt::join(commands, ""));
}

}  // namespace mpa

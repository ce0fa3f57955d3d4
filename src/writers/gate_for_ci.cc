// SPDX-License-Identifier: Apache-2.0
// A gate for other programs: as results of tests, as gauges, as annotations.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "markup_text.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "mpa/writers/writers.h"

namespace mpa {
namespace {

// XML 1.0 cannot hold two characters of Unicode, not even as references.
std::string XmlEscaped(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string valid = Printable(ValidUtf8(text), Breaks::kKeep);
  for (const std::string_view never : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = valid.find(never); at != std::string::npos; at = valid.find(never, at)) {
      valid.replace(at, never.size(), kReplacement);
    }
  }
  return writers::Escaped(valid, {{'&', "&amp;"},
                                  {'<', "&lt;"},
                                  {'>', "&gt;"},
                                  {'"', "&quot;"},
                                  {'\n', "&#10;"},
                                  {'\t', "&#9;"},
                                  {'\r', "&#13;"}});
}

struct Case {
  std::string name;
  const char* outcome = "";  // element; empty: passed
  std::string message, details;
};

std::string DetailsOf(const GateReport& report) {
  std::string text;
  for (const std::string& line : FormatGateText(report)) text += line + "\n";
  return text;
}

constexpr int kRegressionCode = 1;

std::vector<Case> CasesOf(const GateReport& report) {
  std::vector<Case> cases;
  const bool fails = report.exit_code != 0;
  bool explained = false;
  for (const GateMetric& metric : report.metrics) {
    Case& test = cases.emplace_back(Case{metric.name, "", metric.line, ""});
    const bool is_watched = metric.limit.empty() && metric.verdict == GateVerdict::kOk;
    if (is_watched && !metric.reason.empty()) test.message += ": " + metric.reason;
    if (report.partial) {
      // Missing input can hide growth or fake it, so no metric passes and none fails.
      test.outcome = "skipped";
      test.message = Say("judged on partial data: {}", metric.line);
    } else if (metric.verdict == GateVerdict::kRegression) {
      // Warnings must not fail the job.
      test.outcome = fails ? "failure" : "skipped";
      if (&metric == report.Leading()) test.message = report.headline;
      if (!explained) test.details = DetailsOf(report);  // once is enough
      explained = true;
    } else if (metric.verdict == GateVerdict::kUndecided &&
               report.verdict == GateVerdict::kUndecided && report.exit_code == kRegressionCode) {
      test.outcome = "failure";  // --strict
    } else if (metric.verdict == GateVerdict::kInconclusive ||
               metric.verdict == GateVerdict::kUndecided) {
      test.outcome = fails ? "error" : "skipped";
    }
  }
  if (report.verdict == GateVerdict::kNotComparable) {
    cases.push_back({"comparable", "error", report.headline, DetailsOf(report)});
  }
  if (report.partial) {
    cases.push_back({"complete_input", "error",
                     std::string(Translated(
                         "judged on partial data: parts of the input were broken and left out")),
                     fmt::format("{}", fmt::join(report.notes, "\n"))});
  }
  return cases;
}

std::string Element(const Case& test) {
  std::string text =
      fmt::format("    <testcase name=\"{}\" classname=\"msprof-analyze.gate\" time=\"0\">",
                  XmlEscaped(test.name));
  const std::string_view outcome = test.outcome;
  if (outcome == "skipped") {
    text += fmt::format("<skipped message=\"{}\"/>", XmlEscaped(test.message));
  } else if (!outcome.empty()) {
    text += fmt::format("<{0} message=\"{1}\" type=\"gate\">{2}</{0}>", outcome,
                        XmlEscaped(test.message), XmlEscaped(test.details));
  } else {
    text += fmt::format("<system-out>{}</system-out>", XmlEscaped(test.message));
  }
  return text + "</testcase>\n";
}

// What differs belongs to no single metric, and is of use when all pass, too.
std::string PropertiesOf(const GateReport& report) {
  const std::string line = SettingsLine(report.settings);
  const std::size_t colon = line.find(": ");
  if (colon == std::string::npos) return "";
  return fmt::format(
      "    <properties>\n      <property name=\"{}\" value=\"{}\"/>\n    </properties>\n",
      line.substr(0, colon), XmlEscaped(line.substr(colon + 2)));
}

}  // namespace

std::string FormatGateJunit(const GateReport& report) {
  int failures = 0, errors = 0, skipped = 0;
  std::string elements;
  const std::vector<Case> cases = CasesOf(report);
  for (const Case& test : cases) {
    const std::string_view outcome = test.outcome;
    failures += outcome == "failure" ? 1 : 0;
    errors += outcome == "error" ? 1 : 0;
    skipped += outcome == "skipped" ? 1 : 0;
    elements += Element(test);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"msprof-analyze\""
      " tests=\"{0}\" failures=\"{1}\" errors=\"{2}\" time=\"0\">\n  <testsuite name=\"gate\""
      " tests=\"{0}\" failures=\"{1}\" errors=\"{2}\" skipped=\"{3}\" time=\"0\">\n{4}"
      "  </testsuite>\n</testsuites>\n",
      cases.size(), failures, errors, skipped, PropertiesOf(report) + elements);
}

// A gate as gauges, for dashboards.

namespace {

std::string LabelEscaped(std::string_view text) {
  return writers::Escaped(Printable(ValidUtf8(text), Breaks::kKeep),
                          {{'\\', "\\\\"}, {'"', "\\\""}, {'\n', "\\n"}});
}

// Nanoseconds as seconds without a rounding on the way.
std::string Seconds(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", std::abs(ns / kSecond),
                     std::abs(ns % kSecond));
}

struct Family {
  const char* name;  // without prefix and unit
  const char* help;
  std::int64_t (*value)(const GateMetric& metric);
};

constexpr Family kValues[] = {
    {"base", "Median of the base.", [](const GateMetric& metric) { return metric.base; }},
    {"comparison", "Median of the comparison.",
     [](const GateMetric& metric) { return metric.comparison; }},
    {"noise", "Standard deviation of what is judged.",
     [](const GateMetric& metric) {
       return static_cast<std::int64_t>(std::llround(metric.noise));
     }},
};

void AddFamily(const GateReport& report, const Family& family, Quantity quantity,
               std::string& text) {
  const bool time = quantity == Quantity::kTime;
  std::string samples;
  const std::string name =
      fmt::format("msprof_gate_{}_{}", family.name, time ? "seconds" : "bytes");
  for (const GateMetric& metric : report.metrics) {
    // Metrics that could not be judged have no values.
    if (metric.quantity != quantity || metric.verdict == GateVerdict::kInconclusive) continue;
    const std::int64_t value = family.value(metric);
    samples += fmt::format("{}{{metric=\"{}\"}} {}\n", name, LabelEscaped(metric.name),
                           time ? Seconds(value) : std::to_string(value));
  }
  if (samples.empty()) return;
  text += fmt::format("# TYPE {0} gauge\n# UNIT {0} {1}\n# HELP {0} {2}\n{3}", name,
                      time ? "seconds" : "bytes", family.help, samples);
}

}  // namespace

std::string FormatGateOpenMetrics(const GateReport& report) {
  std::string text;
  for (const Family& family : kValues) {
    for (const Quantity quantity : {Quantity::kTime, Quantity::kBytes}) {
      AddFamily(report, family, quantity, text);
    }
  }
  std::string samples;
  constexpr GateVerdict kVerdicts[] = {GateVerdict::kOk, GateVerdict::kImproved,
                                       GateVerdict::kRegression, GateVerdict::kUndecided,
                                       GateVerdict::kInconclusive};
  for (const GateMetric& metric : report.metrics) {
    for (const GateVerdict verdict : kVerdicts) {
      samples += fmt::format("msprof_gate_verdict{{metric=\"{}\",msprof_gate_verdict=\"{}\"}} {}\n",
                             LabelEscaped(metric.name), VerdictName(verdict),
                             metric.verdict == verdict ? 1 : 0);
    }
  }
  if (!samples.empty()) {
    text +=
        "# TYPE msprof_gate_verdict stateset\n# HELP msprof_gate_verdict The verdict on each"
        " metric.\n" +
        samples;
  }
  text += fmt::format(
      "# TYPE msprof_gate_exit_code gauge\n# HELP msprof_gate_exit_code The exit code of the"
      " gate.\nmsprof_gate_exit_code {}\n# EOF\n",
      report.exit_code);
  return text;
}

// Annotations of GitHub Actions.

namespace {

// GitHub shows no more of one step.
constexpr std::size_t kMaxAnnotations = 10;

// A name from a capture must not end the command or begin another one.
std::string MessageText(std::string_view text) {
  return writers::Escaped(Printable(ValidUtf8(text)), {{'%', "%25"}});
}

}  // namespace

std::string FormatGateAnnotations(const GateReport& report) {
  std::vector<std::string> commands;
  const auto add = [&](const char* level, std::string_view text) {
    commands.push_back(
        fmt::format("::{} title=msprof-analyze gate::{}\n", level, MessageText(text)));
  };
  const bool fails = report.exit_code != 0;
  const char* bad = fails ? "error" : "warning";
  const bool passed =
      report.verdict == GateVerdict::kOk || report.verdict == GateVerdict::kImproved;
  add(passed && !report.partial ? "notice" : bad, report.headline);
  if (report.partial) {
    add(bad, "judged on partial data: parts of the input were broken and left out");
  }
  const GateMetric* leading = report.Leading();  // the headline is about it
  for (const GateVerdict verdict :
       {GateVerdict::kRegression, GateVerdict::kUndecided, GateVerdict::kInconclusive}) {
    for (const GateMetric& metric : report.metrics) {
      if (metric.verdict != verdict || &metric == leading) continue;
      add(verdict == GateVerdict::kRegression ? bad : "warning", metric.line);
    }
  }
  if (report.warmup && report.warmup->in_base != report.warmup->in_comparison) {
    add("warning", WarmupText(*report.warmup));
  }
  if (const std::string settings = SettingsLine(report.settings); !settings.empty())
    add(passed ? "notice" : "warning", settings);
  for (const GateMetric& metric : report.metrics) {
    if (metric.limit.empty() && metric.verdict == GateVerdict::kOk && !metric.reason.empty())
      add("warning", metric.reason);
  }
  if (!report.hint.empty()) add("notice", report.hint);
  for (const GateMetric& metric : report.metrics) {
    if (metric.drift && metric.drift->differs) {
      add("warning", metric.name + ": " + DriftText(*metric.drift));
    }
  }
  for (const std::string& note : report.notes) add("warning", note);
  if (commands.size() > kMaxAnnotations) {
    const std::size_t more = commands.size() - kMaxAnnotations + 1;
    commands.resize(kMaxAnnotations - 1);
    add("warning", fmt::format("and {} more in the report", more));
  }
  return fmt::format("{}", fmt::join(commands, ""));
}

}  // namespace mpa

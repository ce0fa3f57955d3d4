// SPDX-License-Identifier: Apache-2.0
// A gate as results of tests, which every platform shows.
#include <fmt/format.h>

#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "mpa/writers/gate_writers.h"

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
  std::string escaped;
  for (const char c : valid) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else if (c == '\n' || c == '\t' || c == '\r') {
      escaped += fmt::format("&#{};", static_cast<int>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
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

std::vector<Case> CasesOf(const GateReport& report) {
  std::vector<Case> cases;
  const bool fails = report.exit_code != 0;
  bool explained = false;
  for (const GateMetric& metric : report.metrics) {
    Case& test = cases.emplace_back(Case{metric.name, "", metric.line, ""});
    if (report.partial && metric.verdict != GateVerdict::kInconclusive) {
      // What is missing can hide growth or make it: nothing is green, nothing is blamed.
      test.outcome = "skipped";
      test.message = "judged on partial data: " + metric.line;
    } else if (metric.verdict == GateVerdict::kRegression) {
      // What only warns must not turn the results red.
      test.outcome = fails ? "failure" : "skipped";
      if (!explained) test.details = DetailsOf(report);  // once is enough
      explained = true;
    } else if (metric.verdict == GateVerdict::kInconclusive) {
      test.outcome = fails ? "error" : "skipped";
    }
  }
  if (report.verdict == GateVerdict::kNotComparable) {
    cases.push_back({"comparable", "error", report.headline, ""});
  }
  if (report.partial) {
    cases.push_back({"complete_input", "error",
                     "judged on partial data: parts of the input were broken and left out",
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
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"msprof-analyze\" "
      "tests=\"{0}\" failures=\"{1}\" errors=\"{2}\" time=\"0\">\n  <testsuite name=\"gate\" "
      "tests=\"{0}\" failures=\"{1}\" errors=\"{2}\" skipped=\"{3}\" time=\"0\">\n{4}  "
      "</testsuite>\n</testsuites>\n",
      cases.size(), failures, errors, skipped, elements);
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// A gate as gauges, for dashboards.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "mpa/writers/gate_writers.h"

namespace mpa {
namespace {

std::string LabelEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(ValidUtf8(text), Breaks::kKeep)) {
    if (c == '\\' || c == '"') {
      escaped += '\\';
      escaped += c;
    } else if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
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
    // What could not be judged has no values.
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
                                       GateVerdict::kRegression, GateVerdict::kInconclusive};
  for (const GateMetric& metric : report.metrics) {
    for (const GateVerdict verdict : kVerdicts) {
      samples += fmt::format("msprof_gate_verdict{{metric=\"{}\",msprof_gate_verdict=\"{}\"}} {}\n",
                             LabelEscaped(metric.name), VerdictName(verdict),
                             metric.verdict == verdict ? 1 : 0);
    }
  }
  if (!samples.empty()) {
    text +=
        "# TYPE msprof_gate_verdict stateset\n# HELP msprof_gate_verdict The verdict on each "
        "metric.\n" +
        samples;
  }
  text += fmt::format(
      "# TYPE msprof_gate_exit_code gauge\n# HELP msprof_gate_exit_code The exit code of the "
      "gate.\nmsprof_gate_exit_code {}\n# EOF\n",
      report.exit_code);
  return text;
}

}  // namespace mpa

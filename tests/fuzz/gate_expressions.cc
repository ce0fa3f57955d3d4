// SPDX-License-Identifier: Apache-2.0
// What a gate is told on the command line.
#include <fmt/format.h>

#include <algorithm>

#include "fuzz/fuzzing.h"
#include "mpa/gate/judge.h"
#include "mpa/gate/metric.h"

namespace mpa::test {
namespace {

void Rule(std::string_view text) {
  Try("", [&] {
    const gate::Rule rule = gate::ParseRule(text);
    const Quantity quantity = gate::QuantityOf(rule.metric.kind);
    if (gate::LimitText(rule.limit, quantity).empty()) Die("a limit without a text");
    if (!(gate::ParseMetric(gate::NameOf(rule.metric)) == rule.metric)) {
      Die(fmt::format("{} names another metric", gate::NameOf(rule.metric)));
    }
    if (rule.limit.percent && !(*rule.limit.percent >= 0)) Die("a share below 0");
    if (rule.limit.amount && *rule.limit.amount < 0) Die("an amount below 0");
  });
}

void Floors(std::string_view text) {
  gate::GateSettings settings;
  Try("", [&] { gate::ApplyMinAbs(text, settings); });
  Try("", [&] { settings.min_share = gate::ParseMinShare(text); });
  // Floors that were not given scale with what is measured.
  if (settings.min_abs_ns.value_or(0) < 0 || settings.min_abs_bytes.value_or(0) < 0 ||
      !(settings.min_share.value_or(0) >= 0)) {
    Die("a floor below 0");
  }
}

// Pattern and name, with a line end between them.
void Pattern(std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view pattern = text.substr(0, end);
  const std::string_view name = end < text.size() ? text.substr(end + 1) : "";
  const bool fits = gate::FitsPattern(pattern, name);
  if (!fits && pattern == name) Die("a text does not fit itself");
  if (fits && !gate::FitsPattern(fmt::format("*{}*", pattern), name)) Die("more stars fit less");
}

}  // namespace

std::vector<Target> Targets() {
  return {{"rule",
           {"step_time>+3%", "comm_exposed>+5%&+200us", "peak_memory>+256MB", "op:MatMul*>+10%",
            "api:aten::mm > 1.5e0s & 2 %"},
           Rule},
          {"floors", {"20us,1MB", "16MB", "0.5%"}, Floors},
          {"pattern", {"MatMul*?\nMatMulV2", "*a*b*\naabb"}, Pattern}};
}

}  // namespace mpa::test

// SPDX-License-Identifier: Apache-2.0
// A gate for programs.
#include <fmt/format.h>

#include "markup_text.h"
#include "mpa/writers/writers.h"

namespace mpa {
namespace {

using writers::Quoted;
using writers::QuotedList;

constexpr int kGateSchemaVersion = 1;

template <typename Items, typename Format>
std::string List(const Items& items, const char* separator, Format format) {
  std::string text;
  for (const auto& item : items) {
    text += text.empty() ? "" : separator;
    text += format(item);
  }
  return '[' + text + ']';
}

template <typename Number>
std::string OrNull(const std::optional<Number>& number) {
  return number ? fmt::format("{}", *number) : "null";
}

std::string Drift(const std::optional<GateDrift>& drift) {
  if (!drift) return "null";
  return fmt::format(
      "{{\"base_percent_per_step\": {}, \"comparison_percent_per_step\": {}, \"differs\": {},"
      " \"change_percent_at_end\": {}}}",
      drift->base, drift->comparison, drift->differs, drift->change_at_end);
}

std::string Warmup(const std::optional<GateWarmup>& warmup) {
  if (!warmup) return "null";
  return fmt::format(
      "{{\"steps\": {}, \"base_times_later\": {}, \"comparison_times_later\": {},"
      " \"in_base\": {}, \"in_comparison\": {}}}",
      warmup->steps, warmup->base, warmup->comparison, warmup->in_base, warmup->in_comparison);
}

std::string Metric(const GateMetric& metric) {
  const auto runs = [](const std::vector<std::int64_t>& values) {
    return List(values, ", ", [](std::int64_t value) { return std::to_string(value); });
  };
  const auto if_measured = [&](std::int64_t value) {
    return metric.IsMeasured() ? std::to_string(value) : "null";
  };
  return fmt::format(
      "{{\"name\": {}, \"unit\": \"{}\", \"verdict\": \"{}\", \"base\": {}, \"comparison\": {},"
      " \"change\": {}, \"change_percent\": {}, \"limit\": {}, \"noise\": {}, \"drift\": {},"
      " \"probability\": {},"
      " \"low_confidence\": {}, \"reason\": {}, \"line\": {}, \"base_runs\": {},"
      " \"comparison_runs\": {}, \"anchor\": {}}}",
      Quoted(metric.name), ProgramUnit(metric.quantity), VerdictName(metric.verdict),
      if_measured(metric.base), if_measured(metric.comparison), if_measured(metric.Change()),
      OrNull(metric.ChangePercent()), Quoted(metric.limit), metric.noise, Drift(metric.drift),
      OrNull(metric.probability), metric.low_confidence, Quoted(metric.reason), Quoted(metric.line),
      runs(metric.base_runs), runs(metric.comparison_runs), OrNull(metric.anchor));
}

std::string Part(const ChangeNode& part) {
  return fmt::format(
      "{{\"kind\": {}, \"name\": {}, \"base_ns\": {}, \"comparison_ns\": {}, \"change_ns\": {},"
      " \"base_calls\": {}, \"comparison_calls\": {}, \"leaf\": {}}}",
      Quoted(part.kind), Quoted(part.name), part.base, part.comparison, part.Change(),
      part.base_count, part.comparison_count, Quoted(part.category));
}

std::string Mismatch(const GateMismatch& mismatch) {
  return fmt::format("{{\"field\": {}, \"base\": {}, \"comparison\": {}, \"allowed\": {}}}",
                     Quoted(mismatch.field), Quoted(mismatch.base), Quoted(mismatch.comparison),
                     mismatch.allowed);
}

}  // namespace

std::string FormatGateJson(const GateReport& report) {
  return fmt::format(
      "{{\"kind\": \"msprof-analyze-gate\", \"schema_version\": {},\n \"verdict\": \"{}\","
      " \"exit_code\": {}, \"partial\": {},\n \"headline\": {},\n \"base\": {}, \"comparison\":"
      " {},\n \"metrics\": {},\n \"warmup\": {},\n \"mismatches\": {},\n {},\n \"causes\": {},\n"
      " \"explained\": {},\n"
      " \"contributions\":"
      " {},\n \"host_calls\": {},\n \"operators\": {},\n \"added\": {},\n \"removed\": {},\n"
      " \"notes\": {},\n \"story\": {}}}\n",
      kGateSchemaVersion, VerdictName(report.verdict), report.exit_code, report.partial,
      Quoted(report.short_headline), QuotedList(report.base), QuotedList(report.comparison),
      List(report.metrics, ",\n  ", Metric), Warmup(report.warmup),
      List(report.mismatches, ",\n  ", Mismatch), writers::SettingsJson(report.settings),
      List(CategoriesOf(report.causes), ",\n  ", Part), Quoted(report.change.name),
      List(CategoriesOf(report.change), ",\n  ", Part), List(report.host_calls, ",\n  ", Part),
      List(report.operators, ",\n  ", Part), QuotedList(report.added), QuotedList(report.removed),
      QuotedList(report.notes), StoryJson(ScreenLinesOf(FormatGateText(report))));
}

}  // namespace mpa

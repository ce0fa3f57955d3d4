// SPDX-License-Identifier: Apache-2.0
#include "counter_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "mpa/base/stable_sort.h"
#include "mpa/io/numbers.h"

namespace mpa::readers {
namespace {

// Parts are numbered, with or without a word before the number: "2" stands before "10".
std::int64_t NumberIn(std::string_view part) {
  const std::size_t digits = part.find_last_not_of("0123456789") + 1;
  return io::ParseInt(part.substr(digits)).value_or(-1);
}

}  // namespace

std::string PortName(std::int64_t port) { return fmt::format("port {}", port); }

std::string QosPart(std::string_view event, std::int64_t die) {
  return die < 0 ? std::string(event) : fmt::format("{} die {}", event, die);
}

CounterBuilder::Series& CounterBuilder::Of(const CounterInfo& info, std::string_view part) {
  auto& parts = places_[&info];
  const auto found = parts.find(part);
  if (found != parts.end()) return series_[found->second];
  parts.emplace(part, series_.size());
  return series_.emplace_back(Series{.info = &info, .part = std::string(part), .samples = {}});
}

void CounterBuilder::Add(const CounterInfo& info, std::string_view part, TimeNs time,
                         double value) {
  constexpr double kMost = 1e18;
  if (!IsTime(time) || time < 0 || !(value >= 0 && value <= kMost)) {
    trace_.issues.Count("sample of a counter left out, invalid time or value", info.group);
    return;
  }
  Of(info, part).samples.emplace_back(time, value);
}

void CounterBuilder::AddUnknown(const CounterInfo& info, std::string_view part, TimeNs time) {
  if (!IsTime(time) || time < 0) return;
  Of(info, part).samples.emplace_back(time, std::numeric_limits<double>::quiet_NaN());
}

void CounterBuilder::AddLimit(const CounterInfo& info, std::string_view part, double limit) {
  if (!(limit > 0) || !std::isfinite(limit)) return;
  Series& series = Of(info, part);
  series.limit = std::max(series.limit, limit);
}

void CounterBuilder::Append(Series& series) {
  std::vector<std::pair<TimeNs, double>>& samples = series.samples;
  if (std::ranges::all_of(samples, [](const auto& sample) { return std::isnan(sample.second); }))
    return;
  StableSort(samples, [](const auto& a, const auto& b) { return a.first < b.first; });
  const CounterInfo& info = *series.info;
  const auto counter = static_cast<std::int32_t>(trace_.counters.Size());
  StringPool& strings = trace_.strings;
  trace_.counters.Append({.group = strings.Intern(info.group),
                          .name = strings.Intern(info.name),
                          .part = strings.Intern(series.part),
                          .unit = strings.Intern(info.unit),
                          .kind = info.kind,
                          .of_host = info.of_host,
                          .limit = series.limit});
  const bool is_rate = info.kind == CounterKind::kRate;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto [time, value] = samples[i];
    if (std::isnan(value)) continue;
    const TimeNs start = is_rate && i > 0 ? samples[i - 1].first : time;
    const TimeNs end = !is_rate && i + 1 < samples.size() ? samples[i + 1].first : time;
    trace_.counter_samples.Append(
        {.start = start, .dur = end - start, .counter = counter, .value = value});
  }
}

void CounterBuilder::Finish() {
  StableSort(series_, [](const Series& a, const Series& b) {
    return std::tuple(a.info->group, NumberIn(a.part), std::string_view(a.part), a.info->name) <
           std::tuple(b.info->group, NumberIn(b.part), std::string_view(b.part), b.info->name);
  });
  std::size_t samples = trace_.counter_samples.Size();
  for (const Series& series : series_) samples += series.samples.size();
  trace_.counter_samples.Reserve(samples);
  for (Series& series : series_) Append(series);
  series_.clear();
  places_.clear();
}

}  // namespace mpa::readers

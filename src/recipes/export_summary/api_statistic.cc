// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "files.h"
#include "mpa/base/text.h"
#include "mpa/recipe/duration_sample.h"

namespace mpa::export_summary {
namespace {

// "acl", "launch" of AscendCL@launch: the levels as the profiler's tables call them.
std::pair<std::string, std::string> LevelAndName(std::string_view call) {
  const std::size_t at = call.find('@');
  if (at == std::string_view::npos) return {"", std::string(call)};
  const std::string level = ToLower(call.substr(0, at));
  return {level == "ascendcl" ? "acl"
          : level == "hccl"   ? "communication"
                              : level,
          std::string(call.substr(at + 1))};
}

std::string Us(double ns) { return fmt::format("{:.3f}", ns / 1000); }

}  // namespace

SummaryFile ApiStatistic(const RankTrace& trace) {
  const HostCalls& calls = trace.host_calls;
  std::map<StringId, std::vector<TimeNs>> of_text;
  for (std::size_t i = 0; i < calls.Size(); ++i) of_text[calls.name[i]].push_back(calls.dur[i]);
  std::map<std::pair<std::string, std::string>, DurationStats> by_name;  // by name, then level
  for (auto& [text, durations] : of_text) {
    auto [level, name] = LevelAndName(trace.strings.View(text));
    by_name[{std::move(name), std::move(level)}] = StatsOf(DurationSample(std::move(durations)));
  }
  SummaryFile file;
  if (by_name.empty()) return file;
  file.text = "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n";
  for (const auto& [key, stats] : by_name) {
    const auto count = static_cast<double>(stats.count);
    const double deviation = stats.deviation.value_or(0) / 1000;
    file.text +=
        fmt::format("host,{},{},{},{},{},{},{},{:.3f}\n", key.second, QuotedField(key.first),
                    Us(static_cast<double>(stats.sum)), stats.count, Us(stats.mean),
                    Us(static_cast<double>(stats.min)), Us(static_cast<double>(stats.max)),
                    deviation * deviation * (count - 1) / count);
    ++file.rows;
  }
  return file;
}

}  // namespace mpa::export_summary

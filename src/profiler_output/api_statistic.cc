// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string_view>
#include <utility>

#include "kernel_rules.h"
#include "mpa/profiler_output/summary_files.h"
#include "mpa/raw/enumerations.h"
#include "mpa/raw/labels.h"
#include "text_files.h"

namespace mpa::profiler_output {

std::string_view LevelName(raw::Level level) {
  return raw::NameOf(raw::ApiLevels(), static_cast<std::int64_t>(level));
}

std::string_view AclMode(std::uint32_t type) {
  return raw::NameOf(
      raw::kNumbered<"1: ACL_OP, ACL_MODEL, ACL_RTS, ACL_OTHERS, ACL_NN, ASCENDC, HOST_HCCL, "
                     "9: ACL_DVPP, ACL_GRAPH, ACL_ATB, HIXL">,
      type >> 16);
}

// api_statistic.csv: durations of the calls of CANN by name and level.

namespace {

CallSums SumByName(const raw::Session& session) {
  const raw::HostCalls& calls = session.calls;
  std::map<std::pair<StringId, raw::Level>, CallSum> by_id;
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    by_id[{raw::CallName(calls, i), calls.level[i]}].Add(calls.end[i] - calls.start[i]);
  }
  CallSums sums;
  for (const auto& [key, sum] : by_id) {
    sums[{session.strings.View(key.first), static_cast<std::int64_t>(key.second)}] = sum;
  }
  return sums;
}

}  // namespace

void WriteApiStatistic(const raw::Session& session, const std::filesystem::path& path) {
  if (IsLevel0(session) || session.calls.Empty()) return;
  // Of HWTS chips the profiler shows the device that it looks at.
  const auto& devices = session.info.devices;
  const std::string place = HasMixedCores(session) ? "host" : std::to_string(devices.front().id);
  WriteTextFile(path, ApiStatistic(SumByName(session), place));
}

}  // namespace mpa::profiler_output

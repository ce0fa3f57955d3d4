// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "csv_text.h"
#include "kernel_rules.h"
#include "mpa/raw/enumerations.h"
#include "mpa/raw/labels.h"
#include "text_files.h"

namespace mpa::profiler_output {

std::string_view LevelName(raw::Level level) {
  return raw::NameOf(raw::ApiLevels(), static_cast<std::int64_t>(level));
}

std::string_view AclMode(std::uint32_t type) {
  switch (type >> 16) {
    case 1:
      return "ACL_OP";
    case 2:
      return "ACL_MODEL";
    case 3:
      return "ACL_RTS";
    case 4:
      return "ACL_OTHERS";
    case 5:
      return "ACL_NN";
    case 6:
      return "ASCENDC";
    case 7:
      return "HOST_HCCL";
    case 9:
      return "ACL_DVPP";
    case 10:
      return "ACL_GRAPH";
    case 11:
      return "ACL_ATB";
    case 12:
      return "HIXL";
    default:
      return "";
  }
}

// api_statistic.csv: durations of the calls of CANN by name and level.

namespace {

/// Durations in µs. The mean runs along with the sum of squared distances from it, so that no
/// second pass is needed.
struct CallSum {
  std::int64_t count = 0;
  TimeNs total = 0, shortest = 0, longest = 0;
  double mean = 0, squares = 0;

  void Add(TimeNs dur) {
    shortest = count == 0 ? dur : std::min(shortest, dur);
    longest = std::max(longest, dur);
    total += dur;
    ++count;
    const double us = static_cast<double>(dur) / 1000;
    const double distance = us - mean;
    mean += distance / static_cast<double>(count);
    squares += distance * (us - mean);
  }
};

/// By name, then level: the order of the table.
using CallSums = std::map<std::pair<std::string_view, raw::Level>, CallSum>;

CallSums SumByName(const raw::Session& session) {
  const raw::HostCalls& calls = session.calls;
  std::map<std::pair<StringId, raw::Level>, CallSum> by_id;
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    by_id[{raw::CallName(calls, i), calls.level[i]}].Add(calls.end[i] - calls.start[i]);
  }
  CallSums sums;
  for (const auto& [key, sum] : by_id) {
    sums[{session.strings.View(key.first), key.second}] = sum;
  }
  return sums;
}

double Micro(TimeNs ns) { return static_cast<double>(ns) / 1000; }

}  // namespace

void WriteApiStatistic(const raw::Session& session, const std::filesystem::path& path) {
  if (IsLevel0(session) || session.calls.Empty()) return;
  // Of HWTS chips the profiler shows the device that it looks at.
  const auto& devices = session.info.devices;
  const std::string place = HasMixedCores(session) ? "host" : std::to_string(devices.front().id);
  std::string text = "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\r\n";
  for (const auto& [key, sum] : SumByName(session)) {
    CsvRow row(text);
    row.Cell(place);
    row.Text(LevelName(key.second));
    row.Text(key.first);
    row.Cell(RoundedShort{Micro(sum.total)});
    row.Cell(sum.count);
    row.Cell(RoundedShort{Micro(sum.total) / static_cast<double>(sum.count)});
    row.Cell(RoundedShort{Micro(sum.shortest)});
    row.Cell(RoundedShort{Micro(sum.longest)});
    row.Cell(RoundedShort{sum.squares / static_cast<double>(sum.count)});
  }
  ChunkedFile file(path);
  file.Write(text);
  file.Close();
}

}  // namespace mpa::profiler_output

// SPDX-License-Identifier: Apache-2.0
// The tables of kernels and calls: kernel_details.csv, op_statistic.csv, api_statistic.csv.
#include <map>
#include <string_view>
#include <utility>

#include "csv_text.h"
#include "mpa/raw/labels.h"
#include "mpa/raw/step_ranges.h"
#include "mpa/raw/summaries.h"
#include "text_files.h"

namespace mpa::profiler_output {

// kernel_details.csv: one row a kernel or collective, in order of device and start.

namespace {

// Kernels, and behind them the collectives.
std::vector<KernelSpan> ListedSpans(const raw::Session& session) {
  const raw::Tasks& tasks = session.tasks;
  const std::size_t kernels = session.kernels.Size();
  std::vector<KernelSpan> spans;
  spans.reserve(kernels + session.collectives.Size());
  for (std::size_t i = 0; i < kernels; ++i) {
    if (!raw::IsListedKernel(session, i)) continue;
    const auto task = static_cast<std::size_t>(session.kernels.task[i]);
    spans.push_back({tasks.start[task], tasks.end[task], tasks.device[task], i});
  }
  const raw::Collectives& collectives = session.collectives;
  for (std::size_t i = 0; i < collectives.Size(); ++i) {
    spans.push_back({collectives.start[i], collectives.end[i], collectives.device[i], kernels + i});
  }
  ArrangeKernels(spans);
  return spans;
}

KernelLine LineOfKernel(const raw::Session& session, std::size_t kernel) {
  const raw::Kernels& kernels = session.kernels;
  const raw::Tasks& tasks = session.tasks;
  const raw::Counters& counters = session.counters;
  const auto task = static_cast<std::size_t>(kernels.task[kernel]);
  KernelLine line = DescribeKernel(kernels, kernel, session.strings, "");
  line.model = tasks.model[task];
  line.task = tasks.task_id[task];
  line.stream = tasks.stream[task];
  if (tasks.context[task] != raw::kNoContext) line.context = tasks.context[task];
  if (kernels.counters[kernel] >= 0) {
    const auto row = static_cast<std::size_t>(kernels.counters[kernel]);
    line.counters = &counters.values[row * counters.names.size()];
  }
  return line;
}

KernelLine LineOfCollective(const raw::Session& session, std::size_t collective) {
  const raw::Collectives& collectives = session.collectives;
  return {.step = {},
          .model = collectives.model[collective],
          .name = session.strings.View(collectives.name[collective]),
          .op_type = session.strings.View(collectives.op_type[collective]),
          .core = "COMMUNICATION",
          .blocks = 0};
}

}  // namespace

void WriteKernelDetails(const raw::Session& session, const std::filesystem::path& path) {
  const std::vector<KernelSpan> spans = ListedSpans(session);
  if (spans.empty()) return;
  const raw::StepRanges steps = raw::StepsOnDevice(session.steps);
  const KernelDetails table({.steps = !steps.All().empty(),
                             .level0 = IsLevel0(session),
                             .mixed = HasMixedCores(session),
                             .counters = session.counters.names});
  const std::size_t kernels = session.kernels.Size();
  WriteTextTable(path, table.Header(), spans.size(), [&](std::size_t i, std::string& out) {
    const KernelSpan& span = spans[i];
    KernelLine line = span.row < kernels ? LineOfKernel(session, span.row)
                                         : LineOfCollective(session, span.row - kernels);
    if (const std::int32_t step = steps.IdAt(span.start); step >= 0) line.step = step;
    table.Append(span, line, out);
  });
}

// op_statistic.csv: kernel durations by device, type and core, longest first.

void WriteOpStatistic(const raw::Session& session, const std::filesystem::path& path) {
  const std::vector<raw::KernelStatistic> rows = raw::SumKernels(session);
  if (IsLevel0(session) || rows.empty()) return;
  std::map<std::int64_t, double> device_totals;
  for (const raw::KernelStatistic& row : rows) device_totals[row.device] += row.durations.sum;
  std::string text =
      "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),"
      "Ratio(%)\r\n";
  for (const raw::KernelStatistic& row : rows) {
    const double total = device_totals[row.device];
    const auto& [count, sum, min, max] = row.durations;
    CsvRow(text).Cells(row.device, session.strings.View(row.op_type),
                       session.strings.View(row.core), count, RoundedShort{sum / 1000},
                       RoundedShort{min / 1000}, RoundedShort{row.average / 1000},
                       RoundedShort{max / 1000}, RoundedShort{total > 0 ? sum / total * 100 : 0});
  }
  io::WriteText(path, text);
}

// How the calls of CANN are named.

std::string_view LevelName(raw::Level level) {
  return raw::NameOf(raw::ApiLevels(), static_cast<std::int64_t>(level));
}

std::string_view AclMode(std::uint32_t type) {
  return raw::NameOf(
      raw::kNumbered<"1: ACL_OP, ACL_MODEL, ACL_RTS, ACL_OTHERS, ACL_NN, ASCENDC, HOST_HCCL,"
                     " 9: ACL_DVPP, ACL_GRAPH, ACL_ATB, HIXL">,
      type >> 16);
}

// api_statistic.csv: durations of the calls of CANN by name and level.

namespace {

CallSums SumByName(const raw::Session& session) {
  const raw::HostCalls& calls = session.calls;
  std::map<std::pair<StringId, raw::Level>, CallSum> by_id;
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    by_id[{raw::CallName(calls, i), calls.level[i]}].Add(calls.dur[i]);
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
  io::WriteText(path, ApiStatistic(SumByName(session), place));
}

}  // namespace mpa::profiler_output

// SPDX-License-Identifier: Apache-2.0
#include "device_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/model/launches.h"

namespace mpa {
namespace {

std::string TextOrNone(std::string_view text) { return std::string(text.empty() ? "None" : text); }
std::string IdOrNone(std::int64_t id) { return id < 0 ? "None" : std::to_string(id); }

bool IsLccl(std::string_view name) {
  constexpr std::string_view kKernel = "kernel_aivec";
  return name.size() == kKernel.size() && ToLower(name) == kKernel;
}

// All device work that has a link, with the link.
std::vector<std::pair<std::int64_t, DeviceWork>> LinkedWork(const RankTrace& trace) {
  using Table = DeviceWork::Table;
  std::vector<std::pair<std::int64_t, DeviceWork>> linked;
  const auto add = [&](Table table, const auto& rows, auto skip, auto rest) {
    for (std::size_t i = 0; i < rows.Size(); ++i) {
      if (rows.link[i] < 0 || skip(i)) continue;
      linked.push_back(
          {rows.link[i],
           {table, static_cast<std::uint32_t>(i), -1, rows.start[i], rows.dur[i], rest(i)}});
    }
  };
  const DeviceTasks& tasks = trace.device_tasks;
  add(
      Table::kDeviceTasks, tasks, [&](std::size_t i) { return tasks.name[i] == StringId::kEmpty; },
      [&](std::size_t i) { return double{tasks.dur_rest[i]}; });

  // Text captures list a kernel among the tasks as well; there it counts once.
  const Kernels& kernels = trace.kernels;
  std::vector<std::pair<std::int64_t, TimeNs>> listed;
  for (const auto& [link, work] : linked) listed.emplace_back(link, work.start);
  std::sort(listed.begin(), listed.end());
  std::vector<std::pair<TimeNs, std::uint32_t>> kernel_at;
  for (std::size_t i = 0; !listed.empty() && i < kernels.Size(); ++i) {
    kernel_at.emplace_back(kernels.start[i], static_cast<std::uint32_t>(i));
  }
  std::sort(kernel_at.begin(), kernel_at.end());
  for (auto& [link, work] : linked) {
    auto after = std::partition_point(
        kernel_at.begin(), kernel_at.end(),
        [start = work.start](const auto& kernel) { return kernel.first <= start; });
    if (after == kernel_at.begin() || std::prev(after)->first != work.start) continue;
    work.kernel = std::prev(after)->second;
  }
  add(
      Table::kKernels, kernels,
      [&](std::size_t i) {
        return std::binary_search(listed.begin(), listed.end(),
                                  std::pair{kernels.link[i], kernels.start[i]});
      },
      [](std::size_t) { return 0.0; });

  // A kernel of the LCCL library is an operation as well.
  const Communications& comms = trace.communications;
  std::set<std::pair<std::int64_t, TimeNs>> kernels_of_operations;
  for (const auto& [link, work] : linked) {
    if (IsLccl(NameOf(trace, work))) kernels_of_operations.emplace(link, work.start);
  }
  add(
      Table::kCommunications, comms,
      [&](std::size_t i) {
        return kernels_of_operations.contains({comms.link[i], comms.start[i]});
      },
      [&](std::size_t i) { return double{comms.dur_rest[i]}; });
  return linked;
}

}  // namespace

std::string PythonFloat(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string_view NameOf(const RankTrace& trace, const DeviceWork& work) {
  switch (work.table) {
    case DeviceWork::Table::kKernels:
      return trace.strings.View(trace.kernels.name[work.row]);
    case DeviceWork::Table::kDeviceTasks:
      return trace.strings.View(trace.device_tasks.name[work.row]);
    case DeviceWork::Table::kCommunications:
      break;
  }
  return trace.strings.View(trace.communications.name[work.row]);
}

std::string DescribeWork(const RankTrace& trace, const DeviceWork& work) {
  DeviceTime time;
  time.Add(work);
  const std::string duration = fmt::format("[duration: {}]\n", PythonFloat(time.Us()));
  const std::string_view name = NameOf(trace, work);
  if (trace.device == DeviceKind::kGpu) return fmt::format("{} {}", name, duration);
  std::string id = "None";
  std::string type = "None";
  std::int64_t kernel = work.kernel;
  if (work.table == DeviceWork::Table::kKernels) {
    id = IdOrNone(trace.kernels.task_id[work.row]);
    type = TextOrNone(trace.strings.View(trace.kernels.core[work.row]));
    kernel = work.row;
  } else if (work.table == DeviceWork::Table::kDeviceTasks) {
    id = IdOrNone(trace.device_tasks.task_id[work.row]);
    type = TextOrNone(trace.strings.View(trace.device_tasks.type[work.row]));
  }
  std::string_view shapes;
  if (kernel >= 0) {
    shapes = trace.strings.View(trace.kernels.shapes[static_cast<std::size_t>(kernel)]);
  }
  return shapes.empty()
             ? fmt::format("{}, {}, {} {}", name, id, type, duration)
             : fmt::format("{}, {}, {}, [input shapes: {}] {}", name, id, type, shapes, duration);
}

std::vector<LaunchedWork> FindLaunchedWork(const RankTrace& trace) {
  const LaunchIndex launches(trace);
  std::vector<LaunchedWork> launched;
  for (const auto& [link, work] : LinkedWork(trace)) {
    const auto launch = launches.Find(link);
    if (!launch) continue;
    launched.push_back(
        {trace.launches.host_track[*launch], trace.launches.host_time[*launch], work});
  }
  std::stable_sort(launched.begin(), launched.end(),
                   [](const LaunchedWork& a, const LaunchedWork& b) {
                     return std::tie(a.track, a.launched, a.work.start) <
                            std::tie(b.track, b.launched, b.work.start);
                   });
  return launched;
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/device_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/device_tasks.h"
#include "mpa/model/launches.h"

namespace mpa {
namespace {

std::string TextOrNone(std::string_view text) { return std::string(text.empty() ? "None" : text); }
std::string IdOrNone(std::int64_t id) { return id < 0 ? "None" : std::to_string(id); }

// Device work with the links of its launches.
using LinkedWork = std::vector<std::pair<std::int64_t, DeviceWork>>;

// Appends the rows that have a link, but those that skip(row) names.
template <typename Rows, typename Skip>
void Append(DeviceWork::Table table, const Rows& rows, Skip skip, LinkedWork& linked) {
  for (std::size_t i = 0; i < rows.Size(); ++i) {
    if (rows.link[i] < 0 || skip(i)) continue;
    DeviceWork work{table, static_cast<std::uint32_t>(i), -1, rows.start[i], rows.dur[i]};
    if constexpr (requires { rows.dur_rest; }) work.dur_rest = double{rows.dur_rest[i]};
    linked.emplace_back(rows.link[i], work);
  }
}

// Finds what the kernels say more of tasks: the last of those that start together, of the same
// launch or of an unknown one.
void FindKernels(const Kernels& kernels, LinkedWork& tasks) {
  if (tasks.empty()) return;
  const std::vector<std::size_t> by_start = kernels.RowsByStart();
  for (auto& [link, work] : tasks) {
    auto at = std::partition_point(
        by_start.begin(), by_start.end(),
        [&, start = work.start](std::size_t row) { return kernels.start[row] < start; });
    bool same_launch = false;
    for (; at != by_start.end() && kernels.start[*at] == work.start; ++at) {
      const bool same = kernels.link[*at] == link;
      if (!same && (same_launch || kernels.link[*at] >= 0)) continue;
      same_launch = same_launch || same;
      work.kernel = static_cast<std::int64_t>(*at);
    }
  }
}

// Links and starts of work, sorted.
using Places = std::vector<std::pair<std::int64_t, TimeNs>>;

template <typename Rows>
bool IsListed(const Places& places, const Rows& rows, std::size_t i) {
  return std::binary_search(places.begin(), places.end(), std::pair{rows.link[i], rows.start[i]});
}

// All device work that has a link. What the capture lists in two tables counts once: text captures
// have kernels among the tasks, and kernels of the LCCL library among the operations.
LinkedWork FindLinkedWork(const RankTrace& trace) {
  using Table = DeviceWork::Table;
  LinkedWork linked;
  const DeviceTasks& tasks = trace.device_tasks;
  const auto view = [&](StringId text) { return trace.strings.View(text); };
  Append(
      Table::kDeviceTasks, tasks,
      [&](std::size_t i) { return !IsWork(view(tasks.name[i]), view(tasks.type[i])); }, linked);
  FindKernels(trace.kernels, linked);

  Places listed;
  for (const auto& [link, work] : linked) listed.emplace_back(link, work.start);
  std::sort(listed.begin(), listed.end());
  Append(
      Table::kKernels, trace.kernels,
      [&](std::size_t i) { return IsListed(listed, trace.kernels, i); }, linked);
  Places listed_lccl;
  for (const auto& [link, work] : linked) {
    if (IsLcclKernel(NameOf(trace, work))) listed_lccl.emplace_back(link, work.start);
  }
  std::sort(listed_lccl.begin(), listed_lccl.end());
  Append(
      Table::kCommunications, trace.communications,
      [&](std::size_t i) { return IsListed(listed_lccl, trace.communications, i); }, linked);
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
  for (const auto& [link, work] : FindLinkedWork(trace)) {
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

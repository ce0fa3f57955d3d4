// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/device_work.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "mpa/model/device_tasks.h"
#include "mpa/model/launches.h"

namespace mpa {
namespace {

std::string TextOrNone(std::string_view text) { return std::string(text.empty() ? "None" : text); }
std::string IdOrNone(std::int64_t id) { return id < 0 ? "None" : std::to_string(id); }

// Device work with the link of its launch; -1: unknown.
struct LinkedWork {
  std::int64_t link;
  DeviceWork work;
};

using Column = std::int32_t DeviceWork::*;

// All device work of the tables, each piece once: text captures have kernels among the tasks, and
// kernels of the LCCL library among the operations, databases these among the kernels.
class Collector {
 public:
  explicit Collector(const RankTrace& trace) : trace_(trace) {}

  std::vector<LinkedWork> Collect() && {
    AddTasks();
    FindKernelsOfTasks();
    AddKernels();
    AddCollectives();
    for (std::size_t i = 0; i < trace_.schedule_kernels.Size(); ++i) {
      Add(&DeviceWork::schedule, trace_.schedule_kernels, i);
    }
    return std::move(linked_);
  }

 private:
  template <typename Rows>
  static void SetTimes(const Rows& rows, std::size_t i, DeviceWork& work) {
    work.start = rows.start[i];
    work.dur = rows.dur[i];
    if constexpr (requires { rows.dur_rest; }) work.dur_rest = double{rows.dur_rest[i]};
  }

  template <typename Rows>
  void Add(Column column, const Rows& rows, std::size_t i) {
    LinkedWork& added = linked_.emplace_back();
    added.link = rows.link[i];
    added.work.*column = static_cast<std::int32_t>(i);
    SetTimes(rows, i, added.work);
  }

  // The work so far by link and start.
  void Index() {
    places_.clear();
    for (std::size_t i = 0; i < linked_.size(); ++i) {
      if (linked_[i].link >= 0) places_.push_back({linked_[i].link, linked_[i].work.start, i});
    }
    std::ranges::sort(places_);
  }

  // The work that another table lists already; null when none does.
  template <typename Rows>
  DeviceWork* Listed(const Rows& rows, std::size_t i) {
    if (rows.link[i] < 0 || trace_.device == DeviceKind::kGpu) return nullptr;
    const Place place{rows.link[i], rows.start[i], 0};
    const auto found = std::lower_bound(places_.begin(), places_.end(), place);
    const bool listed =
        found != places_.end() && found->link == place.link && found->start == place.start;
    return listed ? &linked_[found->number].work : nullptr;
  }

  // Those without a launch stand in the kernels, too, or are nobody's work.
  void AddTasks() {
    const DeviceTasks& tasks = trace_.device_tasks;
    const auto view = [&](StringId text) { return trace_.strings.View(text); };
    for (std::size_t i = 0; i < tasks.Size(); ++i) {
      if (tasks.link[i] < 0 || !IsWork(view(tasks.name[i]), view(tasks.type[i]))) continue;
      Add(&DeviceWork::task, tasks, i);
    }
  }

  // What the kernels say more of tasks: the last of those that start together, of the same launch
  // or of an unknown one.
  void FindKernelsOfTasks() {
    const Kernels& kernels = trace_.kernels;
    is_task_.assign(kernels.Size(), false);
    // Tables of GPU traces share no work, and what one graph launched may start together.
    if (linked_.empty() || trace_.device == DeviceKind::kGpu) return;
    const std::vector<std::size_t> by_start = kernels.RowsByStart();
    for (auto& [link, work] : linked_) {
      auto at = std::partition_point(
          by_start.begin(), by_start.end(),
          [&, start = work.start](std::size_t row) { return kernels.start[row] < start; });
      bool same_launch = false;
      for (; at != by_start.end() && kernels.start[*at] == work.start; ++at) {
        const bool same = kernels.link[*at] == link;
        if (!same && (same_launch || kernels.link[*at] >= 0)) continue;
        same_launch = same_launch || same;
        work.kernel = static_cast<std::int32_t>(*at);
      }
      if (work.kernel != DeviceWork::kNone) is_task_[static_cast<std::size_t>(work.kernel)] = true;
    }
  }

  void AddKernels() {
    Index();
    for (std::size_t i = 0; i < trace_.kernels.Size(); ++i) {
      if (!is_task_[i] && Listed(trace_.kernels, i) == nullptr) {
        Add(&DeviceWork::kernel, trace_.kernels, i);
      }
    }
  }

  void AddCollectives() {
    Index();
    const Communications& collectives = trace_.communications;
    for (std::size_t i = 0; i < collectives.Size(); ++i) {
      DeviceWork* const listed = Listed(collectives, i);
      if (listed == nullptr) {
        Add(&DeviceWork::collective, collectives, i);
      } else if (listed->collective == DeviceWork::kNone) {
        listed->collective = static_cast<std::int32_t>(i);
        SetTimes(collectives, i, *listed);
      }
    }
  }

  struct Place {
    std::int64_t link;
    TimeNs start;
    std::size_t number;  // of the work
    auto operator<=>(const Place&) const = default;
  };
  const RankTrace& trace_;
  std::vector<LinkedWork> linked_;
  std::vector<Place> places_;
  std::vector<bool> is_task_;  // by kernel
};

// The cell of a row, which has to be one.
template <typename Value>
const Value& Cell(const std::vector<Value>& column, std::int32_t row) {
  return column[static_cast<std::size_t>(row)];
}

}  // namespace

std::string PythonFloat(double value) {
  std::string text = fmt::format(FMT_COMPILE("{}"), value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string_view NameOf(const RankTrace& trace, const DeviceWork& work) {
  StringId name{};
  if (work.collective != DeviceWork::kNone) {
    name = Cell(trace.communications.name, work.collective);
  } else if (work.task != DeviceWork::kNone) {
    name = Cell(trace.device_tasks.name, work.task);
  } else if (work.kernel != DeviceWork::kNone) {
    name = Cell(trace.kernels.name, work.kernel);
  } else {
    name = Cell(trace.schedule_kernels.name, work.schedule);
  }
  return trace.strings.View(name);
}

std::string DescribeWork(const RankTrace& trace, const DeviceWork& work) {
  const std::string duration =
      fmt::format(FMT_COMPILE("[duration: {}]\n"), PythonFloat(work.Time().Us()));
  const std::string_view name = NameOf(trace, work);
  if (trace.device == DeviceKind::kGpu) return fmt::format("{} {}", name, duration);
  std::string id = "None";
  std::string type = "None";
  std::string_view shapes;
  if (work.kernel != DeviceWork::kNone) {
    id = IdOrNone(Cell(trace.kernels.task_id, work.kernel));
    type = TextOrNone(trace.strings.View(Cell(trace.kernels.core, work.kernel)));
    shapes = trace.strings.View(Cell(trace.kernels.shapes, work.kernel));
  }
  if (work.task != DeviceWork::kNone) {
    id = IdOrNone(Cell(trace.device_tasks.task_id, work.task));
    type = TextOrNone(trace.strings.View(Cell(trace.device_tasks.type, work.task)));
  }
  return shapes.empty() ? fmt::format(FMT_COMPILE("{}, {}, {} {}"), name, id, type, duration)
                        : fmt::format(FMT_COMPILE("{}, {}, {}, [input shapes: {}] {}"), name, id,
                                      type, shapes, duration);
}

WorkOfRank FindDeviceWork(const RankTrace& trace, const Nesting& ops) {
  const LaunchIndex launches(trace);
  WorkOfRank found;
  const std::vector<LinkedWork> all = Collector(trace).Collect();
  found.launched.reserve(all.size());
  for (const auto& [link, work] : all) {
    const auto launch = launches.Find(link);
    if (launch) {
      const std::int32_t track = trace.launches.host_track[*launch];
      const TimeNs launched = trace.launches.host_time[*launch];
      found.launched.push_back({work, track, launched, ops.Find(track, launched)});
    } else if (work.task == DeviceWork::kNone) {
      found.unlaunched.push_back(work);
    }
  }
  std::ranges::stable_sort(found.launched, [](const LaunchedWork& a, const LaunchedWork& b) {
    return std::tie(a.track, a.launched, a.work.start) <
           std::tie(b.track, b.launched, b.work.start);
  });
  return found;
}

}  // namespace mpa

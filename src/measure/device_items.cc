// SPDX-License-Identifier: Apache-2.0
// What occupies the device, each piece once, with all that leads to its launch.
#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include "mpa/base/on_demand.h"
#include "mpa/base/text.h"
#include "mpa/measure/activities.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/kernel_category.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/device_tasks.h"
#include "mpa/model/launches.h"

namespace mpa {
namespace {

// Finds the task of the device that a kernel is. On GPUs tasks are copies only.
class TasksByStart {
 public:
  explicit TasksByStart(const RankTrace& trace) {
    if (trace.device == DeviceKind::kGpu) return;
    const DeviceTasks& tasks = trace.device_tasks;
    places_.reserve(tasks.Size());
    for (std::size_t i = 0; i < tasks.Size(); ++i) {
      places_.push_back({tasks.start[i], tasks.stream[i], i});
    }
    if (!std::ranges::is_sorted(places_)) std::ranges::sort(places_);
  }

  // Files may number the streams differently: then the start alone decides.
  std::optional<std::size_t> Find(TimeNs start, std::int64_t stream) const {
    const auto place = std::lower_bound(places_.begin(), places_.end(), Place{start, stream, 0});
    if (place != places_.end() && std::get<0>(*place) == start && std::get<1>(*place) == stream) {
      return std::get<2>(*place);
    }
    const auto first = std::lower_bound(places_.begin(), places_.end(), Place{start, INT64_MIN, 0});
    if (first == places_.end() || std::get<0>(*first) != start) return std::nullopt;
    return std::get<2>(*first);
  }

 private:
  using Place = std::tuple<TimeNs, std::int64_t, std::size_t>;
  std::vector<Place> places_;
};

// Tells where a copy goes, by its type and by who launched it.
class CopyDirections {
 public:
  explicit CopyDirections(const RankTrace& trace)
      : trace_(trace),
        ops_([&trace] { return Nesting(OpSpans(trace)); }),
        launches_([&trace] { return LaunchIndex(trace); }),
        saving_([&trace] { return SavingTimes(trace); }) {}

  TimeCategory Of(std::size_t task) const {
    const DeviceTasks& tasks = trace_.device_tasks;
    switch (tasks.direction[task]) {
      case CopyDirection::kToDevice:
        return TimeCategory::kCopyIn;
      case CopyDirection::kToHost:
        return TimeCategory::kCopyOut;
      case CopyDirection::kWithinDevice:
        return TimeCategory::kCopyDevice;
      case CopyDirection::kUnknown:
        break;
    }
    if (ContainsAny(trace_.strings.View(tasks.type[task]), {"SDMA"}))
      return TimeCategory::kCopyDevice;
    const auto launch = launches_->Find(tasks.link[task]);
    if (!launch) return TimeCategory::kCopyIn;
    // What a program saves it takes from the device.
    if (Contains(*saving_, trace_.launches.host_time[*launch])) return TimeCategory::kCopyOut;
    const auto op =
        ops_->Find(trace_.launches.host_track[*launch], trace_.launches.host_time[*launch]);
    if (op == Nesting::kNone) return TimeCategory::kCopyIn;
    const std::string_view name =
        trace_.strings.View(trace_.host_ops.name[static_cast<std::size_t>(op)]);
    if (ContainsAny(name, {"device_to_host", "_local_scalar_dense", "aten::item"})) {
      return TimeCategory::kCopyOut;
    }
    // By the framework's own kernels: databases do not tell between which memories.
    if (ContainsAny(name, {"aclnnInplaceCopy", "device_to_device"}))
      return TimeCategory::kCopyDevice;
    return TimeCategory::kCopyIn;
  }

 private:
  // When the host saved a checkpoint.
  static Intervals SavingTimes(const RankTrace& trace) {
    std::vector<Interval> times;
    const auto add = [&](const auto& table, const std::vector<StringId>& names,
                         TimeCategory (*class_of)(std::string_view)) {
      NamedClasses classes(trace.strings, class_of);
      for (std::size_t i = 0; i < table.Size(); ++i) {
        if (classes.Of(names[i]) == TimeCategory::kCheckpoint)
          times.push_back({table.start[i], table.start[i] + table.dur[i]});
      }
    };
    add(trace.python_calls, trace.python_calls.name, ClassOfPython);
    add(trace.host_ops, trace.host_ops.name, ClassOfOp);
    add(trace.mstx, trace.mstx.message, ClassOfMark);
    return Union(std::move(times));
  }

  const RankTrace& trace_;
  // Many captures tell the directions.
  OnDemand<Nesting> ops_;
  OnDemand<LaunchIndex> launches_;
  OnDemand<Intervals> saving_;
};

class ItemCollector {
 public:
  explicit ItemCollector(const RankTrace& trace) : trace_(trace) {}

  std::vector<DeviceItem> Collect() && {
    const std::vector<std::size_t> copies = MemoryCopies(trace_);
    items_.reserve(trace_.kernels.Size() + copies.size() + trace_.communications.Size());
    if (trace_.kernels.Empty()) {
      AddKernelsOfTasks();
    } else {
      AddKernels();
    }
    AddCopies(copies);
    AddOperations();
    std::ranges::stable_sort(items_, {}, &DeviceItem::begin);
    return std::move(items_);
  }

 private:
  template <typename Table>
  DeviceItem Item(const Table& table, std::size_t row, TimeCategory category, PieceTable of) {
    DeviceItem item{.begin = table.start[row],
                    .end = table.start[row] + table.dur[row],
                    .category = category,
                    .own = category,
                    .table = of,
                    .row = static_cast<std::int32_t>(row),
                    .link = table.link[row]};
    if constexpr (requires { table.stream; }) item.stream = table.stream[row];
    if constexpr (requires { table.connection; }) item.connection = table.connection[row];
    if constexpr (requires { table.model; }) item.model = table.model[row];
    if constexpr (requires { table.number; }) item.number = table.number[row];
    return item;
  }

  void AddKernels() {
    const Kernels& kernels = trace_.kernels;
    const KernelClassifier classes(trace_);
    const TasksByStart tasks(trace_);
    for (std::size_t i = 0; i < kernels.Size(); ++i) {
      if (IsLcclKernel(trace_.strings.View(kernels.name[i]))) continue;
      DeviceItem item = Item(kernels, i, CategoryOf(classes.ClassOf(i)), PieceTable::kKernels);
      item.own = CategoryOf(classes.OwnClassOf(i));
      if (const auto task = tasks.Find(kernels.start[i], kernels.stream[i])) {
        item.connection = trace_.device_tasks.connection[*task];
        item.model = trace_.device_tasks.model[*task];
        item.number = trace_.device_tasks.number[*task];
        item.stream = trace_.device_tasks.stream[*task];  // as that of waits, which only tasks have
        if (item.link < 0) item.link = trace_.device_tasks.link[*task];
      }
      items_.push_back(item);
    }
  }

  // A timeline alone lists the kernels among the tasks.
  void AddKernelsOfTasks() {
    const DeviceTasks& tasks = trace_.device_tasks;
    const TasksOfOperations of_operations(trace_);
    const auto view = [&](StringId text) { return trace_.strings.View(text); };
    for (std::size_t i = 0; i < tasks.Size(); ++i) {
      const std::string_view name = view(tasks.name[i]);
      const std::string_view type = view(tasks.type[i]);
      if (!IsWork(name, type) || IsCopy(name) || IsCopy(type) || IsLcclKernel(name)) continue;
      if (of_operations.Contains(i)) continue;
      items_.push_back(Item(tasks, i, CategoryOf(ClassOfName(name)), PieceTable::kDeviceTasks));
    }
  }

  void AddCopies(const std::vector<std::size_t>& copies) {
    const CopyDirections directions(trace_);
    for (const std::size_t copy : copies) {
      items_.push_back(
          Item(trace_.device_tasks, copy, directions.Of(copy), PieceTable::kDeviceTasks));
    }
  }

  void AddOperations() {
    const Communications& operations = trace_.communications;
    for (std::size_t i = 0; i < operations.Size(); ++i) {
      items_.push_back(Item(operations, i, TimeCategory::kUnsplit, PieceTable::kCommunications));
    }
  }

  const RankTrace& trace_;
  std::vector<DeviceItem> items_;
};

}  // namespace

std::vector<DeviceItem> FindDeviceItems(const RankTrace& trace) {
  return ItemCollector(trace).Collect();
}

}  // namespace mpa

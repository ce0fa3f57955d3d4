// SPDX-License-Identifier: Apache-2.0
#include "op_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "mpa/model/launches.h"

namespace mpa {
namespace {

// As Python prints a float: "12.0", "12.5".
std::string PythonFloat(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string DurationText(const RankTrace& trace, const DeviceWork& work) {
  StringId exact = StringId::kEmpty;
  if (work.table == DeviceWork::Table::kDeviceTasks) exact = trace.device_tasks.dur_text[work.row];
  if (work.table == DeviceWork::Table::kCommunications) {
    exact = trace.communications.dur_text[work.row];
  }
  if (exact != StringId::kEmpty) return std::string(trace.strings.View(exact));
  return PythonFloat(static_cast<double>(work.dur) / 1e3);
}

std::string TextOrNone(std::string_view text) { return std::string(text.empty() ? "None" : text); }
std::string IdOrNone(std::int64_t id) { return id < 0 ? "None" : std::to_string(id); }

// All device work that has a link, with the link.
std::vector<std::pair<std::int64_t, DeviceWork>> LinkedWork(const RankTrace& trace) {
  using Table = DeviceWork::Table;
  std::vector<std::pair<std::int64_t, DeviceWork>> linked;
  const auto add = [&](Table table, const auto& rows, auto skip) {
    for (std::size_t i = 0; i < rows.Size(); ++i) {
      if (rows.link[i] < 0 || skip(i)) continue;
      linked.push_back(
          {rows.link[i], {table, static_cast<std::uint32_t>(i), -1, rows.start[i], rows.dur[i]}});
    }
  };
  const DeviceTasks& tasks = trace.device_tasks;
  add(Table::kDeviceTasks, tasks, [&](std::size_t i) { return tasks.name[i] == StringId::kEmpty; });

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
  add(Table::kKernels, kernels, [&](std::size_t i) {
    return std::binary_search(listed.begin(), listed.end(),
                              std::pair{kernels.link[i], kernels.start[i]});
  });
  add(Table::kCommunications, trace.communications, [](std::size_t) { return false; });
  return linked;
}

}  // namespace

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
  const std::string duration = fmt::format("[duration: {}]", DurationText(trace, work));
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

OpTree::OpTree(const RankTrace& trace) : trace_(trace) {
  Nest();
  CollectChildren();
  CollectWork();
}

bool OpTree::IsStep(std::size_t op) const {
  return trace_.strings.View(trace_.host_ops.name[op]).find("ProfilerStep#") !=
         std::string_view::npos;
}

void OpTree::Nest() {
  const HostOps& ops = trace_.host_ops;
  in_order_.resize(ops.Size());
  std::iota(in_order_.begin(), in_order_.end(), 0u);
  // Of operators that start together the longest is outermost.
  std::stable_sort(in_order_.begin(), in_order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair{ops.start[a], -ops.dur[a]} < std::pair{ops.start[b], -ops.dur[b]};
  });
  parent_.assign(ops.Size(), -1);
  of_track_.resize(trace_.tracks.Size() + 1);
  std::vector<std::int64_t> current(of_track_.size(), -1);
  for (const std::uint32_t op : in_order_) {
    // Operators of unknown threads share the last place.
    const std::size_t track =
        ops.track[op] >= 0 ? static_cast<std::size_t>(ops.track[op]) : of_track_.size() - 1;
    std::int64_t& outer = current[track];
    while (outer >= 0 && ops.start[op] > ops.start[static_cast<std::size_t>(outer)] +
                                             ops.dur[static_cast<std::size_t>(outer)]) {
      outer = parent_[static_cast<std::size_t>(outer)];
    }
    parent_[op] = outer;
    outer = op;
    of_track_[track].push_back(op);
  }
}

void OpTree::CollectChildren() {
  child_begin_.assign(parent_.size() + 1, 0);
  for (const std::int64_t parent : parent_) {
    if (parent >= 0) ++child_begin_[static_cast<std::size_t>(parent) + 1];
  }
  std::partial_sum(child_begin_.begin(), child_begin_.end(), child_begin_.begin());
  children_.resize(child_begin_.back());
  std::vector<std::uint32_t> next(child_begin_.begin(), child_begin_.end() - 1);
  for (const std::uint32_t op : in_order_) {
    const std::int64_t parent = parent_[op];
    if (parent >= 0) children_[next[static_cast<std::size_t>(parent)]++] = op;
    const bool in_root = parent < 0;
    const bool in_step = !in_root && parent_[static_cast<std::size_t>(parent)] < 0 &&
                         IsStep(static_cast<std::size_t>(parent));
    if ((in_root && !IsStep(op)) || in_step) top_.push_back(op);
  }
}

void OpTree::CollectWork() {
  const LaunchIndex launches(trace_);
  std::vector<std::pair<std::int64_t, DeviceWork>> of_op;
  for (auto& [link, work] : LinkedWork(trace_)) {
    const auto launch = launches.Find(link);
    if (!launch) continue;
    const std::int64_t op =
        Find(trace_.launches.host_track[*launch], trace_.launches.host_time[*launch]);
    if (op >= 0) of_op.emplace_back(op, work);
  }
  std::stable_sort(of_op.begin(), of_op.end(), [](const auto& a, const auto& b) {
    return std::pair{a.first, a.second.start} < std::pair{b.first, b.second.start};
  });
  work_begin_.assign(parent_.size() + 1, 0);
  work_count_.assign(parent_.size(), 0);
  for (const auto& [op, work] : of_op) {
    work_.push_back(work);
    ++work_begin_[static_cast<std::size_t>(op) + 1];
    ++work_count_[static_cast<std::size_t>(op)];
  }
  std::partial_sum(work_begin_.begin(), work_begin_.end(), work_begin_.begin());
  for (auto op = in_order_.rbegin(); op != in_order_.rend(); ++op) {
    if (parent_[*op] >= 0) work_count_[static_cast<std::size_t>(parent_[*op])] += work_count_[*op];
  }
}

std::int64_t OpTree::Find(std::int32_t track, TimeNs time) const {
  if (track < 0 || static_cast<std::size_t>(track) >= of_track_.size()) return -1;
  const HostOps& ops = trace_.host_ops;
  const std::vector<std::uint32_t>& rows = of_track_[static_cast<std::size_t>(track)];
  const auto after = std::partition_point(rows.begin(), rows.end(),
                                          [&](std::uint32_t op) { return ops.start[op] <= time; });
  if (after == rows.begin()) return -1;
  std::int64_t op = *std::prev(after);
  while (op >= 0 &&
         ops.start[static_cast<std::size_t>(op)] + ops.dur[static_cast<std::size_t>(op)] < time) {
    op = parent_[static_cast<std::size_t>(op)];
  }
  return op;
}

std::int64_t OpTree::FindAnywhere(TimeNs time, StringId preferred) const {
  const HostOps& ops = trace_.host_ops;
  std::int64_t best = -1;
  for (std::size_t track = 0; track < of_track_.size(); ++track) {
    const std::int64_t op = Find(static_cast<std::int32_t>(track), time);
    if (op < 0) continue;
    const auto rank = [&](std::int64_t row) {
      const auto at = static_cast<std::size_t>(row);
      return std::pair{ops.name[at] == preferred && preferred != StringId::kEmpty, ops.start[at]};
    };
    if (best < 0 || rank(op) > rank(best)) best = op;
  }
  return best;
}

}  // namespace mpa

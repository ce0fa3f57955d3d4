// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/module_nest.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace mpa {
namespace {

// In order of group, then start, the longest first; equal ones in the order in which they came.
std::vector<std::uint32_t> InOrder(const std::vector<NestSpan>& spans) {
  std::vector<std::uint32_t> order(spans.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(spans[a].group, spans[a].start, spans[b].end) <
           std::tie(spans[b].group, spans[b].start, spans[a].end);
  });
  return order;
}

// The modules that can hold what comes next. One that ends no later than a module that began after
// it holds nothing that the later one does not hold as well, so the ends fall from the outermost to
// the innermost.
class OpenModules {
 public:
  explicit OpenModules(const std::vector<NestSpan>& modules) : modules_(modules) {}

  void Clear() { open_.clear(); }
  void Push(std::uint32_t module) {
    while (!open_.empty() && modules_[open_.back()].end <= modules_[module].end) open_.pop_back();
    open_.push_back(module);
  }
  // The innermost that lasts until `time`.
  std::int64_t LastingUntil(TimeNs time) const {
    const auto behind = std::partition_point(open_.begin(), open_.end(), [&](std::uint32_t module) {
      return modules_[module].end >= time;
    });
    return behind == open_.begin() ? NestPlace::kNone : *std::prev(behind);
  }

  NestPlace Place(const NestSpan& item) const {
    const std::int64_t around = LastingUntil(item.end);
    // What begins at the very end of a module is behind it.
    const std::int64_t begun_in = item.end > item.start ? LastingUntil(item.start + 1) : around;
    return {around != NestPlace::kNone ? around : begun_in, around != begun_in};
  }

 private:
  const std::vector<NestSpan>& modules_;
  std::vector<std::uint32_t> open_;
};

// Finds the parents of all modules and the places of those items that have one.
void Sweep(const std::vector<NestSpan>& modules, const std::vector<NestSpan>& items,
           const std::vector<std::uint32_t>& item_order, ModuleNest& nest) {
  OpenModules open(modules);
  auto next = nest.modules.begin();
  std::int32_t group = NestSpan::kAnyThread;
  for (const std::uint32_t row : item_order) {
    const NestSpan& item = items[row];
    const auto comes_before = [&](const NestSpan& module) {
      return std::tie(module.group, module.start, item.end) <=
             std::tie(item.group, item.start, module.end);
    };
    while (next != nest.modules.end() && comes_before(modules[*next])) {
      if (modules[*next].group != group) open.Clear();
      group = modules[*next].group;
      open.Push(*next++);
    }
    if (group == item.group) nest.places[row] = open.Place(item);
  }
}

void FindParents(const std::vector<NestSpan>& modules, ModuleNest& nest) {
  OpenModules open(modules);
  std::int32_t group = NestSpan::kAnyThread;
  for (const std::uint32_t module : nest.modules) {
    if (modules[module].group != group) open.Clear();
    group = modules[module].group;
    nest.parent[module] = open.LastingUntil(modules[module].end);
    open.Push(module);
  }
}

}  // namespace

ModuleNest Nest(const std::vector<NestSpan>& modules, const std::vector<NestSpan>& items) {
  ModuleNest nest;
  nest.parent.assign(modules.size(), NestPlace::kNone);
  nest.modules = InOrder(modules);
  nest.places.resize(items.size());
  nest.items = InOrder(items);
  FindParents(modules, nest);
  Sweep(modules, items, nest.items, nest);

  const bool has_threadless =
      !nest.modules.empty() && modules[nest.modules.front()].group == NestSpan::kAnyThread;
  if (!has_threadless) return nest;
  std::vector<std::uint32_t> left;
  std::vector<NestSpan> of_any_thread = items;
  for (NestSpan& item : of_any_thread) item.group = NestSpan::kAnyThread;
  for (const std::uint32_t item : InOrder(of_any_thread)) {
    if (nest.places[item].module == NestPlace::kNone) left.push_back(item);
  }
  Sweep(modules, of_any_thread, left, nest);
  return nest;
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/module_nest.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "mpa/measure/thread_groups.h"

namespace mpa {
namespace {

// In order of track, then start, the longest first; equal ones in the order in which they came.
std::vector<std::uint32_t> InOrder(const std::vector<NestSpan>& items) {
  std::vector<std::uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(items[a].track, items[a].start, items[b].end) <
           std::tie(items[b].track, items[b].start, items[a].end);
  });
  return order;
}

NestPlace PlaceOf(const Nesting& modules, const NestSpan& item) {
  const std::int64_t around = modules.FindEnclosing(item);
  // A shorter module that begins with the item does not hold its begin: the item is the outer one.
  // What begins at the very end of a module is behind it.
  const bool begins_together =
      around != Nesting::kNone && modules.At(static_cast<std::size_t>(around)).start == item.start;
  if (begins_together || item.end == item.start) return {around, false};
  const std::int64_t begun_in = modules.FindAround(item.track, item.start);
  return {around != Nesting::kNone ? around : begun_in, around != begun_in};
}

}  // namespace

ModuleNest Nest(const std::vector<NestSpan>& modules, const std::vector<NestSpan>& items) {
  const Nesting nesting(modules);
  ModuleNest nest{.parent = nesting.Enclosing(),
                  .modules = nesting.InOrder(),
                  .places = {},
                  .items = InOrder(items)};
  nest.places.reserve(items.size());
  for (NestSpan item : items) {
    NestPlace place = PlaceOf(nesting, item);
    if (place.module == NestPlace::kNone) {
      item.track = ThreadGroups::kAnyThread;
      place = PlaceOf(nesting, item);
    }
    nest.places.push_back(place);
  }
  return nest;
}

}  // namespace mpa

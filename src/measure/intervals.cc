// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sets of intervals, linear in their number but for the sorting.
#include "mpa/measure/intervals.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace mpa {

Intervals Union(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::begin);
  Intervals merged;
  for (const Interval& next : intervals) {
    if (next.end <= next.begin) continue;
    if (!merged.empty() && next.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, next.end);
    } else {
      merged.push_back(next);
    }
  }
  return merged;
}

Intervals Union(const Intervals& a, const Intervals& b) {
  std::vector<Interval> both = a;
  both.insert(both.end(), b.begin(), b.end());
  return Union(std::move(both));
}

Intervals Intersection(const Intervals& a, const Intervals& b) {
  Intervals common;
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    const Interval both{std::max(x->begin, y->begin), std::min(x->end, y->end)};
    if (both.begin < both.end) common.push_back(both);
    (x->end < y->end ? x : y)++;
  }
  return common;
}

Intervals Difference(const Intervals& a, const Intervals& b) {
  Intervals rest;
  auto cut = b.begin();
  for (Interval piece : a) {
    while (cut != b.end() && cut->end <= piece.begin) ++cut;
    for (auto at = cut; at != b.end() && at->begin < piece.end; ++at) {
      if (piece.begin < at->begin) rest.push_back({piece.begin, at->begin});
      piece.begin = std::max(piece.begin, at->end);
    }
    if (piece.begin < piece.end) rest.push_back(piece);
  }
  return rest;
}

TimeNs Length(const Intervals& intervals) {
  TimeNs length = 0;
  for (const Interval& interval : intervals) length += interval.end - interval.begin;
  return length;
}

TimeNs LengthWithin(const Intervals& intervals, const Interval& window) {
  auto at = std::partition_point(intervals.begin(), intervals.end(),
                                 [&](const Interval& row) { return row.end <= window.begin; });
  TimeNs length = 0;
  for (; at != intervals.end() && at->begin < window.end; ++at) {
    length += std::min(window.end, at->end) - std::max(window.begin, at->begin);
  }
  return length;
}

bool Contains(const Intervals& intervals, TimeNs time) {
  const auto at = std::partition_point(intervals.begin(), intervals.end(),
                                       [&](const Interval& row) { return row.end <= time; });
  return at != intervals.end() && at->begin <= time;
}

bool Touches(const Intervals& intervals, const Interval& window) {
  const auto at =
      std::partition_point(intervals.begin(), intervals.end(),
                           [&](const Interval& row) { return row.end <= window.begin; });
  return at != intervals.end() && at->begin < window.end && window.begin < window.end;
}

namespace {

struct Beats {
  Tie tie;
  bool operator()(const Contender& a, const Contender& b) const {
    if (a.priority != b.priority) return a.priority < b.priority;
    if (tie == Tie::kLatest && a.begin != b.begin) return a.begin > b.begin;
    return a.index < b.index;
  }
};

}  // namespace

void Skyline(std::vector<Contender> contenders, Tie tie,
             const std::function<void(const Won&)>& visit) {
  const Beats beats{tie};
  const auto loses = [&](const Contender* a, const Contender* b) { return beats(*b, *a); };
  std::erase_if(contenders, [](const Contender& span) { return span.begin >= span.end; });
  const auto earlier = [](const Contender& a, const Contender& b) { return a.begin < b.begin; };
  if (!std::ranges::is_sorted(contenders, earlier)) std::ranges::sort(contenders, earlier);
  Won latest;  // what its winner may win more of; nothing at first
  std::priority_queue<const Contender*, std::vector<const Contender*>, decltype(loses)> open(loses);
  auto next = contenders.cbegin();
  TimeNs now = 0;
  while (next != contenders.cend() || !open.empty()) {
    if (open.empty()) now = next->begin;
    for (; next != contenders.cend() && next->begin <= now; ++next) open.push(&*next);
    while (!open.empty() && open.top()->end <= now) open.pop();
    if (open.empty()) continue;
    const Contender& best = *open.top();
    TimeNs until = best.end;
    for (; next != contenders.cend() && next->begin < until; ++next) {
      if (beats(*next, best)) {
        until = next->begin;
        break;
      }
      open.push(&*next);
    }
    const bool goes_on = latest.begin < latest.end && latest.end == now &&
                         latest.index == best.index && latest.priority == best.priority;
    if (goes_on) {
      latest.end = until;
    } else {
      if (latest.begin < latest.end) visit(latest);
      latest = {now, until, best.priority, best.index};
    }
    now = until;
  }
  if (latest.begin < latest.end) visit(latest);
}

}  // namespace mpa

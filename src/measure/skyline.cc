// SPDX-License-Identifier: Apache-2.0
#include "skyline.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace mpa {
namespace {

bool Beats(const Contender& a, const Contender& b) {
  return std::tie(a.priority, a.tie, a.index) < std::tie(b.priority, b.tie, b.index);
}

struct Loses {
  bool operator()(const Contender* a, const Contender* b) const { return Beats(*b, *a); }
};

}  // namespace

std::vector<Won> Skyline(std::vector<Contender> contenders) {
  std::erase_if(contenders, [](const Contender& span) { return span.begin >= span.end; });
  const auto earlier = [](const Contender& a, const Contender& b) { return a.begin < b.begin; };
  if (!std::is_sorted(contenders.begin(), contenders.end(), earlier)) {
    std::stable_sort(contenders.begin(), contenders.end(), earlier);
  }
  std::vector<Won> won;
  won.reserve(contenders.size());
  std::priority_queue<const Contender*, std::vector<const Contender*>, Loses> open;
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
      if (Beats(*next, best)) {
        until = next->begin;
        break;
      }
      open.push(&*next);
    }
    if (!won.empty() && won.back().index == best.index && won.back().end == now) {
      won.back().end = until;
    } else {
      won.push_back({now, until, best.index});
    }
    now = until;
  }
  return won;
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// The time by call path as a picture.
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/base/time.h"
#include "stacks.h"

namespace mpa::export_stacks {
namespace {

// Frames of less than a thousandth of the whole cannot be seen; each caller has one for all of
// them.
constexpr TimeNs kLeastPart = 1000;
constexpr const char* kRest = "[frames of less than 0.1 %]";

}  // namespace

PageChart FlameChart(const PathTree& tree, std::string title) {
  PageChart chart{.kind = PageChart::Kind::kFlame, .title = std::move(title), .unit = "ms"};
  PageSeries& own = chart.series.emplace_back(PageSeries{.name = "time"});
  std::vector<TimeNs> whole(tree.nodes.size());
  TimeNs total = 0;
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    const PathNode& node = tree.nodes[i];
    whole[i] += node.time;
    (node.parent >= 0 ? whole[static_cast<std::size_t>(node.parent)] : total) += whole[i];
  }
  std::unordered_map<std::int32_t, std::size_t> labels;  // by frame
  const auto add = [&](std::int32_t parent, std::size_t label, TimeNs time) {
    chart.frames.push_back({parent, label});
    own.values.push_back(InMs(time));
    return static_cast<std::int32_t>(chart.frames.size() - 1);
  };
  std::vector<std::int32_t> drawn(tree.nodes.size(), -1);  // the frame of the node; -1: none
  std::vector<std::pair<std::int32_t, TimeNs>> rests;      // by parent, in order
  std::unordered_map<std::int32_t, std::size_t> rest_of;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const PathNode& node = tree.nodes[i];
    const std::int32_t parent =
        node.parent >= 0 ? drawn[static_cast<std::size_t>(node.parent)] : -1;
    if (node.parent >= 0 && parent < 0) continue;  // its time is in that of its caller
    if (whole[i] < (total + kLeastPart - 1) / kLeastPart) {
      const auto [found, is_new] = rest_of.try_emplace(parent, rests.size());
      if (is_new) rests.push_back({parent, 0});
      rests[found->second].second += whole[i];
      continue;
    }
    const auto [label, is_new] = labels.try_emplace(node.frame, chart.labels.size());
    if (is_new) chart.labels.push_back(tree.frames[static_cast<std::size_t>(node.frame)]);
    drawn[i] = add(parent, label->second, node.time);
  }
  const std::size_t rest = chart.labels.size();
  for (const auto& [parent, time] : rests) {
    if (time > 0) add(parent, rest, time);
  }
  if (!chart.frames.empty() && chart.frames.back().label == rest)
    chart.labels.emplace_back(kRest);
  return chart;
}

}  // namespace mpa::export_stacks

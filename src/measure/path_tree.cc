// SPDX-License-Identifier: Apache-2.0
// Times by call path.
#include "mpa/measure/path_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "mpa/base/printable.h"
#include "mpa/base/stable_sort.h"

namespace mpa {
namespace {

std::size_t Index(std::int32_t row) { return static_cast<std::size_t>(row); }

const std::string& TextOf(const PathTree& tree, std::int32_t node) {
  return tree.frames[Index(tree.nodes[Index(node)].frame)];
}

// From the root to the node.
std::vector<std::int32_t> WayTo(const PathTree& tree, std::int32_t node) {
  std::vector<std::int32_t> way;
  for (; node >= 0; node = tree.nodes[Index(node)].parent) way.push_back(node);
  std::ranges::reverse(way);
  return way;
}

}  // namespace

TimeNs PathTree::Total() const {
  TimeNs total = 0;
  for (const PathNode& node : nodes) total += node.time;
  return total;
}

bool PathTree::IsValid() const {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const PathNode& node = nodes[i];
    if (node.parent < -1 || node.parent >= static_cast<std::int64_t>(i)) return false;
    if (node.frame < 0 || Index(node.frame) >= frames.size()) return false;
  }
  return true;
}

std::string FrameText(std::string_view name) {
  std::string text = Printable(name);
  std::ranges::replace(text, ';', ',');
  return text.empty() ? "(no name)" : text;
}

std::int32_t PathTreeBuilder::Frame(std::string_view text) {
  const auto [found, is_new] =
      frames_.try_emplace(std::string(text), static_cast<std::int32_t>(tree_.frames.size()));
  if (is_new) tree_.frames.emplace_back(text);
  return found->second;
}

std::int32_t PathTreeBuilder::Child(std::int32_t parent, std::int32_t frame) {
  const std::uint64_t key =
      (std::uint64_t{static_cast<std::uint32_t>(parent)} << 32) | static_cast<std::uint32_t>(frame);
  const auto [found, is_new] =
      nodes_.try_emplace(key, static_cast<std::int32_t>(tree_.nodes.size()));
  if (is_new) tree_.nodes.push_back({.parent = parent, .frame = frame});
  return found->second;
}

void PathTreeBuilder::Merge(const PathTree& other) {
  std::vector<std::int32_t> frames, nodes;
  frames.reserve(other.frames.size());
  nodes.reserve(other.nodes.size());
  for (const std::string& text : other.frames) frames.push_back(Frame(text));
  for (const PathNode& node : other.nodes) {
    const std::int32_t parent = node.parent >= 0 ? nodes[Index(node.parent)] : kRoot;
    nodes.push_back(Child(parent, frames[Index(node.frame)]));
    Add(nodes.back(), node.time, node.count);
  }
}

std::vector<std::int32_t> OrderByText(const PathTree& tree) {
  std::vector<std::vector<std::int32_t>> children(tree.nodes.size());
  std::vector<std::int32_t> waiting;  // the next one last
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const std::int32_t parent = tree.nodes[i].parent;
    (parent >= 0 ? children[Index(parent)] : waiting).push_back(static_cast<std::int32_t>(i));
  }
  const auto last_first = [&](std::int32_t a, std::int32_t b) {
    return TextOf(tree, a) > TextOf(tree, b);
  };
  StableSort(waiting, last_first);
  std::vector<std::int32_t> order;
  while (!waiting.empty()) {
    const std::int32_t node = waiting.back();
    waiting.pop_back();
    if (tree.nodes[Index(node)].time > 0) order.push_back(node);
    std::vector<std::int32_t>& within = children[Index(node)];
    StableSort(within, last_first);
    waiting.insert(waiting.end(), within.begin(), within.end());
  }
  return order;
}

std::vector<std::int32_t> LongestPaths(const PathTree& tree) {
  std::vector<std::int32_t> order = OrderByText(tree);
  StableSort(order, [&](std::int32_t a, std::int32_t b) {
    return tree.nodes[Index(a)].time > tree.nodes[Index(b)].time;
  });
  return order;
}

std::string PathText(const PathTree& tree, std::int32_t node) {
  std::string text;
  for (const std::int32_t at : WayTo(tree, node)) {
    if (!text.empty()) text += ';';
    text += TextOf(tree, at);
  }
  return text;
}

std::string InnermostFirst(const PathTree& tree, std::int32_t node) {
  std::string text;
  for (; node >= 0; node = tree.nodes[Index(node)].parent) {
    if (!text.empty()) text += " < ";
    text += TextOf(tree, node);
  }
  return text;
}

std::string FoldedStacks(const PathTree& tree) {
  std::string text;
  for (const std::int32_t node : OrderByText(tree)) {
    fmt::format_to(std::back_inserter(text), "{} {}\n", PathText(tree, node),
                   tree.nodes[Index(node)].time);
  }
  return text;
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mpa/base/time.h"

namespace mpa {

/// A path ends at each node: the frames from the root to it.
struct PathNode {
  std::int32_t parent = -1;  ///< the node around it, which comes before it; -1: it is a root
  std::int32_t frame = -1;
  TimeNs time = 0;         ///< of the path itself, without longer ones
  std::int64_t count = 0;  ///< how often that happened
};

/// Times by call path. Plain values, which outlive the rank.
struct PathTree {
  std::vector<std::string> frames;  ///< each once
  std::vector<PathNode> nodes;

  TimeNs Total() const;
  /// False for a tree that names frames or nodes which it does not have.
  bool IsValid() const;
};

/// The name of a frame as files of stacks can hold it: without ';' and line feeds, never empty.
std::string FrameText(std::string_view name);

/// Makes a tree. Frames and nodes are named by their position in it.
class PathTreeBuilder {
 public:
  static constexpr std::int32_t kRoot = -1;  ///< the parent of the roots

  std::int32_t Frame(std::string_view text);
  /// The node of the frame within `parent`.
  std::int32_t Child(std::int32_t parent, std::int32_t frame);
  std::int32_t Child(std::int32_t parent, std::string_view text) {
    return Child(parent, Frame(text));
  }
  void Add(std::int32_t node, TimeNs time, std::int64_t count) {
    PathNode& added = tree_.nodes[static_cast<std::size_t>(node)];
    added.time += time;
    added.count += count;
  }
  /// Adds the times of another tree.
  void Merge(const PathTree& other);

  const PathTree& tree() const { return tree_; }
  PathTree Take() && { return std::move(tree_); }

 private:
  PathTree tree_;
  std::unordered_map<std::string, std::int32_t> frames_;
  std::unordered_map<std::uint64_t, std::int32_t> nodes_;  // by parent and frame
};

/// The nodes with a time, those with most of it first; equal ones as OrderByText() has them.
std::vector<std::int32_t> LongestPaths(const PathTree& tree);
/// The nodes with a time in alphabetical order of their frames, which does not depend on how the
/// tree was made.
std::vector<std::int32_t> OrderByText(const PathTree& tree);

/// "outer;inner;innermost"
std::string PathText(const PathTree& tree, std::int32_t node);
/// "innermost < inner < outer", for people.
std::string InnermostFirst(const PathTree& tree, std::int32_t node);

/// Lines "outer;inner 123" with the ns of each path, as programs for flame graphs read them.
std::string FoldedStacks(const PathTree& tree);

}  // namespace mpa

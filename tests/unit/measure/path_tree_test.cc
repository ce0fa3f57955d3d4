// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/path_tree.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

TEST(PathTree, FoldedStacksAreInOrderOfTextHoweverTheTreeWasMade) {
  PathTreeBuilder one, other;
  const std::int32_t step = one.Child(PathTreeBuilder::kRoot, "step");
  one.Add(one.Child(step, "b"), 3, 1);
  one.Add(one.Child(step, "a"), 2, 1);
  one.Add(step, 5, 2);
  other.Add(other.Child(other.Child(PathTreeBuilder::kRoot, "step"), "a"), 7, 1);
  other.Child(PathTreeBuilder::kRoot, "took no time");
  one.Merge(other.tree());
  EXPECT_EQ(FoldedStacks(one.tree()), "step 5\nstep;a 9\nstep;b 3\n");
  EXPECT_EQ(one.tree().Total(), 17);
  EXPECT_EQ(InnermostFirst(one.tree(), LongestPaths(one.tree()).front()), "a < step");
}

// A file has one path a line, with ';' between frames and the number behind the last blank.
TEST(PathTree, FramesHoldNeitherSemicolonsNorLines) {
  EXPECT_EQ(FrameText("f<a; b>\nat 3"), "f<a, b>\\x0aat 3");
  EXPECT_EQ(FrameText(""), "(no name)");
}

TEST(PathTree, OfBytesFromElsewhereIsLookedAt) {
  PathTree tree{{"a"}, {{-1, 0, 1, 1}, {0, 0, 1, 1}}};
  EXPECT_TRUE(tree.IsValid());
  tree.nodes[1].parent = 1;
  EXPECT_FALSE(tree.IsValid());
  tree.nodes[1] = {0, 1, 1, 1};
  EXPECT_FALSE(tree.IsValid());
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "raw/host_side.h"

namespace mpa::raw {
namespace {

HostCalls::Row Call(TimeNs start, TimeNs end, Level level, std::int64_t thread = 1) {
  return {{.start = start, .dur = end - start}, {.level = level, .thread = thread}};
}

// Rows: 0 acl, 1 node in it, 2 runtime, 3 communication in the node, 4 node on another thread.
HostCalls Nested() {
  HostCalls calls;
  calls.Append(Call(0, 100, Level::kAcl));
  calls.Append(Call(10, 90, Level::kNode));
  calls.Append(Call(20, 30, Level::kRuntime));
  calls.Append(Call(40, 60, Level::kCommunication));
  calls.Append(Call(50, 70, Level::kNode, 2));
  return calls;
}

TEST(HostTree, KnowsTheCallsAroundACall) {
  const HostTree tree = BuildHostTree(Nested());
  EXPECT_EQ(tree.parent, (std::vector<std::int32_t>{-1, 0, -1, 1, -1}));
  EXPECT_EQ(tree.node, (std::vector<std::int32_t>{-1, 1, -1, 1, 4}));
  EXPECT_EQ(tree.communication, (std::vector<std::int32_t>{-1, -1, -1, 3, -1}));
  EXPECT_EQ(tree.in_tree, (std::vector<std::uint8_t>{1, 1, 0, 1, 1}));
}

TEST(HostTree, CallsWithinCallsOfTheirLevelCountOnlyForNodes) {
  HostCalls calls;
  calls.Append(Call(0, 100, Level::kAcl));
  calls.Append(Call(10, 90, Level::kAcl));
  calls.Append(Call(20, 80, Level::kNode));
  calls.Append(Call(30, 70, Level::kNode));
  const HostTree tree = BuildHostTree(calls);
  EXPECT_EQ(tree.in_tree, (std::vector<std::uint8_t>{1, 0, 1, 1}));
  EXPECT_EQ(tree.parent, (std::vector<std::int32_t>{-1, -1, 0, 2}));
  EXPECT_EQ(tree.node[3], 3);
  EXPECT_EQ(tree.outer_node[3], 2);
}

TEST(HostTree, RecordsBelongToTheInnermostCallOfTheirThread) {
  const HostCalls calls = Nested();
  const HostTree tree = BuildHostTree(calls);
  // Half open: after the start, up to the end.
  const std::vector<Moment> moments = {{61, 1}, {10, 1}, {11, 1},  {60, 1},
                                       {55, 2}, {50, 2}, {101, 1}, {5, 3}};
  EXPECT_EQ(CallsAround(calls, tree, moments),
            (std::vector<std::int32_t>{1, 0, 1, 3, 4, -1, -1, -1}));
}

TEST(RecordsOfCalls, ListsThemInOrder) {
  const RecordsOfCalls records(3, {2, -1, 0, 2});
  const auto of = [&](std::int32_t call) {
    const auto found = records.Of(call);
    return std::vector<std::uint32_t>(found.begin(), found.end());
  };
  EXPECT_EQ(of(0), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(of(1), (std::vector<std::uint32_t>{}));
  EXPECT_EQ(of(2), (std::vector<std::uint32_t>{0, 3}));
  EXPECT_EQ(of(-1), (std::vector<std::uint32_t>{}));
}

}  // namespace
}  // namespace mpa::raw

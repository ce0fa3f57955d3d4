// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/host_places.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "mpa/measure/collectives.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;

// The device's clock is 5 ns behind: a piece from 15 to 20 is 20 to 25 on the host.
class HostPlaces : public ::testing::Test {
 protected:
  HostPlaces() : thread_(rank_.Thread(1)) {}

  std::string SiteOf(const Piece& piece) { return CallSites(rank_.trace, {.offset = 5}).Of(piece); }
  static Piece OfOp(std::int32_t row) {
    return {.begin = 15,
            .end = 20,
            .row = row,
            .category = TimeCategory::kScalarSync,
            .table = PieceTable::kHostOps};
  }

  RankBuilder rank_;
  std::int32_t thread_;
};

TEST_F(HostPlaces, ACallSiteIsTheInnermostLineOfTheProgramItself) {
  rank_.Op("aten::item", 20, 25, thread_);
  rank_.Call("/home/me/train.py(90): step", 0, 100, thread_);
  rank_.Call("torch/_tensor.py(12): item", 10, 50, thread_);
  rank_.Call("<built-in method item of Tensor object at 0xfffd10>", 18, 30, thread_);
  EXPECT_EQ(SiteOf(OfOp(0)), "train.py:90");
}

TEST_F(HostPlaces, WithoutALineOfTheProgramThatOfALibraryCounts) {
  rank_.Op("aten::item", 20, 25, thread_);
  rank_.Call("torch/_tensor.py(12): item", 10, 50, thread_);
  rank_.Call("nn.Module: Net_0", 0, 100, thread_);
  EXPECT_EQ(SiteOf(OfOp(0)), "_tensor.py:12");
}

TEST_F(HostPlaces, TheStackOfAnOperatorSaysWhichLineRuns) {
  rank_.Call("train.py(80): step", 0, 100, thread_);
  rank_.Op("aten::item", 20, 25, thread_);
  EXPECT_EQ(SiteOf(OfOp(0)), "train.py:80") << "where the function begins";
  rank_.trace.host_ops.stack.Stored()[0] = rank_.Text(
      "/x/site-packages/torch/_tensor.py(933): __format__;\r\n/home/me/train.py(90): step;\r\n"
      "/home/me/main.py(7): <module>");
  EXPECT_EQ(SiteOf(OfOp(0)), "train.py:90");
}

// Each of 60,000 pieces asks for its place, and 60,000 functions without a line are around each:
// walking through them would take minutes.
TEST_F(HostPlaces, DeepNestsTakeNoTime) {
  constexpr std::int32_t kDeep = 60'000;
  rank_.Call("train.py(80): step", 0, 10 * kDeep, thread_);
  rank_.Call("torch/_tensor.py(12): item", 1, 10 * kDeep, thread_);
  for (std::int32_t i = 0; i < kDeep; ++i)
    rank_.Call("nn.Module: Net_0", 2 + i, 9 * kDeep - i, thread_);
  const CallSites sites(rank_.trace, {.offset = 0});
  for (TimeNs i = 0; i < kDeep; ++i)
    ASSERT_EQ(sites.At({2 * kDeep + i, 2 * kDeep + i + 1, thread_}), "train.py:80");
}

TEST_F(HostPlaces, StacksTellWithoutFunctions) {
  rank_.Op("aten::to", 10, 40, thread_);
  rank_.Op("aten::copy_", 20, 25, thread_);
  rank_.trace.host_ops.stack.Stored()[0] =
      rank_.Text("torch/nn/modules/module.py(15): _call_impl;\r\ntrain.py(90): step");
  EXPECT_EQ(SiteOf(OfOp(1)), "train.py:90") << "of the operator around it";
  EXPECT_EQ(CallSites(rank_.trace, {.offset = 5}).At({50, 60, thread_}), "") << "behind both";
  rank_.trace.host_ops.stack.Stored()[1] =
      rank_.Text("threading.py(9): run;\r\n<string>(1): <module>");
  EXPECT_EQ(SiteOf(OfOp(1)), "threading.py:9") << "no line of the program at all";
  rank_.trace.host_ops.stack.Stored()[1] = rank_.Text("N/A");
  EXPECT_EQ(SiteOf(OfOp(1)), "train.py:90");
}

TEST_F(HostPlaces, AFunctionWithinAnOperatorIsTheInnerOne) {
  rank_.Op("Optimizer.step#SGD.step", 0, 100, thread_);
  rank_.Op("ProfilerStep#7", 0, 200, thread_);
  rank_.trace.host_ops.stack.Stored()[0] = rank_.Text("train.py(90): step");
  rank_.trace.host_ops.stack.Stored()[1] = rank_.Text("train.py(99): main");
  rank_.Call("sgd.py(10): update", 15, 50, thread_);
  EXPECT_EQ(CallSites(rank_.trace, {}).At({20, 25, thread_}), "sgd.py:10");
  EXPECT_EQ(CallSites(rank_.trace, {}).At({60, 65, thread_}), "train.py:90");
  EXPECT_EQ(CallSites(rank_.trace, {}).At({120, 125, thread_}), "")
      << "the mark of a step is around everything";
}

TEST_F(HostPlaces, OtherThreadsAndOtherTimesAreNoCallSite) {
  rank_.Op("aten::item", 20, 25, thread_);
  EXPECT_EQ(SiteOf(OfOp(0)), "") << "no Python functions at all";
  rank_.Call("train.py(1): f", 0, 100, rank_.Thread(2));
  rank_.Call("train.py(2): g", 22, 100, thread_);
  rank_.Call("train.py(x: h", 0, 200, thread_);
  EXPECT_EQ(SiteOf(OfOp(0)), "");
  EXPECT_EQ(SiteOf({.begin = 15, .end = 20, .category = TimeCategory::kDeviceQueue}), "");
}

TEST_F(HostPlaces, NamesOfPythonAreWithoutAddresses) {
  rank_.Call("<function f at 0x7f00>", 0, 10, thread_);
  rank_.Op("aten::item", 20, 25, thread_);
  EXPECT_EQ(HostNameOf(rank_.trace, PieceTable::kPythonCalls, 0), "<function f>");
  EXPECT_EQ(HostNameOf(rank_.trace, PieceTable::kHostOps, 0), "aten::item");
  EXPECT_EQ(HostNameOf(rank_.trace, PieceTable::kNone, -1), "");
}

TEST(GroupPeers, RanksOfTheJobAreListedOrKnownFromTheRankItself) {
  RankBuilder rank;
  rank.trace.rank = 2;
  rank.trace.job.groups = {{.id = "dp_ring", .name = "dp", .ranks = {0, 2, 4}}};
  const std::int32_t listed = rank.Group("Group dp_ring Communication"), same = rank.Group("tp"),
                     other = rank.Group("pp");
  const auto task = [&](std::int32_t group, std::int32_t own) {
    rank.CommTask(group, 0, "Notify_Wait", 0, 1);
    rank.trace.comm_tasks.own_rank.back() = own;
  };
  task(same, 2);
  task(other, 1);
  const GroupPeers peers(rank.trace);
  EXPECT_EQ(peers.RankOf(listed, 2), 4);
  EXPECT_EQ(peers.RankOf(listed, 3), -1) << "not in the group";
  EXPECT_EQ(peers.RankOf(same, 3), 3) << "rank 2 is number 2 of the group";
  EXPECT_EQ(peers.RankOf(other, 3), -1) << "rank 2 is number 1 of the group";
  EXPECT_EQ(peers.RankOf(-1, 0), -1);
  EXPECT_EQ(peers.RankOf(listed, -1), -1);
}

TEST(TimeCategory, NamesAndTitlesAreUnique) {
  std::set<std::string_view> names, titles;
  for (std::size_t i = 0; i < kTimeCategories; ++i) {
    const auto category = static_cast<TimeCategory>(i);
    names.insert(NameOf(category));
    titles.insert(TitleOf(category));
    EXPECT_EQ(CategoryNamed(NameOf(category)), category);
  }
  EXPECT_EQ(names.size(), kTimeCategories);
  EXPECT_EQ(titles.size(), kTimeCategories);
  EXPECT_EQ(CategoryNamed("free"), std::nullopt);
}

}  // namespace
}  // namespace mpa

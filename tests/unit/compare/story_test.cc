// SPDX-License-Identifier: Apache-2.0
// The lines below the screen table.
#include <gtest/gtest.h>

#include "support/comparing.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;
using Texts = std::vector<std::string>;

constexpr TimeNs kStoryMs = 1'000'000;

Texts Story(const RankBuilder& base, const RankBuilder& comparison) {
  return test::Compare("profiling", base.trace, comparison.trace).story;
}

// A run of kernels, each right behind the one before; a gap is named "".
RankBuilder KernelRun(const std::vector<std::pair<std::string, TimeNs>>& kernels) {
  RankBuilder rank;
  TimeNs at = 0;
  for (const auto& [type, dur] : kernels) {
    if (!type.empty()) {
      rank.trace.kernels.Append(
          {.start = at, .dur = dur, .name = rank.Text("k_" + type), .op_type = rank.Text(type)});
    }
    at += dur;
  }
  return rank;
}

TEST(Story, TellsTheLargestChangesFirstAndAddsUp) {
  const RankBuilder base = KernelRun({{"MatMul", 10 * kStoryMs},
                                      {"", 5 * kStoryMs},
                                      {"Add", 2 * kStoryMs},
                                      {"Mul", kStoryMs},
                                      {"Cast", kStoryMs}});
  const RankBuilder comparison = KernelRun({{"MatMul", 13 * kStoryMs},
                                            {"", 4 * kStoryMs},
                                            {"Add", 4 * kStoryMs},
                                            {"Mul", kStoryMs / 2},
                                            {"Exp", kStoryMs / 2}});
  EXPECT_EQ(Story(base, comparison),  // 19 ms against 22
            (Texts{"end to end: +3.00 ms (+15.8 %)", "  +3.00 ms MatMul (1 kernel, +30.0 %)",
                   "  +2.00 ms Add (1 kernel, +100.0 %)", "  -1.00 ms Cast (1 kernel, gone)",
                   "  -1.00 ms in 3 smaller changes"}));
}

TEST(Story, SaysHowManyKernelsThereWere) {
  const RankBuilder base = KernelRun({{"MatMul", 10 * kStoryMs}});
  const RankBuilder comparison =
      KernelRun({{"MatMul", 10 * kStoryMs}, {"MatMul", 2 * kStoryMs}, {"Exp", kStoryMs}});
  EXPECT_EQ(Story(base, comparison), (Texts{"end to end: +3.00 ms (+30.0 %)",
                                            "  +2.00 ms MatMul (2 kernels instead of 1, +20.0 %)",
                                            "  +1.00 ms Exp (1 kernel, new)"}));
}

TEST(Story, NamesTheCollectiveAndTheGroup) {
  RankBuilder base = KernelRun({{"MatMul", kStoryMs}});
  base.Collective(base.Group("Group 0 Communication"), kStoryMs, 3 * kStoryMs);
  RankBuilder comparison = KernelRun({{"MatMul", kStoryMs}});
  comparison.Collective(comparison.Group("Group 0 Communication"), kStoryMs, 18 * kStoryMs);
  EXPECT_EQ(Story(base, comparison),
            (Texts{"end to end: +15.00 ms (+500.0 %)",
                   "  +15.00 ms exposed allreduce in Group 0 Communication"}));
}

TEST(Story, TellsWhatOverlapTakesOffTheSum) {
  RankBuilder base = KernelRun({{"MatMul", 4 * kStoryMs}});
  RankBuilder comparison = KernelRun({{"MatMul", 4 * kStoryMs}});
  comparison.trace.kernels.Append({.start = kStoryMs,  // beside the first one
                                   .dur = 2 * kStoryMs,
                                   .name = comparison.Text("k"),
                                   .op_type = comparison.Text("Add")});
  EXPECT_EQ(Story(base, comparison),
            (Texts{"end to end: +0.00 ms (+0.0 %)", "  +2.00 ms Add (1 kernel, new)",
                   "  -2.00 ms kernels that ran at the same time as others"}));
}

TEST(Story, CountsOperatorsThatOneSideAloneHas) {
  RankBuilder base = KernelRun({{"MatMul", kStoryMs}});
  RankBuilder comparison = KernelRun({{"MatMul", kStoryMs}, {"", kStoryMs}, {"MatMul", kStoryMs}});
  for (const char* name : {"aten::mm", "ProfilerStep#1"}) base.Op(name, 0, 1, base.Thread(1));
  for (const char* name : {"aten::mm", "aten::add", "aten::add", "aten::mul", "ProfilerStep#2"}) {
    comparison.Op(name, 0, 1, comparison.Thread(1));
  }
  EXPECT_EQ(Story(base, comparison).back(), "  2 operators only in the comparison");
}

TEST(Story, UsesMicrosecondsForSmallChanges) {
  EXPECT_EQ(Story(KernelRun({{"MatMul", 1000}}), KernelRun({{"MatMul", 1250}})),
            (Texts{"end to end: +0.25 us (+25.0 %)", "  +0.25 us MatMul (1 kernel, +25.0 %)"}));
}

TEST(Story, SaysThatNothingChanged) {
  const RankBuilder rank = KernelRun({{"MatMul", kStoryMs}});
  EXPECT_EQ(Story(rank, rank), Texts{"end to end: no change"});
}

TEST(Story, IsSilentWhereADeviceDidNothing) {
  EXPECT_TRUE(Story(KernelRun({}), KernelRun({{"MatMul", kStoryMs}})).empty());
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// What is shown of a tree of changes.
#include "mpa/report/change_tree.h"

#include <gtest/gtest.h>

#include <utility>

namespace mpa {
namespace {

using Texts = std::vector<std::string>;

constexpr TimeNs kTreeMs = 1'000'000;

ChangeNode TimeCategory(const char* kind, std::string name, TimeNs base, TimeNs comparison) {
  return {kind, std::move(name), base * kTreeMs, comparison * kTreeMs};
}

ChangeNode Parent(std::string name, std::vector<ChangeNode> children) {
  ChangeNode parent{"component", std::move(name)};
  for (ChangeNode& child : children) AddChild(std::move(child), parent);
  return parent;
}

// So many kernels of 10 ms, each of which takes 1 ms more.
ChangeNode Slower(int kernels) {
  std::vector<ChangeNode> all;
  for (int i = 0; i < kernels; ++i) {
    all.push_back(TimeCategory("kernel", "K" + std::to_string(i), 10, 11));
  }
  return Parent("computing", std::move(all));
}

const AmountScale kTreeScale = AmountScale::ForPartsOf(1000 * kTreeMs);  // ms, two decimals

Texts Lines(const ChangeNode& whole, std::size_t width = 80) {
  return ChangeLines(SummariseChange(whole, kTreeScale), kTreeScale, width);
}

std::string Causes(const ChangeNode& whole, std::size_t width) {
  return ChangeCauses(whole, kTreeScale, kTreeScale.Rounded(whole.Change()), width);
}

TEST(ChangeTree, ChildrenAddUpToTheirParent) {
  ChangeNode step = Parent("step", {Slower(2), TimeCategory("component", "free time", 5, 3)});
  EXPECT_EQ(step.base, 25 * kTreeMs);
  EXPECT_EQ(step.Change(), 0);
  step.comparison += kTreeMs;
  AddRest(kRemainder, "other", step);
  EXPECT_EQ(step.children.back().name, "other");
  EXPECT_EQ(step.children.back().base, 0);
  EXPECT_EQ(step.children.back().comparison, kTreeMs);
}

TEST(ChangeTree, ListsNamesOfAllLevelsTheLargestFirst) {
  ChangeNode step = Parent("step", {Slower(1), TimeCategory("component", "free time", 5, 3),
                                    TimeCategory("component", "copies", 4, 4)});
  AddRest(kRemainder, "other", step);
  Texts names;
  for (const ChangeNode& category : CategoriesOf(step)) names.push_back(category.name);
  EXPECT_EQ(names, (Texts{"free time", "K0", "other"})) << "copies did not change";
}

TEST(ChangeTree, NamesExplainFourFifths) {
  // 10 of 12 ms are named with the third one: 12 - 4 - 4 - 2 = 2 is less than a fifth of 12.
  EXPECT_EQ(Lines(Parent("step", {Parent("computing", {TimeCategory("kernel", "A", 10, 14),
                                                       TimeCategory("kernel", "B", 10, 14)}),
                                  TimeCategory("component", "free time", 10, 12), Slower(2)})),
            (Texts{"+4.00 ms A (+40.0 %)", "+4.00 ms B (+40.0 %)", "+2.00 ms free time (+20.0 %)",
                   "+2.00 ms in 2 smaller changes"}));
}

TEST(ChangeTree, OneLevelUpWhereNamesDoNot) {
  EXPECT_EQ(Lines(Parent("step", {Slower(10), TimeCategory("component", "free time", 10, 7)})),
            (Texts{"+10.00 ms computing spread over 10 kinds of kernels (+10.0 %)",
                   "  +1.00 ms K0 (+10.0 %)", "  +9.00 ms in 9 smaller changes",
                   "-3.00 ms free time (-30.0 %)"}));
}

TEST(ChangeTree, PartsThatCancelEachOtherOutAreNotSmall) {
  // +6 -3 -3 +5 -5: the first names add up to the whole, but leave out as much.
  const ChangeNode step = Parent(
      "step", {Parent("computing",
                      {TimeCategory("kernel", "A", 10, 16), TimeCategory("kernel", "B", 10, 15)}),
               Parent("exposed communication",
                      {TimeCategory("collective", "transfer in allreduce", 10, 5),
                       TimeCategory("collective", "waiting for rank 1 in allreduce", 10, 7)}),
               TimeCategory("component", "free time", 10, 7)});
  EXPECT_EQ(
      Lines(step),
      (Texts{
          "+11.00 ms computing (+55.0 %)", "  +6.00 ms A (+60.0 %)", "  +5.00 ms B (+50.0 %)",
          "-8.00 ms exposed communication (-40.0 %)", "  -5.00 ms transfer in allreduce (-50.0 %)",
          "  -3.00 ms waiting for rank 1 in allreduce (-30.0 %)", "-3.00 ms free time (-30.0 %)"}));
}

TEST(ChangeTree, LinesAddUpAsRounded) {
  // 0.034 ms each are 0.03, and 0.102 in all are 0.10.
  ChangeNode step{"component", "step"};
  for (const char* name : {"A", "B", "C"}) {
    AddChild({"kernel", name, 10 * kTreeMs, 10 * kTreeMs + 34'000}, step);
  }
  EXPECT_EQ(Lines(step), (Texts{"+0.03 ms A (+0.3 %)", "+0.03 ms B (+0.3 %)", "+0.03 ms C (+0.3 %)",
                                "+0.01 ms by rounding"}));
}

TEST(ChangeTree, NoiseIsInSumsOnly) {
  ChangeNode step =
      Parent("step", {TimeCategory("kernel", "A", 10, 20), TimeCategory("kernel", "B", 10, 11)});
  step.children[1].is_noise = true;
  EXPECT_EQ(Lines(step), (Texts{"+10.00 ms A (+100.0 %)", "+1.00 ms in 1 smaller change"}));
  step.is_noise = true;
  EXPECT_EQ(Lines(step), Texts());
}

TEST(ChangeTree, KernelsThatAreNoiseAloneAreSpreadTogether) {
  ChangeNode computing = Slower(10);
  for (ChangeNode& kernel : computing.children) kernel.is_noise = true;
  EXPECT_EQ(Lines(computing), Texts{"+10.00 ms spread over 10 kinds of kernels (+10.0 %)"});
  EXPECT_EQ(Causes(computing, 80), "+10.00 ms spread over 10 kinds of kernels (+10.0 %)");
  EXPECT_EQ(Causes(Parent("step", {computing, TimeCategory("component", "free time", 9, 7)}), 90),
            "+10.00 ms computing spread over 10 kinds of kernels (+10.0 %), -2.00 ms free time");
}

TEST(ChangeTree, CountsOfKernels) {
  ChangeNode more = TimeCategory("kernel", "A", 10, 20), added = TimeCategory("kernel", "B", 0, 10),
             gone = TimeCategory("kernel", "C", 10, 0);
  more.base_count = 1;
  more.comparison_count = 2;
  added.comparison_count = 1;
  gone.base_count = 3;
  EXPECT_EQ(Lines(Parent("computing", {more, added, gone})),
            (Texts{"+10.00 ms A (2 kernels instead of 1, +100.0 %)", "+10.00 ms B (1 kernel, new)",
                   "-10.00 ms C (3 kernels, gone)"}));
}

TEST(ChangeTree, ACauseGivesWayBeforeAName) {
  ChangeNode reads = TimeCategory("component", "free time (scalar reads)", 10, 20);
  reads.cause = "aten::item at train.py:90 +10.00 ms";
  const ChangeNode step = Parent("step", {reads});
  EXPECT_EQ(Lines(step, 90),
            Texts{"+10.00 ms free time (scalar reads: aten::item at train.py:90 +10.00 ms),"
                  " +100.0 %"});
  EXPECT_EQ(Lines(step, 60), Texts{"+10.00 ms free time (scalar reads), +100.0 %"});
  EXPECT_EQ(Lines(step, 40), Texts{"+10.00 ms free time...r reads), +100.0 %"});
  EXPECT_EQ(Causes(step, 80),
            "+10.00 ms free time (scalar reads: aten::item at train.py:90 +10.00 ms)");
  EXPECT_EQ(Causes(step, 40), "+10.00 ms free time (scalar reads)");
}

TEST(ChangeTree, NamesAreShortenedBeforeCausesAreLeftOut) {
  const ChangeNode step = Parent(
      "step", {TimeCategory("kernel", "FlashAttentionScoreGradOfALongName", 10, 20),
               TimeCategory("kernel", "MatMulV2", 10, 16), TimeCategory("kernel", "Add", 10, 11)});
  EXPECT_EQ(Causes(step, 100),
            "+10.00 ms FlashAttentionScoreGradOfALongName, +6.00 ms MatMulV2, +1.00 ms Add");
  EXPECT_EQ(Causes(step, 60), "+10.00 ms FlashAt...ngName, +6.00 ms MatMulV2, +1.00 ms Add");
  EXPECT_EQ(Causes(step, 50), "+10.00 ms FlashAttent...fALongName, +7.00 ms other");
  EXPECT_EQ(Causes(step, 26), "+10.00 ms FlashAt...ngName");
  EXPECT_EQ(Causes(step, 10), "");
}

TEST(ChangeTree, ANameGoesWithoutItsPlaceBeforeItIsCut) {
  const ChangeNode step =
      Parent("step", {TimeCategory("part", "waiting for rank 5 in allreduce", 10, 20)});
  EXPECT_EQ(Causes(step, 41), "+10.00 ms waiting for rank 5 in allreduce");
  EXPECT_EQ(Causes(step, 40), "+10.00 ms waiting for rank 5");
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "mpa/collectives/run_matching.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mpa {
namespace {

// "0.3+1.2" for an operation of the row 3 of rank 0 and the row 2 of rank 1.
std::vector<std::string> Texts(const std::vector<JointRanks>& operations) {
  std::vector<std::string> texts;
  for (const JointRanks& operation : operations) {
    std::string text;
    for (const RankRun& run : operation) {
      text += (text.empty() ? "" : "+") + std::to_string(run.rank) + "." + std::to_string(run.row);
    }
    texts.push_back(text);
  }
  return texts;
}

using Names = std::vector<std::string>;

TEST(MatchInOrder, ANumberedNameIsOneOperationWhateverItsStep) {
  EXPECT_EQ(Texts(MatchInOrder({{0, 7, 1, {}}, {1, 8, 2, {}}, {2, 9, 1, {}}})),
            (Names{"0.7+1.8+2.9"}));
}

TEST(MatchInOrder, RunsAreCountedWithinTheirSteps) {
  // Rank 1 was captured a step later.
  EXPECT_EQ(Texts(MatchInOrder({{0, 0, 10, {}},
                                {0, 1, 11, {}},
                                {0, 2, 11, {}},
                                {1, 0, 11, {}},
                                {1, 1, 11, {}},
                                {1, 2, 12, {}}})),
            (Names{"0.0", "0.1+1.0", "0.2+1.1", "1.2"}));
}

TEST(MatchInOrder, AnUnevenStepTellsNothing) {
  EXPECT_EQ(Texts(MatchInOrder(
                {{0, 0, 5, {}}, {0, 1, 5, {}}, {0, 2, 6, {}}, {1, 0, 5, {}}, {1, 1, 6, {}}})),
            (Names{"0.0", "0.1", "1.0", "0.2+1.1"}));
  EXPECT_EQ(Texts(MatchInOrder({{0, 0, -1, {}}, {0, 1, -1, {}}, {1, 0, -1, {}}})),
            (Names{"0.0", "0.1", "1.0"}));
}

TEST(MatchMostly, TakesTheEndsOfAnUnevenStep) {
  EXPECT_EQ(Texts(MatchMostly({{0, 0, 5, {}},
                               {0, 1, 5, {}},
                               {0, 2, 5, {}},
                               {0, 3, 6, {}},
                               {1, 0, 5, {}},
                               {1, 1, 5, {}},
                               {1, 2, 6, {}}})),
            (Names{"0.1", "0.0+1.0", "0.2+1.1", "0.3+1.2"}));
  EXPECT_EQ(Texts(MatchMostly({{0, 0, 5, {}}, {0, 1, 5, {}}, {1, 0, 5, {}}})),
            (Names{"1.0", "0.0", "0.1"}))
      << "a single run may be any";
}

TEST(MatchInOrder, WithoutStepsTheCaptureCounts) {
  EXPECT_EQ(Texts(MatchInOrder({{0, 0, -1, {}}, {0, 1, -1, {}}, {1, 0, 3, {}}, {1, 1, 3, {}}})),
            (Names{"0.0+1.0", "0.1+1.1"}));
  EXPECT_TRUE(MatchInOrder({}).empty());
}

// Three operations end at 100, 200 and 300. Rank 1 lost the second and rank 2 the first.
const std::vector<RankRun> kLost = {
    {0, 0, 1, {10, 100}},  {0, 1, 1, {101, 200}}, {0, 2, 1, {210, 300}}, {1, 0, 1, {80, 101}},
    {1, 1, 1, {290, 302}}, {2, 0, 1, {150, 199}}, {2, 1, 1, {220, 301}}};

TEST(MatchInTime, TellsWhichRunsRanksLost) {
  EXPECT_EQ(Texts(MatchInTime(kLost)), (Names{"0.0+1.0", "0.1+2.0", "0.2+1.1+2.1"}));
}

TEST(MatchInTime, RunsThatOnlyTouchAreTwoOperations) {
  // Clocks are off by a little: rank 1 begins the next one before rank 0 has left the one before.
  EXPECT_EQ(Texts(MatchInTime({{0, 0, 1, {10, 100}}, {1, 0, 1, {98, 120}}})),
            (Names{"0.0", "1.0"}));
  EXPECT_EQ(Texts(MatchInTime({{0, 0, 1, {10, 100}}, {1, 0, 1, {85, 115}}})), (Names{"0.0+1.0"}));
}

TEST(ShareTogether, FindsThatTheOrderIsWrong) {
  EXPECT_EQ(ShareTogether(MatchInTime(kLost)), 1);
  // Both ranks lost one of three: the second pair is of two operations.
  const std::vector<JointRanks> shifted = {{{0, 0, 1, {10, 100}}, {1, 0, 1, {80, 101}}},
                                           {{0, 1, 1, {110, 200}}, {1, 1, 1, {290, 300}}}};
  EXPECT_EQ(ShareTogether(shifted), 0.5);
}

}  // namespace
}  // namespace mpa

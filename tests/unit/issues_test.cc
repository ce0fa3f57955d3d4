// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/issues.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

using Lines = std::vector<std::string>;

TEST(Issues, SaysHowManyRowsWereLeftOutAndWhereTheFirstIs) {
  Issues issues;
  issues.Count("bad start time", "x.csv:812");
  issues.Count("bad start time", "x.csv:900");
  issues.Count("bad start time", "x.csv:901");
  EXPECT_EQ(issues.Lines(), Lines{"3 rows left out: bad start time (first: x.csv:812)"});
}

TEST(Issues, SpeaksOfOneRowInTheSingular) {
  Issues issues;
  issues.Count("bad size", "x.csv:2");
  EXPECT_EQ(issues.Lines(), Lines{"1 row left out: bad size (first: x.csv:2)"});
}

TEST(Issues, ListsTheKindsInAlphabeticalOrder) {
  Issues issues;
  issues.Count("b", "1");
  issues.Count("a", "2");
  EXPECT_EQ(issues.Lines(),
            (Lines{"1 row left out: a (first: 2)", "1 row left out: b (first: 1)"}));
}

TEST(Issues, AddsTheCountsOfALaterPartAndKeepsTheEarlierPlace) {
  Issues first, second;
  first.Count("a", "1");
  second.Count("a", "2");
  second.Count("b", "3");
  first.Merge(second);
  EXPECT_EQ(first.Lines(),
            (Lines{"2 rows left out: a (first: 1)", "1 row left out: b (first: 3)"}));
}

TEST(Issues, SaysNothingWhenNothingWasWrong) {
  Issues issues;
  EXPECT_TRUE(issues.Empty());
  EXPECT_TRUE(issues.Lines().empty());
  issues.Merge(Issues());
  EXPECT_TRUE(issues.Empty());
}

}  // namespace
}  // namespace mpa

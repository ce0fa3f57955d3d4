// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/issues.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

using IssueLines = std::vector<std::string>;

TEST(Issues, SaysHowOftenAndWhereFirst) {
  Issues issues;
  issues.Count("bad start time", "x.csv:812");
  issues.Count("bad start time", "x.csv:900");
  issues.Count("bad start time", "x.csv:901");
  EXPECT_EQ(issues.Lines(), IssueLines{"bad start time, 3 times (first: x.csv:812)"});
}

TEST(Issues, SaysOnlyWhereWhenItHappenedOnce) {
  Issues issues;
  issues.Count("bad size", "x.csv:2");
  EXPECT_EQ(issues.Lines(), IssueLines{"bad size (x.csv:2)"});
}

TEST(Issues, ListsTheKindsInAlphabeticalOrder) {
  Issues issues;
  issues.Count("b", "1");
  issues.Count("a", "2");
  EXPECT_EQ(issues.Lines(), (IssueLines{"a (2)", "b (1)"}));
}

TEST(Issues, AddsTheCountsOfALaterPartAndKeepsTheEarlierPlace) {
  Issues first, second;
  first.Count("a", "1");
  second.Count("a", "2");
  second.Count("b", "3");
  first.Merge(second);
  EXPECT_EQ(first.Lines(), (IssueLines{"a, 2 times (first: 1)", "b (3)"}));
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

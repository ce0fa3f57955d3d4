// SPDX-License-Identifier: Apache-2.0
#include "mpa/change/job_causes.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

constexpr TimeNs kCauseMs = 1'000'000;

JobCause Fault(const char* key, TimeNs ms, const char* text = "") {
  return {.key = key, .text = text, .detail = "", .cost = ms * kCauseMs};
}

JobCause Usual(const char* key, TimeNs ms) {
  JobCause cause = Fault(key, ms);
  cause.is_fault = false;
  return cause;
}

// A cause has to cost 1 ms to be told.
JobCauses Job(TimeNs step, std::vector<JobCause> causes) {
  return {step * kCauseMs, kCauseMs, std::move(causes)};
}

std::vector<std::pair<std::string, TimeNs>> ChangesIn(const ChangeNode& whole) {
  std::vector<std::pair<std::string, TimeNs>> changes;
  for (const ChangeNode& child : whole.children) {
    changes.emplace_back(child.kind == kRemainder ? "other" : child.category,
                         child.Change() / kCauseMs);
  }
  return changes;
}

using Changes = std::vector<std::pair<std::string, TimeNs>>;

TEST(JobCauses, CausesThatCameWentAndGrewAddUpWithTheRest) {
  const JobCauses base = Job(100, {Fault("went", 6), Fault("grew", 4), Fault("equal", 9)});
  const JobCauses comparison = Job(121, {Fault("came", 20), Fault("grew", 10), Fault("equal", 9)});
  const ChangeNode change = CauseChange("step", base, comparison);
  EXPECT_EQ(ChangesIn(change), (Changes{{"came", 20}, {"grew", 6}, {"went", -6}, {"other", 1}}));
  EXPECT_TRUE(ExplainsMost(change));
}

TEST(JobCauses, EqualCausesSayNothing) {
  const JobCauses base = Job(100, {Fault("equal", 9)});
  EXPECT_TRUE(CauseChange("step", base, Job(103, {Fault("equal", 9)})).children.empty());
  EXPECT_TRUE(CauseLines(CauseChange("step", base, base), 80).empty());
}

// The side without it may have 0.9 ms of it: that 1.5 ms came is not known.
TEST(JobCauses, WhatMayHaveBeenThereBelowTheThresholdIsNotNew) {
  EXPECT_TRUE(CauseChange("step", Job(100, {}), Job(101, {Fault("small", 1)})).children.empty());
}

TEST(JobCauses, HiddenCausesAreNotGone) {
  JobCause hidden = Fault("loader", 5);
  hidden.is_hidden = true;
  const ChangeNode change =
      CauseChange("step", Job(100, {Fault("loader", 5)}), Job(120, {Fault("rank", 20), hidden}));
  EXPECT_EQ(ChangesIn(change), (Changes{{"rank", 20}, {"other", 0}}));
}

// Transfers that do not overlap computing show beside a slow rank: the step grew for the rank.
TEST(JobCauses, WhatWorksAsWrittenIsNamedOnlyWhereItExplainsMore) {
  const JobCauses slow = Job(120, {Fault("rank", 20), Usual("overlap", 15)});
  EXPECT_EQ(ChangesIn(CauseChange("step", Job(100, {}), slow)),
            (Changes{{"rank", 20}, {"other", 0}}));
  EXPECT_EQ(ChangesIn(CauseChange("step", Job(100, {}), Job(115, {Usual("overlap", 15)}))),
            (Changes{{"overlap", 15}, {"other", 0}}));
}

TEST(JobCauses, OfALittleTheAccountIsTheBetterExplanation) {
  EXPECT_FALSE(ExplainsMost(CauseChange("step", Job(100, {}), Job(150, {Fault("rank", 20)}))));
}

TEST(JobCauses, LinesNameTheCauseWithItsAmount) {
  JobCause cause = Fault("rank.late_compute/r3", 6, "rank 3 computes 30 % slower");
  cause.detail = "MatMulV3 +3.2 ms";
  const auto lines =
      CauseLines(CauseChange("job of 8 ranks", Job(20, {}), Job(26, {std::move(cause)})), 80);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "job of 8 ranks: 20.000 -> 26.000 ms a step (+30.0 %)");
  EXPECT_EQ(lines[1], "  +6.000 ms rank 3 computes 30 % slower (MatMulV3 +3.2 ms), new");
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job_members.h"

#include <gtest/gtest.h>

#include "mpa/base/rank.h"
#include "support/failures.h"

namespace mpa {
namespace {

constexpr TimeNs kSecond = 1'000'000'000, kBegin = 1'736'410'577 * kSecond;

class JobMembers : public ::testing::Test {
 protected:
  // A rank that knows groups, each of which has `ranks`.
  void Add(RankId rank, std::vector<KnownGroup> groups, TimeNs begin = kBegin) {
    ranks_.push_back(rank);
    members_.push_back({.path = "/job/" + std::to_string(ranks_.size()),
                        .arguments = R"({"rank": 0, "world_size": 4})",
                        .groups = std::move(groups),
                        .begin = begin});
  }
  OtherJobs Others() const {
    std::vector<const JobMember*> members;
    for (const JobMember& member : members_) members.push_back(&member);
    return FindOtherJobs(ranks_, members);
  }

  std::vector<RankId> ranks_;
  std::vector<JobMember> members_;
};

using Positions = std::vector<std::size_t>;

TEST_F(JobMembers, RanksThatShareNoGroupAreOfOneJobWhenOthersTieThem) {
  Add(0, {{"tp0", {0, 1}}, {"dp0", {0, 2}}});
  Add(1, {{"tp0", {0, 1}}, {"dp1", {1, 3}}});
  Add(2, {{"tp1", {2, 3}}, {"dp0", {0, 2}}});
  Add(3, {{"tp1", {2, 3}}, {"dp1", {1, 3}}});
  EXPECT_TRUE(Others().note.empty()) << Others().note;
}

TEST_F(JobMembers, AMemberOfAGroupThatDoesNotKnowItIsOfAnotherJob) {
  for (const std::int64_t rank : {0, 1, 2}) Add(rank, {{"a", {0, 1, 2, 3}}});
  Add(3, {{"b", {0, 1, 2, 3}}});
  EXPECT_EQ(Others().positions, Positions{3});
  EXPECT_HAS_TEXT(Others().note, "/job/4: rank 3 is left out");
  EXPECT_HAS_TEXT(Others().note, "rank 0 lists rank 3 in the group a");
  EXPECT_HAS_TEXT(Others().note, "give each job a directory of its own");
}

TEST_F(JobMembers, WhoListsNoGroupsOrIsListedNowhereMayBeOfTheJob) {
  Add(0, {{"a", {0, 1}}});
  Add(1, {});
  Add(2, {{"b", {2, 3}}});
  EXPECT_TRUE(Others().note.empty()) << Others().note;
}

TEST_F(JobMembers, OtherArgumentsAreOfAnotherJob) {
  for (const std::int64_t rank : {0, 1, 2}) Add(rank, {});
  members_[1].arguments = R"({"rank": 1, "local_rank": 1, "world_size": 4})";
  EXPECT_TRUE(Others().note.empty()) << "the rank's own numbers differ";
  members_[1].arguments = R"({"world_size": 8})";
  EXPECT_EQ(Others().positions, Positions{1});
  EXPECT_HAS_TEXT(Others().note, "its distributed_args have world_size 8, not 4");
  members_[1].arguments = "not JSON";
  EXPECT_TRUE(Others().note.empty()) << "it does not say";
}

TEST_F(JobMembers, HoursBetweenTheBeginsAreOfTwoRuns) {
  Add(0, {}, kBegin);
  Add(1, {}, kBegin + 3600 * kSecond);
  EXPECT_TRUE(Others().note.empty()) << "an hour may be a slow start";
  Add(2, {}, kBegin + 3 * 3600 * kSecond);
  EXPECT_EQ(Others().positions, Positions{2});
  EXPECT_HAS_TEXT(Others().note, "it begins 2.0 hours after them");
  Add(3, {}, kBegin + 3 * 3600 * kSecond);
  EXPECT_EQ(Others().positions, (Positions{0, 1})) << "of equally many the last in time";
  members_[3].begin = -1;
  EXPECT_EQ(Others().positions, Positions{2}) << "a clock without a date says nothing";
}

TEST_F(JobMembers, CapturesWithoutARankDoNotClaimToBeOfAJob) {
  Add(RankOfLabel("first"), {}, kBegin);
  Add(RankOfLabel("second"), {}, kBegin + 30 * 3600 * kSecond);
  EXPECT_TRUE(Others().note.empty()) << Others().note;
}

// Each of 4,000 ranks is in 50 groups of 1,000: 200 million pairs, if each were looked at.
TEST_F(JobMembers, LargeJobsTakeNoTime) {
  RankSequence all, of_four[4];
  for (std::int64_t rank = 0; rank < 4000; ++rank) {
    all.push_back(rank);
    of_four[rank % 4].push_back(rank);
  }
  for (std::int64_t rank = 0; rank < 4000; ++rank) {
    std::vector<KnownGroup> groups;
    for (std::int64_t i = 0; i < 50; ++i)
      groups.push_back({std::to_string(rank % 4) + "_" + std::to_string(i), of_four[rank % 4]});
    groups.push_back({"all", all});
    Add(rank, std::move(groups));
  }
  EXPECT_TRUE(Others().note.empty()) << Others().note;
}

}  // namespace
}  // namespace mpa

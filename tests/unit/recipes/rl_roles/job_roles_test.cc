// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "mpa/base/error.h"
#include "recipes/rl_roles/iteration_account.h"
#include "unit/recipes/rl_roles/job_builder.h"

namespace mpa::recipes::rl_roles {
namespace {

std::set<std::size_t> DevicesOf(const JobRoles& job) {
  std::set<std::size_t> devices;
  for (const JobRun& run : job.runs) devices.insert(run.device);
  return devices;
}

bool HasNote(const JobRoles& job, std::string_view text) {
  for (const std::string& note : job.notes) {
    if (note.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(JobRoles, ADirectoryNumbersTheIteration) {
  JobBuilder job;
  JobBuilder::Run(job.Capture(0, "7/rollout_generate"), kRollout, 0, 10);
  JobBuilder::Run(job.Capture(0, "9/rollout_generate"), kRollout, 100, 110);
  const auto iterations = job.Job().Iterations();
  ASSERT_EQ(iterations.size(), 2u);
  EXPECT_EQ(iterations[0][0].iteration, 7);
  EXPECT_EQ(iterations[1][0].iteration, 9);
}

// The captures of two iterations lie in one directory, and are of one rank.
TEST(JobRoles, ARoleThatComesAgainBeginsAnIteration) {
  JobBuilder job;
  for (const TimeNs begin : {0, 1000}) {
    JobBuilder::Run(job.Capture(0, kRollout), kRollout, begin, begin + 10);
    JobBuilder::Run(job.Capture(0, kUpdate), kUpdate, begin + 20, begin + 30);
  }
  const JobRoles made = job.Job();
  EXPECT_EQ(DevicesOf(made).size(), 1u);
  const auto iterations = made.Iterations();
  ASSERT_EQ(iterations.size(), 2u);
  EXPECT_EQ(iterations[1].front().begin, 1000);
  EXPECT_EQ(iterations[1].size(), 2u);
}

// A role in several parts, as a rollout that is asked for twice, is of one iteration.
TEST(JobRoles, ARoleThatRunsTwiceInARowIsOfOneIteration) {
  JobBuilder job;
  CaptureRoles& capture = job.Capture(0);
  JobBuilder::Run(capture, kRollout, 0, 10);
  JobBuilder::Run(capture, kRollout, 5000, 5010);
  JobBuilder::Run(capture, kUpdate, 9000, 9010);
  EXPECT_EQ(job.Job().Iterations().size(), 1u);
}

TEST(JobRoles, TheChosenIterationIsKept) {
  JobBuilder job;
  CaptureRoles& capture = job.Capture(0);
  for (const TimeNs begin : {0, 5000}) {
    JobBuilder::Run(capture, kRollout, begin, begin + 10);
    JobBuilder::Run(capture, kUpdate, begin + 20, begin + 30);
  }
  capture.wanted = 1;
  ASSERT_EQ(job.Job().Iterations().size(), 1u);
  EXPECT_EQ(job.Job().runs.front().begin, 5000);
  capture.wanted = 2;
  EXPECT_THROW(job.Job(), Error);
}

// Ranks of vLLM begin anew in every replica.
TEST(JobRoles, ReplicasRunOnTheDevicesOfTheTrainer) {
  JobBuilder job;
  for (const std::int64_t replica : {0, 1}) {
    for (const std::int64_t rank : {0, 1}) {
      const std::string group = "agent_loop_rollout_replica_" + std::to_string(replica);
      JobBuilder::Run(job.Capture(rank, group, false), kRollout, 0, 10);
      JobBuilder::Run(job.Capture(2 * replica + rank, kUpdate, false), kUpdate, 20, 30);
    }
  }
  const JobRoles made = job.Job();
  EXPECT_EQ(DevicesOf(made).size(), 4u);
  EXPECT_TRUE(made.notes.empty()) << made.notes.front();
}

// Where every process sees one device, all devices have the number 0.
TEST(JobRoles, NumbersOfDevicesThatAreAllTheSameDoNotCount) {
  JobBuilder job;
  for (const std::int64_t rank : {0, 1}) {
    CaptureRoles& capture = job.Capture(rank, kRollout);
    capture.device = 0;
    JobBuilder::Run(capture, kRollout, 0, 10);
  }
  EXPECT_EQ(DevicesOf(job.Job()).size(), 2u);
}

// Engines and trainers both count their ranks from 0.
TEST(JobRoles, ARolloutThatOverlapsOtherRolesHasItsOwnDevices) {
  JobBuilder job;
  for (const std::int64_t rank : {0, 1}) {
    JobBuilder::Run(job.Capture(rank, kRollout, false), kRollout, 0, 100);
    JobBuilder::Run(job.Capture(rank, kUpdate, false), kUpdate, 10, 60);
  }
  EXPECT_EQ(DevicesOf(job.Job()).size(), 4u);
}

TEST(JobRoles, WhatWasNotCapturedIsNamed) {
  JobBuilder job;
  for (const std::int64_t rank : {0, 1, 2})
    JobBuilder::Run(job.Capture(rank, kRollout), kRollout, 0, 10);
  for (const std::int64_t rank : {0, 2})
    JobBuilder::Run(job.Capture(rank, kUpdate), kUpdate, 20, 30);
  job.Capture(5);
  const JobRoles made = job.Job();
  EXPECT_TRUE(HasNote(made, "actor_update was not captured on rank 1"));
  EXPECT_TRUE(HasNote(made, "1 of 6 captures are left out"));
  EXPECT_TRUE(made.partial);
}

TEST(JobRoles, ACaptureThatOverlapsNoOtherOfItsRoleIsNamed) {
  JobBuilder job;
  for (const std::int64_t rank : {0, 1, 2})
    JobBuilder::Run(job.Capture(rank, kRollout), kRollout, rank == 2 ? 5000 : 0,
                    rank == 2 ? 5010 : 10);
  EXPECT_TRUE(HasNote(job.Job(), "rollout_generate/rank2 overlaps no other capture"));
}

TEST(JobRoles, DirectoriesWithoutARoleAreOthersBesideRoles) {
  JobBuilder job;
  JobBuilder::Run(job.Capture(0, "env_init"), "env_init", 0, 10);
  EXPECT_THROW(job.Job(), Error);
  JobBuilder::Run(job.Capture(0, kUpdate), kUpdate, 20, 30);
  EXPECT_EQ(job.Job().runs.size(), 2u);
}

// The clocks of two hosts, which collectives of all ranks compare.
class TwoHosts : public ::testing::Test {
 protected:
  // The second host is 500 ahead.
  void Add(std::size_t collectives) {
    for (const std::int64_t rank : {0, 1}) {
      CaptureRoles& capture = job_.Capture(rank, kUpdate);
      capture.host = rank == 0 ? "a" : "b";
      const TimeNs ahead = rank == 0 ? 0 : 500'000;
      JobBuilder::Run(capture, kUpdate, ahead, ahead + 100'000);
      RankCollectives& known = capture.collectives;
      known.runs.texts = {"", "group", "allreduce"};
      for (std::size_t i = 0; i < collectives; ++i) {
        known.runs.rows.push_back({.group = 1,
                                   .name = 2,
                                   .type = 2,
                                   .start = ahead + static_cast<TimeNs>(i) * 10'000,
                                   .dur = 5'000,
                                   .group_ranks = 2});
      }
      known.seen.resize(collectives);
      known.last.resize(collectives);
      known.own_rank_of_group = {-1, static_cast<std::int32_t>(rank), -1};
    }
  }
  JobBuilder job_;
};

TEST_F(TwoHosts, CollectivesAlignTheirClocks) {
  Add(4);
  const JobRoles made = job_.Job();
  EXPECT_TRUE(made.notes.empty()) << made.notes.front();
  ASSERT_EQ(made.runs.size(), 2u);
  EXPECT_EQ(made.runs[0].begin, made.runs[1].begin);
  EXPECT_EQ(made.runs[1].Length(), 100'000);
}

TEST_F(TwoHosts, WithoutCollectivesItIsSaid) {
  Add(0);
  EXPECT_TRUE(HasNote(job_.Job(), "the clocks of b are not aligned"));
}

}  // namespace
}  // namespace mpa::recipes::rl_roles

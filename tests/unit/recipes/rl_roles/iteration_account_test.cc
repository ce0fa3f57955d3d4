// SPDX-License-Identifier: Apache-2.0
#include "recipes/rl_roles/iteration_account.h"

#include <gtest/gtest.h>

#include "unit/recipes/rl_roles/job_builder.h"

namespace mpa::recipes::rl_roles {
namespace {

// Every account adds up to its iteration on all devices.
std::vector<IterationAccount> Accounts(const JobRoles& job) {
  std::vector<IterationAccount> accounts = AccountIterations(job);
  for (const IterationAccount& one : accounts) {
    EXPECT_EQ(one.RoleTime() + one.bubble + one.waiting + one.other - one.shared, one.DeviceTime());
    TimeNs waiting = 0;
    for (const RoleAccount& role : one.roles) waiting += role.waiting;
    EXPECT_EQ(waiting, one.waiting);
    EXPECT_LE(one.bubble, one.BubbleWall() * static_cast<TimeNs>(one.devices));
  }
  return accounts;
}

TEST(IterationAccount, RolesOnTheSameDevices) {
  JobBuilder job;
  for (const std::int64_t rank : {0, 1}) {
    CaptureRoles& capture = job.Capture(rank);
    JobBuilder::Run(capture, kRollout, 0, rank == 0 ? 60 : 40);
    JobBuilder::Run(capture, kUpdate, 70, 100);
  }
  const auto accounts = Accounts(job.Job());
  ASSERT_EQ(accounts.size(), 1u);
  const IterationAccount& one = accounts.front();
  EXPECT_EQ(one.Wall(), 100);
  EXPECT_EQ(one.devices, 2u);
  EXPECT_EQ(one.bubble, 20);   // 10 on both
  EXPECT_EQ(one.waiting, 20);  // rank 1, from 40 to 60
  ASSERT_EQ(one.bubbles.size(), 1u);
  EXPECT_EQ(one.bubbles[0].time, (Interval{60, 70}));
  EXPECT_EQ(one.bubbles[0].before, kRollout);
  EXPECT_EQ(one.bubbles[0].behind, kUpdate);
  EXPECT_EQ(one.tail.idle, 20);
  EXPECT_EQ(one.tail.last_rank, 0);
  EXPECT_NEAR(one.tail.IdlePercent(), 100 * 20.0 / 120, 1e-9);
  EXPECT_EQ(one.roles[0].gain, 30);
  EXPECT_EQ(one.roles[1].gain, 15);
}

TEST(IterationAccount, ATailIsCountedFromTheFinishOfEachDevice) {
  JobBuilder job;
  for (const std::int64_t rank : {0, 1, 2}) {
    CaptureRoles& capture = job.Capture(rank);
    JobBuilder::Run(capture, kRollout, 0, 70);
    capture.runs.front().finish = rank == 0 ? 20 : rank == 1 ? 60 : 10;
  }
  const Tail tail = Accounts(job.Job()).front().tail;
  EXPECT_EQ(tail.first, 10);
  EXPECT_EQ(tail.median, 20);
  EXPECT_EQ(tail.last, 60);
  EXPECT_EQ(tail.last_rank, 1);
  EXPECT_EQ(tail.idle, 90);
  EXPECT_NEAR(tail.IdlePercent(), 100 * 90.0 / 180, 1e-9);
}

// The next rollout runs while the devices of the trainer update: only the rollout is worth scaling,
// but for the last update.
TEST(IterationAccount, RolesOfTwoIterationsAtOnce) {
  JobBuilder job;
  CaptureRoles& engine = job.Capture(0);
  CaptureRoles& trainer = job.Capture(1);
  for (const TimeNs begin : {0, 60, 120}) {
    JobBuilder::Run(engine, kRollout, begin, begin + 60);
    JobBuilder::Run(trainer, kUpdate, begin + 60, begin + 90);
  }
  const auto accounts = Accounts(job.Job());
  ASSERT_EQ(accounts.size(), 3u);
  const IterationAccount& first = accounts.front();
  EXPECT_EQ(first.Wall(), 90);
  EXPECT_EQ(first.other, 30);    // the engine generates for the next one
  EXPECT_EQ(first.waiting, 60);  // the trainer waits for the first rollout
  EXPECT_EQ(accounts[1].other, 60);
  EXPECT_EQ(first.roles[0].gain, 90);  // 210 become 120: each update is as long as the rollout
  EXPECT_EQ(first.roles[1].gain, 15);  // that of the last one
}

TEST(IterationAccount, TwoRolesOnOneDeviceAreCountedOnce) {
  JobBuilder job;
  CaptureRoles& capture = job.Capture(0);
  JobBuilder::Run(capture, kRollout, 0, 50);
  JobBuilder::Run(capture, "compute_rm_score", 40, 70);
  const auto accounts = Accounts(job.Job());
  EXPECT_EQ(accounts.front().shared, 10);
  EXPECT_EQ(accounts.front().roles[0].overlap, 10);
  EXPECT_EQ(accounts.front().roles[1].overlap, 10);
}

TEST(IterationAccount, WeightsWithinTheRolloutAreAStretchOfTheirOwn) {
  JobBuilder job;
  CaptureRoles& capture = job.Capture(0);
  JobBuilder::Run(capture, kRollout, 0, 10);
  JobBuilder::Run(capture, "weight_sync", 10, 30);
  JobBuilder::Run(capture, kRollout, 30, 60);
  JobBuilder::Run(capture, kUpdate, 60, 70);
  const auto accounts = Accounts(job.Job());
  ASSERT_EQ(accounts.size(), 1u);
  ASSERT_EQ(accounts.front().roles.size(), 3u);
  EXPECT_EQ(accounts.front().roles[0].wall, 40);
  EXPECT_EQ(accounts.front().roles[0].gain, 20);
  EXPECT_EQ(accounts.front().roles[1].gain, 10);
}

}  // namespace
}  // namespace mpa::recipes::rl_roles

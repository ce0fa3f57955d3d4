// SPDX-License-Identifier: Apache-2.0
#include "recipes/rl_roles/capture_roles.h"

#include <gtest/gtest.h>

#include "support/rank_builder.h"

namespace mpa::recipes::rl_roles {
namespace {

struct Expected {
  std::string role;
  TimeNs begin = 0, end = 0, computing = 0;
  friend bool operator==(const Expected&, const Expected&) = default;
};

std::vector<Expected> RunsOf(const RankTrace& trace) {
  std::vector<Expected> runs;
  for (const RoleRun& run : RolesOf(trace).runs) {
    EXPECT_EQ(run.times.Sum(), run.end - run.begin);
    runs.push_back({run.role, run.begin, run.end, run.times.computing});
  }
  return runs;
}

TEST(CaptureRoles, RangesOfMstxAreRoles) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Mstx("default", "update_actor", 200, 300, thread);
  rank.Mstx("default", "generate_sequences", 0, 100, thread);
  rank.Mstx("default", "something", 100, 200, thread);
  rank.KernelAt(10, 90);
  rank.KernelAt(210, 250);
  EXPECT_EQ(RunsOf(rank.trace), (std::vector<Expected>{{"rollout_generate", 0, 100, 80},
                                                       {"actor_update", 200, 300, 40}}));
}

// Ranges within others are parts of them, but for weights that are handed over.
TEST(CaptureRoles, OutermostRangesCount) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Mstx("default", "IntegratedWorker.compute_ref_log_prob", 0, 100, thread);
  rank.Mstx("default", "Reference.compute_log_prob", 10, 90, thread);
  rank.Mstx("default", "ActorHybridWorkerBase.update", 100, 200, thread);
  rank.Mstx("default", "MegatronShardingManager.enter_train_mode", 100, 130, thread);
  rank.KernelAt(5, 195);
  EXPECT_EQ(RunsOf(rank.trace), (std::vector<Expected>{{"ref_compute_log_prob", 0, 100, 95},
                                                       {"weight_sync", 100, 130, 30},
                                                       {"actor_update", 130, 200, 65}}));
}

TEST(CaptureRoles, BelowADirectoryAllIsOfOneRole) {
  test::RankBuilder rank;
  rank.trace.capture_group = "2/actor_update";
  rank.KernelAt(50, 60);
  rank.KernelAt(90, 100);
  EXPECT_EQ(RunsOf(rank.trace), (std::vector<Expected>{{"actor_update", 50, 100, 20}}));
  EXPECT_EQ(RolesOf(rank.trace).directories.iteration, 2);
  rank.Mstx("default", "update_actor", 40, 120, rank.Thread(1));
  EXPECT_EQ(RunsOf(rank.trace), (std::vector<Expected>{{"actor_update", 40, 120, 20}}));
}

// Rewards are often computed on the host, and light captures have no work of the device.
TEST(CaptureRoles, ARangeWithoutDeviceWorkIsFree) {
  test::RankBuilder rank;
  rank.Mstx("default", "compute_rm_score", 0, 100, rank.Thread(1));
  EXPECT_EQ(RunsOf(rank.trace), (std::vector<Expected>{{"compute_rm_score", 0, 100, 0}}));
}

TEST(CaptureRoles, ADirectoryWithoutDeviceWorkHasNoTime) {
  test::RankBuilder rank;
  rank.trace.capture_group = "actor_update";
  EXPECT_TRUE(RunsOf(rank.trace).empty());
}

TEST(CaptureRoles, TheLastKernelEndsTheWork) {
  test::RankBuilder rank;
  rank.Mstx("default", "generate_sequences", 0, 100, rank.Thread(1));
  rank.KernelAt(10, 40);
  rank.KernelAt(50, 70);
  EXPECT_EQ(RolesOf(rank.trace).runs.front().finish, 70);
}

}  // namespace
}  // namespace mpa::recipes::rl_roles

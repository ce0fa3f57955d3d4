// SPDX-License-Identifier: Apache-2.0
#include "recipes/rl_roles/role_names.h"

#include <gtest/gtest.h>

namespace mpa::recipes::rl_roles {
namespace {

// As verl and MindSpeed-RL name the directories of their discrete captures.
TEST(RoleNames, AreReadOfDirectories) {
  for (const char* name : {"rollout_generate", "actor_generate", "agent_loop_rollout_replica_0"})
    EXPECT_EQ(ReadRole(name), "rollout_generate") << name;
  EXPECT_EQ(ReadRole("actor_compute_log_prob"), "actor_compute_log_prob");
  EXPECT_EQ(ReadRole("reference_compute_log_prob"), "ref_compute_log_prob");
  EXPECT_EQ(ReadRole("critic_compute_values"), "compute_values");
  EXPECT_EQ(ReadRole("critic_update"), "critic_update");
}

// As they name ranges: functions, in MindSpeed-RL with their classes.
TEST(RoleNames, AreReadOfFunctions) {
  EXPECT_EQ(ReadRole("update_actor"), "actor_update");
  EXPECT_EQ(ReadRole("ActorHybridWorker.generate_sequences"), "rollout_generate");
  EXPECT_EQ(ReadRole("ActorHybridWorker.update"), "actor_update");
  EXPECT_EQ(ReadRole("CriticWorker.update"), "critic_update");
  EXPECT_EQ(ReadRole("ActorRolloutHybrid.compute_log_prob"), "actor_compute_log_prob");
  EXPECT_EQ(ReadRole("Reference.compute_log_prob"), "ref_compute_log_prob");
  EXPECT_EQ(ReadRole("Reward.compute_rm_score"), "compute_rm_score");
  EXPECT_EQ(ReadRole("MegatronShardingManager.enter_infer_mode"), "weight_sync");
}

TEST(RoleNames, OtherNamesAreNone) {
  for (const char* name : {"", "update", "Optimizer.update", "aten::values", "my_update_actor",
                           "train", "e2e", "ProfilerStep#3"})
    EXPECT_EQ(ReadRole(name), std::nullopt) << name;
}

TEST(RoleNames, EachRoleIsOfAKind) {
  EXPECT_EQ(NameOf(KindOf("critic_update")), "update");
  EXPECT_EQ(NameOf(KindOf("weight_sync")), "weight sync");
  EXPECT_EQ(NameOf(KindOf("env_init")), "other");
}

TEST(RoleNames, DirectoriesNumberIterationsAndReplicas) {
  const auto expect = [](const char* way, const char* role, std::int64_t iteration,
                         std::int64_t replica) {
    const NamedDirectories named = ReadDirectories(way);
    EXPECT_EQ(named.role, role) << way;
    EXPECT_EQ(named.iteration, iteration) << way;
    EXPECT_EQ(named.replica, replica) << way;
  };
  expect("", "", -1, -1);
  expect("3/actor_update", "actor_update", 3, -1);
  expect("global_step_12/update_actor", "actor_update", 12, -1);
  expect("rollout_step_4/agent_loop_replica_2", "rollout_generate", 4, 2);
  expect("actor_update/node0", "actor_update", -1, -1);
  expect("5/env_init", "env_init", 5, -1);
  expect("5", "", 5, -1);
  expect("node7", "node7", -1, -1);
}

}  // namespace
}  // namespace mpa::recipes::rl_roles

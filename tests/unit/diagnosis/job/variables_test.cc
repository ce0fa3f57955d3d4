// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/causes/variables.h"

#include <gtest/gtest.h>

#include "mpa/diagnosis/part/part.h"

namespace mpa {
namespace {

TEST(Variables, WhatIsPoor) {
  const auto is_poor = [](const char* name, const char* value) {
    return IsPoor(*VariableNamed(name), {{name, value}});
  };
  // 3 is "errors only", 4 nothing at all.
  for (const char* level : {"0", "1", "2"})
    EXPECT_TRUE(is_poor("ASCEND_GLOBAL_LOG_LEVEL", level)) << level;
  for (const char* level : {"3", "4"})
    EXPECT_FALSE(is_poor("ASCEND_GLOBAL_LOG_LEVEL", level)) << level;
  EXPECT_TRUE(is_poor("TASK_QUEUE_ENABLE", "0"));
  EXPECT_FALSE(is_poor("TASK_QUEUE_ENABLE", "1"));
  EXPECT_TRUE(is_poor("HCCL_DETERMINISTIC", "strict"));
  EXPECT_FALSE(is_poor("HCCL_DETERMINISTIC", "false"));
  EXPECT_TRUE(is_poor("ACLNN_CACHE_LIMIT", "9999"));
  EXPECT_FALSE(is_poor("ACLNN_CACHE_LIMIT", "10000"));
  EXPECT_FALSE(IsPoor(*VariableNamed("ACLNN_CACHE_LIMIT"), {}));
  EXPECT_EQ(VariableNamed("HOST_CACHE_CAPACITY"), nullptr);
}

TEST(Variables, ABetterValueMayBeThereAlready) {
  EXPECT_TRUE(IsDone("TASK_QUEUE_ENABLE", "2", {{"TASK_QUEUE_ENABLE", "2"}}));
  EXPECT_FALSE(IsDone("TASK_QUEUE_ENABLE", "2", {{"TASK_QUEUE_ENABLE", "1"}}));
  EXPECT_FALSE(IsDone("TASK_QUEUE_ENABLE", "2", {}));
  EXPECT_TRUE(IsDone("CPU_AFFINITY_CONF", "2", {{"CPU_AFFINITY_CONF", "2,npu0:0-9"}}));
  EXPECT_FALSE(IsDone("CPU_AFFINITY_CONF", "2", {{"CPU_AFFINITY_CONF", "1,npu2:0-9"}}));
  EXPECT_TRUE(
      IsDone("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True",
             {{"PYTORCH_NPU_ALLOC_CONF", "max_split_size_mb:64,expandable_segments:True"}}));
}

TEST(Variables, TheQueueIsVoidWhileLaunchesBlock) {
  const Settings blocking = {{"ASCEND_LAUNCH_BLOCKING", "1"}, {"TASK_QUEUE_ENABLE", "0"}};
  EXPECT_FALSE(IsPoor(*VariableNamed("TASK_QUEUE_ENABLE"), blocking));
  EXPECT_TRUE(IsDone("TASK_QUEUE_ENABLE", "2", blocking));
  EXPECT_TRUE(IsPoor(*VariableNamed("ASCEND_LAUNCH_BLOCKING"), blocking));
  EXPECT_FALSE(IsDone("TASK_QUEUE_ENABLE", "2", {{"ASCEND_LAUNCH_BLOCKING", "0"}}));
}

TEST(Variables, SettingsOfAJobShowWhereRanksDiffer) {
  std::vector<RankDiagnosis> parts(4);
  for (RankDiagnosis& part : parts) {
    part.settings = {{"TASK_QUEUE_ENABLE", "2"},
                     {"HCCL_ALGO", "ring"},
                     {"profiler.stack", "on"},
                     {"HOME", "/root"}};
  }
  parts[3].settings["TASK_QUEUE_ENABLE"] = "0";
  parts[1].settings.erase("HCCL_ALGO");
  const std::vector<DiagnosedRank> ranks = {
      {0, &parts[0]}, {1, &parts[1]}, {2, &parts[2]}, {3, &parts[3]}};
  EXPECT_EQ(SettingsOf(ranks), (std::map<std::string, std::string>{
                                   {"HCCL_ALGO", "none (rank 1), ring (ranks 0, 2, 3)"},
                                   {"TASK_QUEUE_ENABLE", "0 (rank 3), 2 (ranks 0-2)"},
                                   {"profiler.stack", "on"}}));
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "mpa/settings/differences.h"

#include <gtest/gtest.h>

#include <string>

#include "support/in_chinese.h"

namespace mpa {
namespace {

RecordedSettings Environment(SettingValues values) {
  return {{SettingKind::kEnvironment, std::move(values)}};
}

std::string LineOf(const RecordedSettings& base, const RecordedSettings& comparison) {
  return SettingsLine(CompareSettings(base, comparison));
}

TEST(SettingDifferences, WhatCostsTimeIsSaidSo) {
  const RecordedSettings off = Environment({{"ASCEND_LAUNCH_BLOCKING", "0"}}),
                         on = Environment({{"ASCEND_LAUNCH_BLOCKING", "1"}});
  EXPECT_EQ(LineOf(off, on),
            "settings that differ: ASCEND_LAUNCH_BLOCKING 0 -> 1 (costs time: the host waits for"
            " the device at every launch)");
  EXPECT_EQ(LineOf(on, off),
            "settings that differ: ASCEND_LAUNCH_BLOCKING 1 -> 0 (the base's value costs time: the"
            " host waits for the device at every launch)");
  EXPECT_EQ(LineOf(on, on), "");
  EXPECT_EQ(
      LineOf(Environment({{"ASCEND_GLOBAL_LOG_LEVEL", "0"}}),
             Environment({{"ASCEND_GLOBAL_LOG_LEVEL", "1"}})),
      "settings that differ: ASCEND_GLOBAL_LOG_LEVEL 0 -> 1 (both cost time: the host writes a"
      " log of what it does)");
}

TEST(SettingDifferences, WhatHasNoEffectCostsNothing) {
  // Without a queue, its second stage is no loss.
  const ComparedSettings compared =
      CompareSettings(Environment({{"ASCEND_LAUNCH_BLOCKING", "1"}, {"TASK_QUEUE_ENABLE", "1"}}),
                      Environment({{"ASCEND_LAUNCH_BLOCKING", "1"}, {"TASK_QUEUE_ENABLE", "0"}}));
  ASSERT_EQ(compared.differing.size(), 1u);
  EXPECT_FALSE(compared.differing[0].comparison_costs);
}

TEST(SettingDifferences, WhatCostsTimeComesFirstThenByKind) {
  RecordedSettings base = Environment({{"HCCL_ALGO", ""}, {"TASK_QUEUE_ENABLE", "2"}}),
                   comparison =
                       Environment({{"HCCL_ALGO", "level0:ring"}, {"TASK_QUEUE_ENABLE", "0"}});
  base[SettingKind::kMetadata]["layers"] = "2";
  comparison[SettingKind::kMetadata]["layers"] = "4";
  base[SettingKind::kProfiler]["with_stack"] = "on";
  comparison[SettingKind::kProfiler]["with_stack"] = "off";
  EXPECT_EQ(
      LineOf(base, comparison),
      "settings that differ: TASK_QUEUE_ENABLE 2 -> 0 (costs time: the thread that calls operators"
      " also launches them), with_stack on -> off (the base's value costs time: host times are"
      " inflated, most for small operators), HCCL_ALGO not set -> level0:ring, layers 2 -> 4");
}

TEST(SettingDifferences, WhatOneSideDoesNotRecordIsUnknown) {
  const RecordedSettings gpu = {{SettingKind::kMetadata, {}}},
                         npu = {{SettingKind::kEnvironment, {{"HCCL_ALGO", "ring"}}},
                                {SettingKind::kMetadata, {}}};
  const ComparedSettings compared = CompareSettings(gpu, npu);
  EXPECT_TRUE(compared.differing.empty());
  EXPECT_EQ(compared.only_in_comparison, std::vector{SettingKind::kEnvironment});
  EXPECT_TRUE(compared.only_in_base.empty());
  EXPECT_EQ(SettingsLine(compared), "");
}

TEST(SettingDifferences, AVariableThatOnlyOneSideLists) {
  const RecordedSettings short_list = Environment({{"HCCL_ALGO", ""}});
  EXPECT_EQ(LineOf(short_list, Environment({{"HCCL_ALGO", ""}, {"TASK_QUEUE_ENABLE", ""}})), "");
  EXPECT_EQ(LineOf(short_list, Environment({{"HCCL_ALGO", ""}, {"OMP_NUM_THREADS", "8"}})),
            "settings that differ: OMP_NUM_THREADS not recorded -> 8");
  // Older profilers do not record every switch and version.
  EXPECT_EQ(LineOf({{SettingKind::kProfiler, {{"mstx", "on"}}}}, {{SettingKind::kProfiler, {}}}),
            "");
  EXPECT_EQ(
      LineOf({{SettingKind::kVersion, {{"cann_version", "8"}}}}, {{SettingKind::kVersion, {}}}),
      "");
  EXPECT_EQ(LineOf({{SettingKind::kMetadata, {}}}, {{SettingKind::kMetadata, {{"mode", "fast"}}}}),
            "settings that differ: mode not set -> fast");
}

TEST(SettingDifferences, NoiseIsLeftOut) {
  const RecordedSettings base = {{SettingKind::kMetadata, {{"save_dir", "/a"}, {"pid", "1"}}}},
                         comparison = {
                             {SettingKind::kMetadata, {{"save_dir", "/b"}, {"pid", "2"}}}};
  const ComparedSettings compared = CompareSettings(base, comparison);
  EXPECT_TRUE(compared.differing.empty());
  EXPECT_EQ(compared.compared, 0u);
}

TEST(SettingDifferences, TheLineIsBounded) {
  SettingValues few, none;
  for (int i = 0; i < 400; ++i) {
    few["setting_" + std::to_string(1000 + i)] = std::string(150, 'x');
    none["setting_" + std::to_string(1000 + i)] = "";
  }
  const std::string line =
      LineOf({{SettingKind::kMetadata, none}}, {{SettingKind::kMetadata, few}});
  EXPECT_LE(line.size(), 420u);
  // "setting_1000 not set -> xxx...", 61 characters and ", " between: 4 of them stay below 300.
  EXPECT_TRUE(line.ends_with("; 396 more: see check")) << line;
}

TEST(SettingDifferences, LongValuesShowWhereTheyDiffer) {
  const std::string same = "expandable_segments:True,garbage_collection_threshold:0.9,";
  EXPECT_EQ(LineOf(Environment({{"PYTORCH_NPU_ALLOC_CONF", same + "max_split_size_mb:64"}}),
                   Environment({{"PYTORCH_NPU_ALLOC_CONF", same + "max_split_size_mb:128"}})),
            "settings that differ: PYTORCH_NPU_ALLOC_CONF ...t_size_mb:64 -> ...t_size_mb:128");
}

TEST(SettingDifferences, WhatTwoOfThemCostIsSaidOnce) {
  const RecordedSettings off = {{SettingKind::kProfiler,
                                 {{"with_modules", "off"}, {"with_stack", "off"}}}},
                         on = {{SettingKind::kProfiler,
                                {{"with_modules", "on"}, {"with_stack", "on"}}}};
  EXPECT_EQ(
      LineOf(off, on),
      "settings that differ: with_modules off -> on (costs time: host times are inflated, most"
      " for small operators), with_stack off -> on (costs time)");
}

TEST(SettingDifferences, TheFormOfTheResultsIsNoDifference) {
  EXPECT_EQ(LineOf({{SettingKind::kProfiler, {{"export_type", "text"}}}},
                   {{SettingKind::kProfiler, {{"export_type", "db"}}}}),
            "");
}

TEST(SettingDifferences, InChinese) {
  EXPECT_EQ(
      InChinese([&] {
        return SettingsLine(CompareSettings(Environment({{"ASCEND_LAUNCH_BLOCKING", ""}}),
                                            Environment({{"ASCEND_LAUNCH_BLOCKING", "1"}})));
      }),
      "取值不同的设置：ASCEND_LAUNCH_BLOCKING 未设置 -> 1（影响性能：每次下发都等待设备完成）");
}

}  // namespace
}  // namespace mpa

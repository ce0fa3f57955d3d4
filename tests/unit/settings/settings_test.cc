// SPDX-License-Identifier: Apache-2.0
#include "mpa/settings/settings.h"

#include <gtest/gtest.h>

#include <string>

namespace mpa {
namespace {

std::string KeptAs(const std::string& name, const std::string& value) {
  RecordedSettings settings;
  AddSetting(SettingKind::kMetadata, name, value, settings);
  return settings[SettingKind::kMetadata][name];
}

TEST(Settings, SecretsAreNeverKept) {
  for (const char* name : {"HF_TOKEN", "api_key", "wandb.apiKey", "db_password", "client_secret"})
    EXPECT_EQ(KeptAs(name, "abc"), "(hidden)") << name;
  for (const char* value :
       {"ghp_0123456789abcdef0123", "https://me:pass@host/x", "train.py --hf_token=abc"})
    EXPECT_EQ(KeptAs("note", value), "(hidden)") << value;
  EXPECT_EQ(KeptAs("HF_TOKEN", ""), "");  // it is not set
}

TEST(Settings, NamesWithTokensInThemAreNoSecrets) {
  for (const char* name : {"max_tokens", "tokenizer", "token_dispatcher", "key", "hidden_size"})
    EXPECT_EQ(KeptAs(name, "4096"), "4096") << name;
}

TEST(Settings, LongValuesAreShortenedAndStayDifferent) {
  const std::string same(300, 'a');
  const std::string one = KeptAs("list", same + "1"), other = KeptAs("list", same + "2");
  EXPECT_LE(one.size(), 200u);
  EXPECT_NE(one, other);
  EXPECT_EQ(KeptAs("list", one), one);  // as a baseline is read again
  EXPECT_EQ(KeptAs("list", same.substr(0, 200)), same.substr(0, 200));
}

TEST(Settings, SoManyAreKept) {
  RecordedSettings settings;
  for (std::size_t i = 0; i < kMaxSettings; ++i)
    EXPECT_TRUE(AddSetting(SettingKind::kMetadata, std::to_string(i), "1", settings));
  EXPECT_FALSE(AddSetting(SettingKind::kMetadata, "more", "1", settings));
  EXPECT_TRUE(AddSetting(SettingKind::kMetadata, "7", "2", settings));  // another value
  EXPECT_EQ(settings[SettingKind::kMetadata].size(), kMaxSettings);
}

TEST(Settings, WhatDiffersInEveryRun) {
  const std::pair<const char*, const char*> by_nature[] = {
      {"data", "/data/run_7/part"},
      {"data", "~/part"},
      {"repository", "https://host/group/project"},
      {"output_dir", "runs/7"},
      {"begun", "2026-11-28T10:52:02"},
      {"begun", "20261128_105202"},
      {"begun", "1764246878131995320"},
      {"start_time", "1764246878"},
      {"started", "yesterday"},
      {"hostname", "node-7"},
      {"MASTER_ADDR", "node-7"},
      {"MASTER_PORT", "29500"},
      {"peer", "10.91.105.40:29500"},
      {"group", "90.91.105.40%enp189s0f0_60000_0_1736410538306028"},
      {"peer", "fe80::1"},
      {"trainer.pid", "43364"},
      {"job_id", "17"},
      {"key", "123e4567-e89b-12d3-a456-426614174000"},
      {"distributed_args.rank", "3"},
      {"tensor_model_parallel_rank", "1"},
      {"hook", "<function f at 0x7f12a0>"}};
  for (const auto& [name, value] : by_nature) EXPECT_TRUE(DiffersByNature(name, value)) << name;
}

TEST(Settings, WhatIsChosen) {
  const std::pair<const char*, const char*> chosen[] = {
      {"ASCEND_LAUNCH_BLOCKING", "1"},
      {"PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True,max_split_size_mb:128"},
      {"HCCL_CONNECT_TIMEOUT", "1800"},
      {"torch_npu_version", "2.7.1.20251128"},
      {"driver_version", "24.1.0.3"},
      {"lora_rank", "8"},
      {"distributed_args.world_size", "8"},
      {"parameters", "1300000000"},
      {"commit", "0123456789abcdef0123456789abcdef01234567"},
      {"model_id", "large"},
      {"seed", "17"},
      {"ratio", "0.25"},
      {"CPU_AFFINITY_CONF", "1,npu0:0-3"},
      {"mesh", "2x4"}};
  for (const auto& [name, value] : chosen) EXPECT_FALSE(DiffersByNature(name, value)) << name;
}

TEST(Settings, RanksAreJoined) {
  const auto with = [](const char* value) {
    return RecordedSettings{{SettingKind::kEnvironment, {{"A", value}}}};
  };
  const RecordedSettings one = with("1"), none = with(""), two = with("2"), three = with("3");
  const auto joined = [](const std::vector<const RecordedSettings*>& captures) {
    return JoinSettings(captures)[SettingKind::kEnvironment]["A"];
  };
  EXPECT_EQ(joined({&one, &one}), "1");
  EXPECT_EQ(joined({&none, &none}), "");
  EXPECT_EQ(joined({&two, &none, &one}), "not set, 1, 2");
  EXPECT_EQ(joined({&two, &none, &one, &three}), "not set, 1, 2 and 1 more");
  const RecordedSettings other = {{SettingKind::kMetadata, {}}};
  EXPECT_EQ(
      JoinSettings({&one, &other}),
      (RecordedSettings{{SettingKind::kEnvironment, {{"A", "1"}}}, {SettingKind::kMetadata, {}}}));
}

TEST(Settings, FlatNamesAndBack) {
  const RecordedSettings settings = {{SettingKind::kEnvironment, {{"A", "1"}, {"B", ""}}},
                                     {SettingKind::kMetadata, {}}};
  const SettingValues flat = {
      {"environment:", ""}, {"environment:A", "1"}, {"environment:B", ""}, {"metadata:", ""}};
  EXPECT_EQ(FlatSettings(settings), flat);
  SettingValues more = flat;
  more["A"] = "1";
  more["profiler.stack"] = "on";
  EXPECT_EQ(SettingsFromFlat(more), settings);
}

}  // namespace
}  // namespace mpa

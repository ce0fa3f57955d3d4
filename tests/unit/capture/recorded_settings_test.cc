// SPDX-License-Identifier: Apache-2.0
#include "mpa/capture/recorded_settings.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "mpa/capture/capture.h"
#include "support/files.h"

namespace mpa {
namespace {

RecordedSettings MetadataIn(const char* document) {
  RecordedSettings settings;
  AddMetadata(nlohmann::json::parse(document), settings);
  return settings;
}

TEST(RecordedSettings, OfMetadata) {
  EXPECT_EQ(MetadataIn(R"({
              "ENV_VARIABLES": {"HCCL_ALGO": "", "TASK_QUEUE_ENABLE": "2"},
              "parallel_group_info": {"0": {"global_ranks": [0, 1]}},
              "SCHEMA_VERSION": "1.0.0", "SCHEMA_VERSION_MAJOR": 1,
              "distributed_args": {"tensor_model_parallel_size": 2, "sequence_parallel": false},
              "torch_npu_version": "2.7.1",
              "note": "a text", "model": "{\"layers\": 2, \"sizes\": [1, 2]}",
              "stages": [{"depth": 1}, {"depth": 2}], "seed": null})"),
            (RecordedSettings{
                {SettingKind::kEnvironment, {{"HCCL_ALGO", ""}, {"TASK_QUEUE_ENABLE", "2"}}},
                {SettingKind::kVersion, {{"torch_npu_version", "2.7.1"}}},
                {SettingKind::kMetadata,
                 {{"distributed_args.tensor_model_parallel_size", "2"},
                  {"distributed_args.sequence_parallel", "false"},
                  {"note", "a text"},
                  {"model.layers", "2"},
                  {"model.sizes", "1, 2"},
                  {"stages.0.depth", "1"},
                  {"stages.1.depth", "2"},
                  {"seed", ""}}}}));
  EXPECT_EQ(MetadataIn("{}"), (RecordedSettings{{SettingKind::kMetadata, {}}}));
  EXPECT_EQ(MetadataIn("[1]"), RecordedSettings());
  EXPECT_EQ(MetadataIn(R"({"text": "{broken", "list": "[1, "})")[SettingKind::kMetadata],
            (SettingValues{{"text", "{broken"}, {"list", "[1, "}}));
}

TEST(RecordedSettings, NestedWithoutEnd) {
  std::string text = "1";
  for (int i = 0; i < 100; ++i) text = "{\"a\": " + text + "}";
  EXPECT_EQ(MetadataIn(text.c_str())[SettingKind::kMetadata],
            (SettingValues{{"a.a.a.a.a.a.a", "..."}}));
}

TEST(RecordedSettings, OfProfilerInfo) {
  const test::TempDir dir;
  const ProfilerInfo info = ReadProfilerInfo(dir.Write("profiler_info_0.json", R"({
      "config": {"common_config": {"activities": ["NPU", "ProfilerActivity.CPU"],
                                   "schedule": {"active": 2, "wait": 0}, "with_stack": true},
                 "experimental_config": {"_profiler_level": "Level1", "_gc_detect_threshold": null,
                                         "_export_type": ["text", "db"], "_host_sys": []}},
      "start_info": {"freq": 100}, "rank_id": 0, "torch_npu_version": "2.7.1",
      "cann_version": "8.3.RC1"})"));
  EXPECT_EQ(info.recorded,
            (RecordedSettings{{SettingKind::kProfiler,
                               {{"activities", "ProfilerActivity.CPU and ProfilerActivity.NPU"},
                                {"schedule.active", "2"},
                                {"schedule.wait", "0"},
                                {"with_stack", "on"},
                                {"profiler_level", "Level1"},
                                {"gc_detect_threshold", ""},
                                {"export_type", "text, db"},
                                {"host_sys", ""}}},
                              {SettingKind::kVersion,
                               {{"torch_npu_version", "2.7.1"}, {"cann_version", "8.3.RC1"}}}}));
}

TEST(RecordedSettings, OfATraceOfTorchProfiler) {
  const test::TempDir dir;
  const auto read = [&](const char* members) {
    return ReadGpuTraceFacts(
               dir.Write("trace.json", std::string("{") + members + R"(, "traceEvents": []})"))
        .recorded;
  };
  EXPECT_EQ(read(R"("schemaVersion": 1, "deviceProperties": [{"name": "GPU"}], "with_stack": 1,
                    "cuda_runtime_version": 12040, "trace_id": "0A", "run": {"batch": 8},
                    "distributedInfo": {"rank": 0, "nccl_version": "2.21.5"})"),
            (RecordedSettings{{SettingKind::kProfiler,
                               {{"record_shapes", "off"},
                                {"profile_memory", "off"},
                                {"with_stack", "on"},
                                {"with_modules", "off"},
                                {"with_flops", "off"}}},
                              {SettingKind::kVersion,
                               {{"cuda_runtime_version", "12040"}, {"nccl_version", "2.21.5"}}},
                              {SettingKind::kMetadata, {{"run.batch", "8"}}}}));
  // Old exporters do not write the switches.
  EXPECT_EQ(read(R"("schemaVersion": 1, "deviceProperties": [{"name": "GPU"}],
                    "distributedInfo": {"rank": 0})"),
            (RecordedSettings{{SettingKind::kMetadata, {}}}));
}

}  // namespace
}  // namespace mpa

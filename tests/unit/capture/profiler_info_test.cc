// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/capture/capture.h"
#include "support/failures.h"
#include "support/files.h"

namespace mpa {
namespace {

ProfilerInfo Read(std::string_view content) {
  const test::TempDir dir;
  return ReadProfilerInfo(dir.Write("profiler_info_0.json", content));
}

TEST(ProfilerInfo, ReadsHowTheCaptureWasCollected) {
  const ProfilerInfo info = Read(R"({
      "config": {
        "common_config": {"activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"],
          "schedule": {"wait": 1, "warmup": 2, "active": 3, "repeat": 4, "skip_first": 5},
          "record_shapes": true, "profile_memory": true, "with_stack": false, "with_modules": true},
        "experimental_config": {"_profiler_level": "Level1",
         "_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION",
          "_msprof_tx": false, "_mstx": true}},
      "start_info": {}, "end_info": {"FreqClock": 1}, "torch_npu_version": "2.1.0",
       "cann_version": "8.0",
      "rank_id": 3})");
  EXPECT_EQ(info.rank, 0);  // the file is called profiler_info_0.json
  EXPECT_EQ(info.level, "Level1");
  EXPECT_EQ(info.aic_metrics, "ACL_AICORE_PIPE_UTILIZATION");
  EXPECT_TRUE(info.HasActivity("ProfilerActivity.CPU"));
  EXPECT_FALSE(info.HasActivity("ProfilerActivity.GPU"));
  ASSERT_TRUE(info.schedule);
  EXPECT_EQ(info.schedule->wait, 1);
  EXPECT_EQ(info.schedule->warmup, 2);
  EXPECT_EQ(info.schedule->active, 3);
  EXPECT_EQ(info.schedule->repeat, 4);
  EXPECT_EQ(info.schedule->skip_first, 5);
  EXPECT_TRUE(info.record_shapes && info.profile_memory && info.with_modules && info.mstx);
  EXPECT_FALSE(info.with_stack);
  EXPECT_TRUE(info.has_end);
  EXPECT_EQ(info.torch_npu_version, "2.1.0");
  EXPECT_EQ(info.cann_version, "8.0");
}

TEST(ProfilerInfo, TakesMembersOfUnexpectedTypeForAbsent) {
  const ProfilerInfo info = Read(R"({
      "config": {"common_config": {"activities": 7, "schedule": "default", "record_shapes": "yes"},
                 "experimental_config": {"_profiler_level": 1, "_aic_metrics": null, "_mstx": 1}},
      "end_info": [], "torch_npu_version": {}, "rank_id": "x"})");
  EXPECT_EQ(info.rank, 0);  // the file is called profiler_info_0.json
  EXPECT_EQ(info.level, "");
  EXPECT_EQ(info.aic_metrics, "");
  EXPECT_TRUE(info.activities.empty());
  EXPECT_FALSE(info.schedule);
  EXPECT_FALSE(info.record_shapes || info.mstx || info.has_end);
  EXPECT_EQ(info.torch_npu_version, "");
}

TEST(ProfilerInfo, TakesDocumentsThatSayNothing) {
  for (const char* text : {"", "{}", "[]", "3", "null", R"({"config": [1, 2]})"}) {
    const ProfilerInfo info = Read(text);
    EXPECT_EQ(info.rank, 0) << text;  // of the file's name
    EXPECT_EQ(info.level, "") << text;
    EXPECT_FALSE(info.Minimal()) << text;
  }
}

TEST(ProfilerInfo, ReadsARankWrittenAsText) {
  const test::TempDir dir;
  const auto path = dir.Write("profiler_info.json", R"({"rank_id": "12"})");
  EXPECT_EQ(ReadProfilerInfo(path).rank, 12);
}

TEST(ProfilerInfo, TheNumberInTheNameIsTheRank) {
  for (const char* odd : {R"("../../x")", "-5", "1.5", "null", "{}", "3"}) {
    const ProfilerInfo info = Read(std::string(R"({"rank_id": )") + odd + "}");
    EXPECT_EQ(info.rank, 0) << odd;
    EXPECT_NE(info.rank_problem.find("profiler_info_0.json: rank_id is "), std::string::npos);
  }
  for (const char* whole : {R"({"rank_id": 0})", R"({"rank_id": "0"})", "{}"}) {
    EXPECT_EQ(Read(whole).rank_problem, "") << whole;
  }
}

TEST(ProfilerInfo, CallsLevel0WithoutHostActivityMinimal) {
  const auto minimal = [](std::string_view level, std::string_view activity) {
    return Read(R"({"config": {"common_config": {"activities": [")" + std::string(activity) +
                R"("]}, "experimental_config": {"_profiler_level": ")" + std::string(level) +
                R"("}}})")
        .Minimal();
  };
  EXPECT_TRUE(minimal("Level0", "ProfilerActivity.NPU"));
  EXPECT_FALSE(minimal("Level0", "ProfilerActivity.CPU"));
  EXPECT_FALSE(minimal("Level1", "ProfilerActivity.NPU"));
}

TEST(ProfilerInfo, NamesTheFileThatIsBroken) {
  const Error error = test::ErrorOf([] { Read("{"); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "profiler_info_0.json");
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Finding captures and telling their files apart.
#include "mpa/capture/capture.h"

#include <gtest/gtest.h>

#include "support/failures.h"
#include "support/files.h"

namespace mpa {
namespace {

using test::ErrorOf;
using Names = std::vector<std::string>;

class CaptureTest : public ::testing::Test {
 protected:
  RankInput Open(std::string_view name) const { return OpenRank(dir_ / name, {.force = true}); }
  void WriteText(const std::string& rank) const {
    dir_.Write(rank + "/ASCEND_PROFILER_OUTPUT/trace_view.json", "[]");
  }

  test::TempDir dir_;
};

TEST_F(CaptureTest, FindsTheFilesOfATextCapture) {
  WriteText("r_ascend_pt");
  for (const char* name :
       {"kernel_details.csv", "memory_record.csv", "operator_memory.csv", "op_statistic.csv",
        "communication.json", "step_trace_time.csv", "notes.txt"}) {
    dir_.Write(std::string("r_ascend_pt/ASCEND_PROFILER_OUTPUT/") + name, "12345");
  }
  dir_.Write("r_ascend_pt/profiler_metadata.json", "{}");
  dir_.Write("r_ascend_pt/profiler_info_3.json", R"({"rank_id": 3})");
  const RankInput rank = Open("r_ascend_pt");
  EXPECT_EQ(rank.kind, CaptureKind::kNpuText);
  EXPECT_EQ(rank.files.size(), 8u);
  for (const FileKind kind :
       {FileKind::kTraceView, FileKind::kMemoryRecord, FileKind::kOperatorMemory,
        FileKind::kOpStatistic, FileKind::kCommunication, FileKind::kStepTraceTime,
        FileKind::kProfilerMetadata}) {
    EXPECT_NE(rank.Find(kind), nullptr) << static_cast<int>(kind);
  }
  ASSERT_NE(rank.Find(FileKind::kKernelDetails), nullptr);
  EXPECT_EQ(rank.Find(FileKind::kKernelDetails)->bytes, 5);
  EXPECT_EQ(rank.Find(FileKind::kProfilerDb), nullptr);
  ASSERT_TRUE(rank.info);
  EXPECT_EQ(rank.info->rank, 3);
}

TEST_F(CaptureTest, NamesALinkThatLeadsToItself) {
  const std::filesystem::path loop = dir_ / "r_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json";
  std::filesystem::create_directories(loop.parent_path());
  std::filesystem::create_symlink(loop, loop);
  const Error error = test::ErrorOf([&] { Open("r_ascend_pt"); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "trace_view.json");
}

TEST_F(CaptureTest, FollowsLinksWithinTheCaptureOnly) {
  WriteText("r_ascend_pt");
  dir_.Write("elsewhere.csv", "Name");
  const std::filesystem::path output = dir_ / "r_ascend_pt/ASCEND_PROFILER_OUTPUT";
  std::filesystem::rename(output / "trace_view.json", dir_ / "r_ascend_pt/moved.json");
  std::filesystem::create_symlink("../moved.json", output / "trace_view.json");
  std::filesystem::remove(output / "memory_record.csv");
  std::filesystem::create_symlink(dir_ / "elsewhere.csv", output / "memory_record.csv");
  const auto record = [&](bool force) {
    return *OpenRank(dir_ / "r_ascend_pt", {.force = force}).Find(FileKind::kMemoryRecord);
  };
  EXPECT_EQ(record(true).outside, "");
  EXPECT_EQ(record(false).outside.filename(), "elsewhere.csv");
  const Error error = test::ErrorOf([&] { CheckFollowed(record(false)); });
  EXPECT_HAS_TEXT(error.what(), "memory_record.csv: leads out of the capture");

  const auto settings = dir_.Write("settings.json", R"({"rank_id": 3})");
  std::filesystem::create_symlink(settings, dir_ / "r_ascend_pt/profiler_info_3.json");
  EXPECT_TRUE(OpenRank(dir_ / "r_ascend_pt", {.force = true}).info);
  EXPECT_FALSE(OpenRank(dir_ / "r_ascend_pt", {}).info);

  std::filesystem::remove(output / "trace_view.json");
  std::filesystem::create_symlink(dir_ / "elsewhere.csv", output / "trace_view.json");
  EXPECT_HAS_TEXT(test::ErrorOf([&] { record(false); }).what(), "--force follows such links");
}

TEST_F(CaptureTest, TellsOfLinksToOtherCaptures) {
  WriteText("job/a_ascend_pt");
  WriteText("b_ascend_pt");
  std::filesystem::create_symlink("a_ascend_pt", dir_ / "job/latest_ascend_pt");
  std::filesystem::create_symlink("../b_ascend_pt", dir_ / "job/b_ascend_pt");
  std::filesystem::create_symlink("..", dir_ / "job/up");
  const Discovery found = Discover(dir_ / "job", {});
  EXPECT_EQ(found.ranks.size(), 1u);
  ASSERT_EQ(found.unusable.size(), 1u);
  EXPECT_HAS_TEXT(found.unusable[0].reason, "job/b_ascend_pt: leads out of the directory");
  EXPECT_EQ(Discover(dir_ / "job", {.force = true}).ranks.size(), 2u);
}

TEST_F(CaptureTest, FindsNoSettingsInFilesOfSimilarNames) {
  WriteText("r_ascend_pt");
  for (const char* name : {"profiler_info_.json", "profiler_info_3a.json", "profiler_info3.json",
                           "profiler_info.txt"}) {
    dir_.Write(std::string("r_ascend_pt/") + name, R"({"rank_id": 3})");
  }
  EXPECT_FALSE(Open("r_ascend_pt").info);
}

TEST_F(CaptureTest, WarnsOfSettingsThatCannotBeReadAndGoesOn) {
  WriteText("r_ascend_pt");
  dir_.Write("r_ascend_pt/profiler_info.json", "{");
  ::testing::internal::CaptureStderr();
  const RankInput rank = Open("r_ascend_pt");
  EXPECT_HAS_TEXT(::testing::internal::GetCapturedStderr(), "profiler_info.json");
  EXPECT_FALSE(rank.info);
  EXPECT_NE(rank.Find(FileKind::kTraceView), nullptr);
}

TEST_F(CaptureTest, PrefersADatabaseToTextFiles) {
  WriteText("r_ascend_pt");
  dir_.Write("r_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db", "x");
  const RankInput rank = Open("r_ascend_pt");
  EXPECT_EQ(rank.kind, CaptureKind::kNpuDb);
  ASSERT_EQ(rank.files.size(), 1u);
  EXPECT_EQ(rank.files[0].kind, FileKind::kProfilerDb);
}

TEST_F(CaptureTest, KnowsDatabasesByTheBeginningOfTheirNames) {
  for (const char* name :
       {"ascend_pytorch_profiler.db", "ascend_pytorch_profiler_7.db",
        "ascend_mindspore_profiler_0.db", "msmonitor_1_2.db", "msprof_2025.db"}) {
    dir_.Write(name, "x");
    EXPECT_EQ(Open(name).kind, CaptureKind::kNpuDb) << name;
  }
  dir_.Write("analysis.db", "x");
  EXPECT_EQ(ErrorOf([&] { Open("analysis.db"); }).kind(), ErrorKind::kInput);
}

TEST_F(CaptureTest, ReadsTheFirstOfSeveralDatabasesAndSaysSo) {
  for (const char* name : {"msprof_2.db", "msprof_1.db", "other.db"}) {
    dir_.Write(std::string("r_ascend_pt/ASCEND_PROFILER_OUTPUT/") + name, "x");
  }
  ::testing::internal::CaptureStderr();
  const RankInput rank = Open("r_ascend_pt");
  EXPECT_HAS_TEXT(::testing::internal::GetCapturedStderr(), "msprof_2.db");
  EXPECT_EQ(rank.files.at(0).path.filename(), "msprof_1.db");
}

TEST_F(CaptureTest, OpensTheOutputDirectoryItself) {
  WriteText("r_ascend_pt");
  const RankInput rank = Open("r_ascend_pt/ASCEND_PROFILER_OUTPUT");
  EXPECT_EQ(rank.kind, CaptureKind::kNpuText);
  EXPECT_NE(rank.Find(FileKind::kTraceView), nullptr);
}

TEST_F(CaptureTest, TellsAGpuTraceFromAnNpuTraceByItsFirstBracket) {
  dir_.Write("gpu.json", "\xEF\xBB\xBF \n{\"traceEvents\": []}");
  dir_.Write("npu.json", "\n [{}]");
  dir_.Write("gpu.json.gz", test::Gzip("{\"traceEvents\": []}"));
  EXPECT_EQ(Open("gpu.json").kind, CaptureKind::kGpu);
  EXPECT_NE(Open("gpu.json").Find(FileKind::kKinetoTrace), nullptr);
  EXPECT_EQ(Open("npu.json").kind, CaptureKind::kNpuText);
  EXPECT_NE(Open("npu.json").Find(FileKind::kTraceView), nullptr);
  EXPECT_EQ(Open("gpu.json.gz").kind, CaptureKind::kGpu);
}

// Wherever the words of an exporter stand, and whatever the document begins with.
TEST_F(CaptureTest, TellsAGpuTraceFromAnNpuTraceByItsEvents) {
  const std::string padding(3 << 20, 'x');
  const std::string operators = R"({"ph":"X","cat":"cpu_op","name":")" + padding + R"("},)";
  dir_.Write("gpu.json", "[" + operators + R"({"ph":"X","args":{"External id":1}}])");
  dir_.Write("npu.json", R"({"traceEvents":[)" + operators + R"({"ph":"s","cat":"async_npu"}]})");
  EXPECT_EQ(Open("gpu.json").kind, CaptureKind::kGpu);
  EXPECT_EQ(Open("npu.json").kind, CaptureKind::kNpuText);
}

TEST_F(CaptureTest, FindsAllGpuTracesOfADirectory) {
  dir_.Write("jobs/a.json", R"([{"ph":"X","cat":"cuda_runtime"}])");
  dir_.Write("jobs/b.json",
             R"({"metadata":")" + std::string(9 << 10, 'x') + R"(","traceEvents":[]})");
  dir_.Write("jobs/c.json", R"({"settings":["not a trace"]})");
  dir_.Write("jobs/d.json", R"([{"ph":"X","cat":"async_npu"}])");
  Names names;
  for (const RankInput& rank : Discover(dir_ / "jobs", {}).ranks) {
    names.push_back(rank.path.filename().string());
  }
  EXPECT_EQ(names, (Names{"a.json", "b.json"}));
}

TEST_F(CaptureTest, FindsAPackedTraceInACapture) {
  dir_.Write("r_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json.gz", test::Gzip("[]"));
  EXPECT_NE(Open("r_ascend_pt").Find(FileKind::kTraceView), nullptr);
}

TEST_F(CaptureTest, RefusesFilesThatAreNoTrace) {
  dir_.Write("empty.json", " \n");
  dir_.Write("text.json", "hello");
  dir_.Write("notes.txt", "hello");
  EXPECT_EQ(ErrorOf([&] { Open("empty.json"); }).kind(), ErrorKind::kInput);
  EXPECT_EQ(ErrorOf([&] { Open("text.json"); }).kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(ErrorOf([&] { Open("notes.txt"); }).kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(ErrorOf([&] { Open("notes.txt"); }).what(), "notes.txt");
}

TEST_F(CaptureTest, RefusesAPathThatDoesNotExist) {
  const Error error = ErrorOf([&] { Open("missing"); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "missing");
}

TEST_F(CaptureTest, OpensACaptureThatWasNotParsed) {
  dir_.Write("r_ascend_pt/PROF_000001_2025/device_0/data/stars_soc.data.0.slice_0", "1234");
  dir_.Write("r_ascend_pt/PROF_000001_2025/device_0/data/stars_soc.data.0.slice_0.done", "12");
  dir_.Write("r_ascend_pt/FRAMEWORK/torch.op_range", "12345");
  dir_.Write("r_ascend_pt/profiler_info_3.json", R"({"rank_id": 3})");
  const RankInput rank = Open("r_ascend_pt");
  EXPECT_EQ(rank.kind, CaptureKind::kNpuRaw);
  ASSERT_NE(rank.Find(FileKind::kRawCapture), nullptr);
  EXPECT_EQ(rank.Find(FileKind::kRawCapture)->bytes, 9);  // without the writer's notes
  ASSERT_TRUE(rank.info);
  EXPECT_EQ(rank.info->rank, 3);
}

TEST_F(CaptureTest, OpensTheDirectoryOfTheDriverAlone) {
  dir_.Write("PROF_000001_2025/host/data/aging.api_event.data.slice_0", "x");
  dir_.Write("PROF_000001_2025/host/info.json", R"({"rank_id": 5})");
  const RankInput rank = Open("PROF_000001_2025");
  EXPECT_EQ(rank.kind, CaptureKind::kNpuRaw);
  EXPECT_EQ(rank.rank, 5);
}

TEST_F(CaptureTest, ReadsRawDataOfAParsedCaptureOnlyWhenAsked) {
  WriteText("r_ascend_pt");
  dir_.Write("r_ascend_pt/FRAMEWORK/torch.op_range", "12345");
  EXPECT_EQ(Open("r_ascend_pt").kind, CaptureKind::kNpuText);
  const RankInput raw = OpenRank(dir_ / "r_ascend_pt", {.force = true, .raw = true});
  EXPECT_EQ(raw.kind, CaptureKind::kNpuRaw);
  EXPECT_EQ(raw.Find(FileKind::kTraceView), nullptr);
}

TEST_F(CaptureTest, RefusesToReadRawDataThatIsNotThere) {
  WriteText("r_ascend_pt");
  const Error error =
      ErrorOf([&] { OpenRank(dir_ / "r_ascend_pt", {.force = true, .raw = true}); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "no raw data");
}

TEST_F(CaptureTest, SaysWhatToGiveInPlaceOfAnyOtherDirectory) {
  dir_.Write("photos/a.jpg", "x");
  const Error error = ErrorOf([&] { Open("photos"); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "_ascend_pt");
}

TEST_F(CaptureTest, DiscoversAllRanksInOrder) {
  for (const char* rank :
       {"b_ascend_pt", "a_ascend_pt", "deep/er/c_ascend_ms", "too/deep/er/d_ascend_pt"})
    WriteText(rank);
  dir_.Write("empty_ascend_pt/PROF_1/data.bin", "x");
  const Discovery found = Discover(dir_.path(), {.force = true});
  Names names;
  for (const RankInput& rank : found.ranks) names.push_back(rank.path.filename().string());
  EXPECT_EQ(names, (Names{"a_ascend_pt", "b_ascend_pt", "c_ascend_ms"}));
  ASSERT_EQ(found.unusable.size(), 1u);
  EXPECT_EQ(found.unusable[0].rank.path, dir_ / "empty_ascend_pt");
  EXPECT_HAS_TEXT(found.unusable[0].reason, "no raw data");
}

TEST_F(CaptureTest, TellsRawCapturesByTheirContent) {
  dir_.Write("job/first/FRAMEWORK/torch.op_range", "12345");
  dir_.Write("job/first/PROF_1/host/data/aging.api_event.data.slice_0", "x");
  dir_.Write("job/second/profiler_info_1.json", R"({"rank_id": 1})");
  dir_.Write("job/second/driver/device_0/data/stars_soc.data.0.slice_0", "x");
  dir_.Write("job/third/host/data/aging.api_event.data.slice_0", "x");
  const Discovery found = Discover(dir_ / "job", {.force = true, .raw = true});
  Names names;
  for (const RankInput& rank : found.ranks) names.push_back(rank.path.filename().string());
  EXPECT_EQ(names, (Names{"first", "second", "third"}));
  EXPECT_EQ(Discover(dir_ / "job/first", {.force = true}).ranks.at(0).path, dir_ / "job/first");
}

TEST_F(CaptureTest, ADirectoryWithDriverDirectoriesAloneHoldsManyCaptures) {
  for (const char* rank : {"PROF_1", "PROF_2"}) {
    dir_.Write(std::string("job/") + rank + "/host/data/aging.api_event.data.slice_0", "x");
  }
  EXPECT_EQ(Discover(dir_ / "job", {.force = true}).ranks.size(), 2u);
}

TEST_F(CaptureTest, DiscoversASingleCaptureGivenItself) {
  WriteText("a_ascend_pt");
  EXPECT_EQ(Discover(dir_ / "a_ascend_pt", {.force = true}).ranks.size(), 1u);
  EXPECT_EQ(Discover(dir_ / "a_ascend_pt/ASCEND_PROFILER_OUTPUT", {.force = true}).ranks.size(),
            1u);
}

TEST_F(CaptureTest, SaysWhyNothingWasDiscovered) {
  dir_.Write("photos/a.jpg", "x");
  const Discovery found = Discover(dir_ / "photos", {.force = true});
  EXPECT_TRUE(found.ranks.empty());
  ASSERT_EQ(found.unusable.size(), 1u);
  EXPECT_EQ(found.unusable[0].rank.path.filename(), "photos");
  EXPECT_HAS_TEXT(found.unusable[0].reason, "no profiler database");
}

TEST_F(CaptureTest, FindsTheDescriptionsOfTheDevicesBesideTheOutput) {
  WriteText("r_ascend_pt");
  dir_.Write("r_ascend_pt/PROF_1/device_1/info.json.1", "{}");
  dir_.Write("r_ascend_pt/PROF_1/device_0/info.json.0", "{}");
  dir_.Write("r_ascend_pt/PROF_1/device_0/info.json.0.done", "{}");
  dir_.Write("r_ascend_pt/PROF_1/host/info.json", "{}");
  for (const char* path : {"r_ascend_pt", "r_ascend_pt/ASCEND_PROFILER_OUTPUT",
                           "r_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"}) {
    std::vector<std::string> found;
    for (const CaptureFile& file : Open(path).files) {
      if (file.kind == FileKind::kDeviceInfo) found.push_back(file.path.filename().string());
    }
    EXPECT_EQ(found, (std::vector<std::string>{"info.json.0", "info.json.1"})) << path;
  }
}

}  // namespace
}  // namespace mpa

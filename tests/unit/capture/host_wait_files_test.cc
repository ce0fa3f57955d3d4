// SPDX-License-Identifier: Apache-2.0
// Records of system calls and locks in captures and beside them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mpa/capture/capture.h"
#include "support/failures.h"
#include "support/files.h"

namespace mpa {
namespace {

using Names = std::vector<std::string>;

class HostWaitFiles : public ::testing::Test {
 protected:
  void WriteText(const std::string& rank) const {
    dir_.Write(rank + "/ASCEND_PROFILER_OUTPUT/trace_view.json", "[]");
  }
  static Names FilesOf(const RankInput& rank) {
    Names names;
    for (const CaptureFile& file : rank.files) {
      if (file.kind == FileKind::kSystemCalls || file.kind == FileKind::kLockTrace ||
          file.kind == FileKind::kFunctionLog)
        names.push_back(file.path.filename().string());
    }
    return names;
  }
  Names Open(std::string_view name) const {
    return FilesOf(OpenRank(dir_ / name, {.force = true}));
  }

  test::TempDir dir_;
};

TEST_F(HostWaitFiles, AllOfACaptureAreFound) {
  WriteText("r_ascend_pt");
  dir_.Write("r_ascend_pt/msosrt_trace_70_python3.csv", "x");
  dir_.Write("r_ascend_pt/ASCEND_PROFILER_OUTPUT/GIL_70_rank_0.json", "[]");
  dir_.Write("r_ascend_pt/ASCEND_PROFILER_OUTPUT/GIL_x.json", "[]");
  EXPECT_EQ(Open("r_ascend_pt"), (Names{"msosrt_trace_70_python3.csv", "GIL_70_rank_0.json"}));
}

TEST_F(HostWaitFiles, LogsOfFunctionsAreFoundByTheirProcess) {
  WriteText("job/node_70_2026_ascend_pt");
  WriteText("job/node_71_2026_ascend_pt");
  dir_.Write("job/function_monitor_71.log", "x");
  dir_.Write("job/node_70_2026_ascend_pt/function_monitor_9.log", "x");
  for (const char* other : {"function_monitor_x.log", "function_monitor_70_trace.json",
                            "function_monitor_70.log.1", "function_monitor_.log"})
    dir_.Write(std::string("job/node_70_2026_ascend_pt/") + other, "x");
  const Discovery found = Discover(dir_ / "job", {.force = true});
  ASSERT_EQ(found.ranks.size(), 2u);
  EXPECT_EQ(FilesOf(found.ranks[0]), Names{"function_monitor_9.log"});
  EXPECT_EQ(FilesOf(found.ranks[1]), Names{"function_monitor_71.log"});
}

TEST_F(HostWaitFiles, TheLogCountsMoreThanWhatWasMadeOfIt) {
  WriteText("r_ascend_pt");
  dir_.Write("r_ascend_pt/GIL_70_rank_0.json", "[]");
  dir_.Write("r_ascend_pt/GIL_70_rank_0_trace.json", "[]");
  dir_.Write("r_ascend_pt/GIL_71_rank_0_trace.json", "[]");
  EXPECT_EQ(Open("r_ascend_pt"), (Names{"GIL_70_rank_0.json", "GIL_71_rank_0_trace.json"}));
}

TEST_F(HostWaitFiles, BesideCapturesTheProcessTells) {
  WriteText("job/node_70_2026_ascend_pt");
  WriteText("job/node_71_2026_ascend_pt");
  dir_.Write("job/msosrt_trace_71_python3.csv", "x");
  dir_.Write("job/GIL_70_rank_0.json", "[]");
  dir_.Write("job/GIL_7_rank_0.json", "[]");
  EXPECT_EQ(Open("job/node_70_2026_ascend_pt"), Names{"GIL_70_rank_0.json"});
  const Discovery found = Discover(dir_ / "job", {.force = true});
  ASSERT_EQ(found.ranks.size(), 2u) << "a log is no capture";
  EXPECT_EQ(FilesOf(found.ranks[0]), Names{"GIL_70_rank_0.json"});
  EXPECT_EQ(FilesOf(found.ranks[1]), Names{"msosrt_trace_71_python3.csv"});
}

TEST_F(HostWaitFiles, AloneTheyAreNoCapture) {
  dir_.Write("GIL_70_rank_0.json", R"([{"name":"take_gil","ph":"X","ts":1,"dur":1}])");
  EXPECT_HAS_TEXT(test::ErrorOf([&] { Open("GIL_70_rank_0.json"); }).what(),
                  "give the capture that they lie beside or in");
}

}  // namespace
}  // namespace mpa

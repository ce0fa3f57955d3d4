// SPDX-License-Identifier: Apache-2.0
// Logs of dynamic profiling beside captures, in the form of torch_npu's loggers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "mpa/capture/survey.h"
#include "support/files.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

class DynamicProfileTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  static std::string Line(const std::string& level, const std::string& message) {
    return "2026-01-31 10:20:30,123 [" + level + "] [4711] _dynamic_profiler_utils.py: " + message +
           "\n";
  }
  std::vector<Warning> Warnings(const std::string& below = "") const {
    std::vector<Warning> found = SurveyCaptures(root_ / below, {.force = true}).warnings;
    std::erase_if(found, [](const Warning& one) { return !one.id.starts_with("dynamic_profile"); });
    return found;
  }
  fs::path Place(const std::string& name) const { return fs::canonical(root_) / name; }

  const test::TempDir directory_;
  const fs::path root_ = directory_.path();
  const std::string start_ = Line("INFO", "Start step will be set to 10.") +
                             Line("INFO", "Start Dynamic Profiler at 10 step.");
  const std::string whole_ = start_ + Line("INFO", "Stop Dynamic Profiler at 12 step.");
};

TEST_F(DynamicProfileTest, SaysNothingOfProfilingThatWorked) {
  Write("log/dp_node_1_rank_0.log", Line("INFO", "Rank 0 shared memory is created.") + whole_);
  Write("log/monitor_dp_node_2_rank_0.log",
        Line("INFO", "Dynamic profiler process load json success"));
  EXPECT_TRUE(Warnings().empty());
}

TEST_F(DynamicProfileTest, NamesErrorsWithFileAndLineTheSameOfAllRanksOnce) {
  const std::string denied = "shared memory is None !";
  Write("log/dp_node_1_rank_0.log", whole_ + Line("ERROR", "Rank 0 " + denied));
  Write("log/dp_node_2_rank_1.log",
        whole_ + Line("ERROR", "Rank 1 " + denied) + Line("ERROR", "Rank 1 " + denied));
  Write("log/monitor_dp_node_3_rank_0.log",
        Line("WARNING", "Load json failed,  because cfg bytes size over 1048576 bytes") +
            Line("ERROR", "Dynamic profiler process load json failed, Expecting value has occur!"));
  const std::vector<Warning> found = Warnings();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].id, "dynamic_profile_error");
  EXPECT_EQ(found[0].text,
            "dynamic profiling: error: Dynamic profiler process load json failed, Expecting value"
            " has occur!");
  EXPECT_EQ(found[0].paths, std::vector{Place("log/monitor_dp_node_3_rank_0.log:2")});
  EXPECT_EQ(found[1].text,
            "dynamic profiling: error: Rank 0 shared memory is None ! (3 lines in 2 logs)");
  EXPECT_EQ(found[1].paths, (std::vector{Place("log/dp_node_1_rank_0.log:4"),
                                         Place("log/dp_node_2_rank_1.log:4")}));
  EXPECT_EQ(found[2].id, "dynamic_profile");
  EXPECT_TRUE(found[2].text.starts_with("dynamic profiling: warning: Load json failed"));
}

TEST_F(DynamicProfileTest, SaysThatProfilingBeganAndDidNotStop) {
  Write("log/dp_node_1_rank_0.log.1", whole_ + start_);
  Write("log/dp_node_1_rank_0.log", Line("INFO", "Rank 0 unlink shm"));
  const std::vector<Warning> found = Warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].text.starts_with("dynamic profiling began at step 10 and did not stop"));
  EXPECT_EQ(found[0].paths, std::vector{Place("log/dp_node_1_rank_0.log.1:5")});

  // The newer part of the log has the end.
  Write("log/dp_node_1_rank_0.log", Line("INFO", "Stop Dynamic Profiler at 12 step."));
  EXPECT_TRUE(Warnings().empty());
}

TEST_F(DynamicProfileTest, SaysThatProfilingDidNotBegin) {
  Write("log/dp_node_1_rank_0.log", whole_ + Line("INFO", "Start step will be set to 3."));
  const std::vector<Warning> found = Warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(
      found[0].text.starts_with("dynamic profiling was asked for from step 3 and did not begin"));
  EXPECT_EQ(found[0].paths, std::vector{Place("log/dp_node_1_rank_0.log:4")});
}

TEST_F(DynamicProfileTest, RanksThatWereLeftOutOnPurposeAreNamedOnce) {
  for (const char* rank : {"1", "2"}) {
    Write(std::string("log/dp_node_") + rank + "_rank_" + rank + ".log",
          Line("INFO", "Start step will be set to 3.") +
              Line("WARNING", std::string("Rank ") + rank + " not in valid rank_list {0}!"));
  }
  const std::vector<Warning> found = Warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text,
            "dynamic profiling: warning: Rank 1 not in valid rank_list {0}! (2 lines in 2 logs)");
}

TEST_F(DynamicProfileTest, AttemptsThatAreRepeatedAreNoProblem) {
  Write("log/dp_node_1_rank_0.log",
        Line("ERROR", "Rank 0 shared memory create failed, retry times = 9, x has occur.") +
            whole_ + Line("ERROR", "Rank 0 unlink shm failed, may be removed, x hs occur"));
  EXPECT_TRUE(Warnings().empty());
  Write("log/dp_node_1_rank_0.log",
        Line("ERROR", "Rank 0 shared memory create failed, retry times = 0, x has occur."));
  EXPECT_EQ(Warnings().size(), 1u);
}

TEST_F(DynamicProfileTest, LogsLieBesideTheCaptureOrInADirectoryOfThePath) {
  const std::string error = Line("ERROR", "Dynamic profiler cfg json not exists");
  Write("job/a_ascend_pt/profiler_info_0.json", "{}");
  Write("job/a_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", "Name\n");
  Write("job/log/dp_node_1_rank_0.log", error);
  EXPECT_EQ(Warnings("job/a_ascend_pt").size(), 1u);
  EXPECT_EQ(Warnings("").size(), 1u);  // job/log
  Write("log/dp_node_9_rank_0.log", error);
  EXPECT_EQ(Warnings("").size(), 1u);
  EXPECT_EQ(Warnings("")[0].paths.size(), 2u);
}

TEST_F(DynamicProfileTest, TakesAnyBytes) {
  const std::string error = Line("ERROR", "x");
  for (const char* name : {"dp_.log", "dp_rank_0.log", "dp_n_1_rank_x.log", "dp_n_1_rank_0.log.",
                           "dp_n_1_rank_0.log.x", "dp_n_1_rank_0.logs", "xdp_n_1_rank_0.log",
                           "dp_n_1_rank_0.log-1", "dp_n.log_rank_0"})
    Write(std::string("log/") + name, error);
  Write("log/dp_n_2_rank_0.log/x", error);
  fs::create_symlink(root_ / "log/xdp_n_1_rank_0.log", root_ / "log/dp_n_3_rank_0.log");
  Write("log/dp_n_4_rank_-1.log", "");
  Write("log/dp_n_5_rank_0.log", std::string("\0\xff\xfe[ERROR]\n", 11) +
                                     "2026-01-31 10:20:30,123 [\n2026-01-31 10:20:30,123 [ERROR\n" +
                                     "2026-01-31 10:20:30,123 [ERROR] no source\n" +
                                     "2026-01-31 10:20:30,123 : [ERROR] [1] a.py x\n" +
                                     Line("INFO", "Start Dynamic Profiler at many step.") +
                                     Line("INFO", "Start Dynamic Profiler at "));
  EXPECT_TRUE(Warnings().empty());

  // A log of something else: at most six of its messages, each cut.
  std::string text;
  for (char letter = 'a'; letter <= 'z'; ++letter)
    text += Line("ERROR", std::string(100'000, letter));
  Write("log/dp_n_5_rank_0.log", text);
  const std::vector<Warning> found = Warnings();
  ASSERT_EQ(found.size(), 7u);
  EXPECT_EQ(found[0].text, "dynamic profiling: error: " + std::string(200, 'a') + "...");
  EXPECT_EQ(found[6].text, "dynamic profiling: 20 more log messages");
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/part/analyzer_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/rank_builder.h"

namespace mpa {
namespace {

// "api times api times"
std::string FusedIn(const std::vector<std::string_view>& names) {
  std::string text;
  for (const FusibleRow& row : FusibleRuns(names))
    text += row.api + " " + std::to_string(row.count) + " ";
  return text;
}

TEST(FusibleRuns, FollowEachOtherDirectly) {
  EXPECT_EQ(FusedIn({"permute", "reshape"}), "torch_npu.npu_confusion_transpose 1 ");
  EXPECT_EQ(FusedIn({"permute", "contiguous", "view"}), "torch_npu.npu_confusion_transpose 1 ");
  EXPECT_EQ(FusedIn({"permute", "relu", "view"}), "");
  EXPECT_EQ(FusedIn({"permute"}), "");
  EXPECT_EQ(FusedIn({}), "");
}

TEST(FusibleRuns, TheLongestRunCountsAndItsPartsCountOnce) {
  // matmul-add alone would be npu_matmul_add; the attention around it is longer.
  EXPECT_EQ(FusedIn({"matmul", "add", "softmax", "dropout", "matmul"}),
            "torch_npu.npu_fusion_attention 1 ");
  EXPECT_EQ(FusedIn({"matmul", "add", "relu", "matmul", "add"}), "mindspeed.ops.npu_matmul_add 2 ");
}

TEST(FusibleRuns, SomeOperatorsMayBeLeftOut) {
  EXPECT_EQ(FusedIn({"pow", "mean", "add", "rsqrt", "mul", "type_as"}),
            "torch_npu.npu_rms_norm 1 ");
  EXPECT_EQ(FusedIn({"rsqrt", "mul"}), "torch_npu.npu_rms_norm 1 ");
  EXPECT_EQ(FusedIn({"chunk", "neg", "cat", "mul", "mul", "add"}), "torch_npu.npu_rotary_mul 1 ");
  EXPECT_EQ(FusedIn({"slice", "neg", "cat", "add"}), "torch_npu.npu_rotary_mul 1 ");
}

class AnalyzerRowsTest : public ::testing::Test {
 protected:
  AnalyzerRowsTest() { rank_.Collective(group_, 0, 1000); }
  void Task(const char* name, TimeNs start, TimeNs end, std::int64_t bytes,
            const char* transport = "SDMA", const char* link = "HCCS") {
    rank_.CommTask(group_, 0, name, start, end);
    CommTasks& tasks = rank_.trace.comm_tasks;
    tasks.bytes.back() = bytes;
    tasks.transport.back() = rank_.trace.strings.Intern(transport);
    tasks.link_type.Stored().back() = rank_.trace.strings.Intern(link);
  }

  void Call(const char* name, TimeNs start, TimeNs end) {
    rank_.trace.host_calls.Append(
        {.start = start, .dur = end - start, .name = rank_.trace.strings.Intern(name)});
  }

  test::RankBuilder rank_;
  std::int32_t group_ = rank_.Group("group");
};

TEST_F(AnalyzerRowsTest, SumsWhatAnOperationMoves) {
  Task("Memcpy", 0, 100, 5120);
  Task("Reduce_Inline", 100, 130, 1025);  // no multiple of 512
  Task("Memcpy", 130, 200, 100);          // little, but data; fits into a line
  Task("Memcpy", 450, 460, 64);           // a signal
  Task("Memcpy_Async", 460, 470, 4096);   // no name that the profiler counts
  Task("Memcpy", 200, 300, 4096, "SDMA", "ON_CHIP");
  Task("Notify_Wait", 300, 400, 4096);
  Task("RDMASend", 400, 450, 2048, "RDMA", "ROCE");
  const AnalyzerRows rows = MakeAnalyzerRows(rank_.trace);
  ASSERT_EQ(rows.moved.size(), 1u);
  EXPECT_EQ(rows.moved[0].name, "hcom_allReduce__1_0_1");
  EXPECT_EQ(rows.moved[0].sdma.bytes, 6245);
  EXPECT_EQ(rows.moved[0].sdma.time, 200);
  EXPECT_EQ(rows.moved[0].unaligned.time, 30);
  EXPECT_EQ(rows.moved[0].unaligned.count, 1);
  EXPECT_EQ(rows.moved[0].rdma.bytes, 2048);
  EXPECT_EQ(rows.moved[0].rdma.time, 50);
}

TEST_F(AnalyzerRowsTest, AnOperationBelongsToTheStepThatLaunchedIt) {
  rank_.Step(1, 0, 1000);
  rank_.Step(2, 1000, 2000);
  rank_.Launch(7, 500, 0);  // in step 1
  rank_.Collective(group_, 1400, 1700, "hcom_allReduce__1_1_1");
  Task("Memcpy", 1500, 1600, 5120);
  rank_.trace.communications.link.back() = 7;
  rank_.trace.communications.connection.back() = 99;  // text captures number both apart
  const AnalyzerRows rows = MakeAnalyzerRows(rank_.trace);
  ASSERT_EQ(rows.moved.size(), 1u);
  EXPECT_EQ(rows.moved[0].step, 1);
}

TEST_F(AnalyzerRowsTest, CountsCompilationsWhateverTheirLevelIsCalled) {
  Call("AscendCL@aclopCompileAndExecute", 0, 10);
  Call("acl@aclopCompileAndExecuteV2", 20, 25);
  Call("AscendCL@aclopCompile", 30, 35);
  const AnalyzerRows rows = MakeAnalyzerRows(rank_.trace);
  EXPECT_EQ(rows.compiles, 2);
  EXPECT_EQ(rows.compile_time, 15);
}

TEST_F(AnalyzerRowsTest, ListsCollectionsOfAMillisecond) {
  rank_.trace.garbage_collections.Append({.start = 5, .dur = 1'000'000});
  rank_.trace.garbage_collections.Append({.start = 5'000'000, .dur = 999'999});
  const AnalyzerRows rows = MakeAnalyzerRows(rank_.trace);
  ASSERT_EQ(rows.collected.size(), 1u);
  EXPECT_EQ(rows.collected[0].start, 5);
}

TEST_F(AnalyzerRowsTest, LooksAtOperatorsThatNoOtherOneEncloses) {
  rank_.Op("aten::matmul", 0, 100, 0);
  rank_.Op("aten::mm", 10, 90, 0);  // within
  rank_.Op("aten::add", 100, 110, 0);
  rank_.Op("aten::add", 50, 60, 1);  // another thread
  rank_.Op("Optimizer.step#SGD.step", 200, 300, 0);
  const AnalyzerRows rows = MakeAnalyzerRows(rank_.trace);
  ASSERT_EQ(rows.fusible.size(), 2u);
  EXPECT_EQ(rows.fusible[0].api, "mindspeed.ops.npu_matmul_add");
  EXPECT_EQ(rows.fusible[0].count, 1);
  EXPECT_EQ(rows.fusible[1].api, "torch_npu.optim.NpuFusedSGD");
}

}  // namespace
}  // namespace mpa

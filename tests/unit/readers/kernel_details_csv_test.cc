// SPDX-License-Identifier: Apache-2.0
// kernel_details.csv in the forms that profiling levels and versions give it.
#include <gtest/gtest.h>

#include "support/failures.h"
#include "support/files.h"
#include "support/reading.h"

namespace mpa {
namespace {

using Names = std::vector<std::string>;
using Times = std::vector<TimeNs>;

RankTrace ReadKernels(std::string_view content) {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kKernelDetails, dir.Write("kernel_details.csv", content));
}

TEST(KernelDetails, ReadsKernelsWithTheirCounters) {
  const RankTrace trace = ReadKernels(
      "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start"
      " Time(us),"
      "Duration(us),Wait Time(us),Block Dim,Input"
      " Shapes,aicore_time(us),aic_mac_time(us),aic_mte2_time(us),"
      "aiv_time(us),aiv_vec_time(us),Input Data Types,Input Formats,Output Shapes,Output Data"
      " Types,"
      "Output Formats\n"
      "50,0,4294967295,12,7,aclnnMatmul_1,MatMulV2,dynamic,AI_CORE,1736408883704643.212\t,12.34,0,"
      "20,"
      "\"\"\"8,128;128\"\"\",11.5,9.25,3.5,0.0,0.0,,,,,\n"
      "50,0,4294967295,13,7,aclnnAdd_2,Add,static,AI_VECTOR_CORE,1736408883704660.5\t,1.1,0,40,"
      "\"\"\"8,128\"\"\",0,N/A,N/A,1.0,0.75,,,,,\n");
  const Kernels& kernels = trace.kernels;
  EXPECT_EQ(test::ColumnTexts(trace, kernels.name), (Names{"aclnnMatmul_1", "aclnnAdd_2"}));
  EXPECT_EQ(test::ColumnTexts(trace, kernels.op_type), (Names{"MatMulV2", "Add"}));
  EXPECT_EQ(test::ColumnTexts(trace, kernels.core), (Names{"AI_CORE", "AI_VECTOR_CORE"}));
  EXPECT_EQ(kernels.start, (Times{1736408883704643212, 1736408883704660500}));
  EXPECT_EQ(kernels.dur, (Times{12340, 1100}));
  EXPECT_EQ(kernels.stream, (std::vector<std::int64_t>{7, 7}));
  EXPECT_EQ(kernels.step, (std::vector<std::int32_t>{50, 50}));
  EXPECT_EQ(kernels.aic_total, (Times{11500, 0}));
  EXPECT_EQ(kernels.aic_mac, (Times{9250, -1}));
  EXPECT_EQ(kernels.aic_mte2, (Times{3500, -1}));
  EXPECT_EQ(kernels.aiv_total, (Times{0, 1000}));
  EXPECT_EQ(kernels.aiv_vec, (Times{0, 750}));
  EXPECT_TRUE(trace.issues.Empty());
}

TEST(KernelDetails, ReadsTheFewColumnsOfLevel0) {
  for (const char* blocks : {"Block Dim", "Block Num"}) {
    const RankTrace trace = ReadKernels(
        std::string("Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),") +
        blocks + ",HF32 Eligible\r\nMatMul,N/A,N/A,100.5\t,2,0,20,NO\r\n");
    ASSERT_EQ(trace.kernels.Size(), 1u) << blocks;
    EXPECT_EQ(trace.kernels.start[0], 100500);
    EXPECT_EQ(trace.kernels.dur[0], 2000);
    EXPECT_EQ(trace.kernels.op_type[0], StringId::kEmpty);
    EXPECT_EQ(trace.kernels.core[0], StringId::kEmpty);
    EXPECT_EQ(trace.kernels.stream[0], -1);
    EXPECT_EQ(trace.kernels.step[0], -1);
    EXPECT_EQ(trace.kernels.aic_total[0], -1);
  }
}

TEST(KernelDetails, KnowsTheCountersByTheNamesOfOtherChips) {
  const RankTrace trace = ReadKernels(
      "Name,Start Time(us),Duration(us),aic_total_time(us),mac_time(us),aiv_total_time(us)\n"
      "a,1,1,2,3,4\n");
  EXPECT_EQ(trace.kernels.aic_total, Times{2000});
  EXPECT_EQ(trace.kernels.aic_mac, Times{3000});
  EXPECT_EQ(trace.kernels.aiv_total, Times{4000});
}

TEST(KernelDetails, ReadsHowLongUnitsMovedData) {
  const RankTrace trace = ReadKernels(
      "Name,Accelerator Core,Start Time(us),Duration(us),aic_fixpipe_time(us),aiv_mte2_time(us),"
      "aiv_mte3_time(us)\n"
      "hcom_allReduce_,HCCL,1,1,7,7,7\na,AI_CORE,1,1,2.5,N/A,0\nb,MIX_AIC,2,1,0.25,3,4.125\n");
  EXPECT_EQ(trace.kernel_loads.aic_fixpipe_time, (Times{2500, 250}));
  EXPECT_EQ(trace.kernel_loads.aiv_mte2_time, (Times{-1, 3000}));
  EXPECT_EQ(trace.kernel_loads.aiv_mte3_time, (Times{0, 4125}));
}

TEST(KernelDetails, TakesTheLargerOfTwoCountersOfOneMeaning) {
  const RankTrace trace = ReadKernels(
      "Name,Start Time(us),Duration(us),aicore_time(us),aic_total_time(us),mac_time(us),"
      "aic_mac_time(us),aiv_time(us),aiv_total_time(us)\n"
      "a,1,1,9,2,8,3,7,4\n"
      "b,2,1,2,9,N/A,3,7,N/A\n");
  EXPECT_EQ(trace.kernels.aic_total, (Times{9000, 9000}));
  EXPECT_EQ(trace.kernels.aic_mac, (Times{8000, 3000}));
  EXPECT_EQ(trace.kernels.aiv_total, (Times{7000, 7000}));
}

TEST(KernelDetails, ListsAllThatOpSummarySays) {
  const RankTrace trace = ReadKernels(
      "Device_id,Op Name,Task Type,Task Start Time(us),Task Duration(us),OP State,Input"
      " Shapes,Output Data Types,aic_total_cycles,aiv_time(us)\n"
      "3,hcom_send_,HCCL,1,1,N/A,N/A,N/A,N/A,N/A\n"
      "3,Add,AI_VECTOR_CORE,3,1,static,\"\"\"8,2\"\"\",FLOAT,N/A,1.5\n");
  const ListedKernels& listed = trace.listed_kernels;
  EXPECT_EQ(test::ColumnTexts(trace, listed.name), (Names{"hcom_send_", "Add"}));
  EXPECT_EQ(test::ColumnTexts(trace, listed.state), (Names{"", "static"}));
  EXPECT_EQ(trace.strings.View(listed.input_shapes[1]), "\"8,2\"");
  EXPECT_EQ(test::ColumnTexts(trace, listed.output_types), (Names{"", "FLOAT"}));
  EXPECT_EQ(listed.device, (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.counter_names), Names{"aiv_time"});
  EXPECT_EQ(listed.counters, (std::vector<std::vector<double>>{{}, {1500}}));
}

TEST(KernelDetails, ReadsTheStepUnderBothSpellings) {
  EXPECT_EQ(ReadKernels("Step ID,Name,Start Time(us),Duration(us)\n3,a,1,1\n").kernels.step,
            std::vector<std::int32_t>{3});
  EXPECT_EQ(ReadKernels("Step Id,Name,Start Time(us),Duration(us)\n,a,1,1\nN/A,b,1,1\n-1,c,1,1\n")
                .kernels.step,
            (std::vector<std::int32_t>{-1, -1, -1}));
}

TEST(KernelDetails, KeepsCollectivesApart) {
  const RankTrace trace = ReadKernels(
      "Name,Accelerator Core,Start Time(us),Duration(us)\n"
      "hcom_allReduce_,HCCL,1,1\nhcom_send_,COMMUNICATION,N/A,1\nAdd,AI_VECTOR_CORE,3,1\n");
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.name), Names{"Add"});
  EXPECT_EQ(test::ColumnTexts(trace, trace.listed_collectives.name), Names{"hcom_allReduce_"});
}

TEST(KernelDetails, CountsRowsWhoseTimesMakeNoSenseAndNamesTheFirst) {
  const RankTrace trace = ReadKernels(
      "Name,Start Time(us),Duration(us),Type,Accelerator Core\na,1,1,T,C\n"
      "b,N/A,1,T,C\nc,3,,T,C\nd,4,-1,T,C\ne,,,T,C\nf,6,1,T,C\n");
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.name), (Names{"a", "f"}));
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "4 times");
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "kernel_details.csv:3");
}

TEST(KernelDetails, LeavesOutARowThatBreaksOff) {
  const RankTrace trace = ReadKernels(
      "Type,Accelerator Core,Name,Start Time(us),Duration(us)\nT,C,a,1,1\nT,C,b,2,1\nT,C,c,30");
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.name), (Names{"a", "b"}));
  EXPECT_EQ(trace.issues.Lines(),
            Names{"row left out, it has fewer cells than the header (kernel_details.csv:4)"});
}

TEST(KernelDetails, NamesTheColumnThatItCannotDoWithout) {
  const Error error = test::ErrorOf([] { ReadKernels("Name,Start Time(us)\na,1\n"); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "kernel_details.csv");
  EXPECT_HAS_TEXT(error.what(), "Duration(us)");
}

TEST(KernelDetails, ReadsTheTensorsOnlyWhenTheyAreWanted) {
  const test::TempDir dir;
  const auto path = dir.Write(
      "kernel_details.csv",
      "Device_id,Name,Type,Start Time(us),Duration(us),HF32 Eligible,Input Shapes,Input Data"
      " Types,Input Formats,Output Shapes,Output Data Types,Output Formats\n"
      "3,mm,MatMulV2,100,2,YES,\"\"\"2,3;3,4\"\"\",FLOAT;FLOAT,ND;FRACTAL_NZ,\"\"\"2,4\"\"\",FLOAT,"
      "ND\n"
      "3,ai_cpu,Assign,200,2,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n");
  const RankTrace trace = test::ReadFile(FileKind::kKernelDetails, path);
  const Kernels& kernels = trace.kernels;
  EXPECT_EQ(trace.device_id, 3);
  EXPECT_EQ(test::ColumnTexts(trace, kernels.input_types), (Names{"FLOAT;FLOAT", ""}));
  EXPECT_EQ(test::ColumnTexts(trace, kernels.input_formats), (Names{"ND;FRACTAL_NZ", ""}));
  EXPECT_EQ(test::ColumnTexts(trace, kernels.output_shapes), (Names{"\"2,4\"", ""}));
  EXPECT_EQ(test::ColumnTexts(trace, kernels.output_formats), (Names{"ND", ""}));
  EXPECT_EQ(test::ColumnTexts(trace, kernels.hf32), (Names{"YES", ""}));

  const RankTrace without = test::ReadFile(FileKind::kKernelDetails, path, {Tables::kKernels, ""});
  EXPECT_EQ(test::ColumnTexts(without, without.kernels.output_shapes), (Names{"", ""}));
  EXPECT_EQ(test::ColumnTexts(without, without.kernels.name), (Names{"mm", "ai_cpu"}));
}

}  // namespace
}  // namespace mpa

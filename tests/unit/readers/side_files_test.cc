// SPDX-License-Identifier: Apache-2.0
// The small files beside a trace: memory, statistics, step times, bandwidths.
#include <gtest/gtest.h>

#include "support/failures.h"
#include "support/files.h"
#include "support/reading.h"

namespace mpa {
namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;
using Times = std::vector<TimeNs>;

RankTrace Read(FileKind kind, std::string_view content) {
  const test::TempDir dir;
  return test::ReadFile(kind, dir.Write("file", content));
}

std::string OnlyIssue(const RankTrace& trace) {
  const std::vector<std::string> lines = trace.issues.Lines();
  return lines.size() == 1 ? lines[0] : std::to_string(lines.size()) + " issues";
}

TEST(MemoryRecord, ReadsReservedMemoryAsBytes) {
  const RankTrace trace = Read(FileKind::kMemoryRecord,
                               "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),"
                               "Total Active(MB),Stream Ptr,Device Type\r\n"
                               "PTA,1736408883704643.212\t,1.5,2.5,1,,NPU:0\r\n"
                               "GE,1736408883704644\t,1,,1,,NPU:0\r\n"
                               "APP,1736408883704645\t,,0.00000095367431640625,,,NPU:0\r\n");
  EXPECT_EQ(test::ColumnTexts(trace, trace.memory_samples.component), (Names{"PTA", "APP"}));
  EXPECT_EQ(trace.memory_samples.time, (Times{1736408883704643212, 1736408883704645000}));
  EXPECT_EQ(trace.memory_samples.reserved_bytes,
            (Numbers{2621440, 1}));  // 2.5 * 2^20; 2^-20 * 2^20
  EXPECT_EQ(trace.memory_samples.allocated_bytes, (Numbers{1572864, -1}))
      << "1.5 * 2^20; not recorded";
}

TEST(MemoryRecord, NeedsTheReservedMemory) {
  EXPECT_HAS_TEXT(test::ErrorOf([] {
                    Read(FileKind::kMemoryRecord, "Component,Timestamp(us)\nPTA,1\n");
                  }).what(),
                  "Total Reserved(MB)");
}

TEST(OperatorMemory, ReadsTheLifeOfAllocations) {
  const RankTrace trace =
      Read(FileKind::kOperatorMemory,
           "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Device Type\n"
           "aten::empty,1.5,100.25\t,200\t,99.75,NPU:0\n"
           "cann::Add,512,100\t,N/A,N/A,NPU:0\n"
           "aten::zeros,2,,300\t,,NPU:0\n"
           "bad,N/A,1,2,,NPU:0\n");
  EXPECT_EQ(test::ColumnTexts(trace, trace.allocations.name),
            (Names{"aten::empty", "cann::Add", "aten::zeros"}));
  EXPECT_EQ(trace.allocations.bytes, (Numbers{1536, 524288, 2048}));
  EXPECT_EQ(trace.allocations.allocated, (Times{100250, 100000, -1}));
  EXPECT_EQ(trace.allocations.released, (Times{200000, -1, 300000}));
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "file:5");
}

TEST(OpStatistic, ReadsTimesByType) {
  const RankTrace trace =
      Read(FileKind::kOpStatistic,
           "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),"
           "Max Time(us),Ratio(%)\n"
           "0,MatMulV2,AI_CORE,3,30.5,9.5,10.167,11,90\n");
  const KernelStatistics& statistics = trace.kernel_statistics;
  EXPECT_EQ(test::ColumnTexts(trace, statistics.op_type), Names{"MatMulV2"});
  EXPECT_EQ(test::ColumnTexts(trace, statistics.core), Names{"AI_CORE"});
  EXPECT_EQ(statistics.count, Numbers{3});
  EXPECT_EQ(statistics.total, Times{30500});
  EXPECT_EQ(statistics.min, Times{9500});
  EXPECT_EQ(statistics.max, Times{11000});
}

TEST(StepTraceTime, ReadsTheTimesOfSteps) {
  const RankTrace trace =
      Read(FileKind::kStepTraceTime,
           "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,"
           "Communication,Free,Stage,Bubble\n"
           "0,50,100.5,20,5,25,3,0,0\n0,51.0,1,2,3,4,5,6,7\n0,,7,0,0,0,0,0,0\n");
  EXPECT_EQ(trace.step_times.step, (std::vector<std::int32_t>{50, 51, -1}));
  EXPECT_EQ(trace.step_times.computing, (Times{100500, 1000, 7000}));
  EXPECT_EQ(trace.step_times.exposed_communication, (Times{20000, 2000, 0}));
  EXPECT_EQ(trace.step_times.communication, (Times{25000, 4000, 0}));
  EXPECT_EQ(trace.step_times.free, (Times{3000, 5000, 0}));
}

// Beyond them, sums would overflow.
TEST(SideFiles, TakeNoNumbersThatNoCaptureHas) {
  const RankTrace memory = Read(FileKind::kMemoryRecord,
                                "Component,Timestamp(us),Total Reserved(MB)\n"
                                "PTA,1,8796093022207\nPTA,9000000000000000,1\nPTA,1,-5\n"
                                "PTA,1,much\nGE,1,\nGE,1,N/A\n");
  EXPECT_EQ(memory.memory_samples.reserved_bytes, Numbers{1048576});
  EXPECT_EQ(memory.memory_samples.time, Times{-1});
  EXPECT_HAS_TEXT(OnlyIssue(memory), "3 times");

  const RankTrace statistic =
      Read(FileKind::kOpStatistic,
           "OP Type,Count,Total Time(us),Min Time(us),Max Time(us)\n"
           "Add,-3,4,1,2\nMul,0,4,1,2\nSub,3,3000000000000000,1,2\nDiv,3,4,1,-1\nExp,3,4,N/A,2\n"
           "Abs,3,4,1,2\n");
  EXPECT_EQ(test::ColumnTexts(statistic, statistic.kernel_statistics.op_type), Names{"Abs"});
  EXPECT_HAS_TEXT(OnlyIssue(statistic),
                  "sums of a type of kernels left out, invalid count or time");
  EXPECT_HAS_TEXT(OnlyIssue(statistic), "5 times");

  const RankTrace steps = Read(FileKind::kStepTraceTime,
                               "Step,Computing,Communication(Not Overlapped),Communication,Free,"
                               "Overlapped,Stage,Bubble,Communication(Not Overlapped and Exclude"
                               " Receive),Preparing\n"
                               "1,3000000000000000,1,1,-0.5,0,0,0,0,0\n");
  EXPECT_EQ(steps.step_times.computing, Times{0});
  EXPECT_EQ(steps.step_times.free, Times{-500});
  EXPECT_HAS_TEXT(OnlyIssue(steps), "invalid time, taken as 0");

  const RankTrace traffic = Read(FileKind::kCommunication, R"json({"step1": {"collective":
      {"Total Op Info": {"Communication Bandwidth Info": {
          "SDMA": {"Transit Size(MB)": 1e12, "Transit Time(ms)": 1e300}}}}}})json");
  EXPECT_EQ(traffic.transfers.bytes, Numbers{0});
  EXPECT_EQ(traffic.transfers.time, Times{0});
  EXPECT_HAS_TEXT(OnlyIssue(traffic), "invalid traffic, taken as 0");
}

TEST(Communication, ReadsTrafficOfEachStepAndTransport) {
  const RankTrace trace = Read(FileKind::kCommunication, R"json({
      "step50": {"p2p": {}, "collective": {"Total Op Info": {"Communication Bandwidth Info": {
          "RDMA": {"Transit Size(MB)": 1.5, "Transit Time(ms)": 0.25, "Bandwidth(GB/s)": 6},
          "HCCS": {"Transit Size(MB)": 99, "Transit Time(ms)": 1},
          "SDMA": {"Transit Size(MB)": 3, "Transit Time(ms)": 2}}}}},
      "step": {"collective": {"Total Op Info": {"Communication Bandwidth Info": {
          "SDMA": {"Transit Size(MB)": "N/A", "Transit Time(ms)": -1}}}}},
      "step51": {"collective": {}}, "step52": []})json");
  const Transfers& transfers = trace.transfers;
  EXPECT_EQ(transfers.step,
            (std::vector<std::int32_t>{-1, 50, 50}));  // "step" comes before "step50"
  EXPECT_EQ(transfers.transport,
            (std::vector<Transport>{Transport::kSdma, Transport::kRdma, Transport::kSdma}));
  EXPECT_EQ(transfers.bytes, (Numbers{0, 1500000, 3000000}));
  EXPECT_EQ(transfers.time, (Times{0, 250000, 2000000}));
}

TEST(Communication, TakesDocumentsWithoutTraffic) {
  for (const char* text : {"", "{}", "[]", "null"}) {
    EXPECT_TRUE(Read(FileKind::kCommunication, text).transfers.Empty()) << text;
  }
}

TEST(CommunicationMatrix, LeavesOutLinksOfWhichAnEndIsNoRank) {
  const RankTrace trace = Read(FileKind::kCommMatrix, R"json({"step1": {"collective": {
      "hcom_allReduce__1@g": {"0-1": {"Transit Size(MB)": 2, "Transit Time(ms)": 1},
                              "0-x": {"Transit Size(MB)": 9}, "y-1": {"Transit Size(MB)": 9},
                              "7": {"Transit Size(MB)": 9}}}}})json");
  const auto& steps = trace.communication_summary;
  ASSERT_EQ(steps.size(), 1u);
  ASSERT_EQ(steps[0].collective_matrix.size(), 1u);
  EXPECT_EQ(steps[0].collective_matrix[0].source, 0);
  EXPECT_EQ(steps[0].collective_matrix[0].destination, 1);
  EXPECT_HAS_TEXT(OnlyIssue(trace), "link left out, its ends are not rank numbers, 3 times");
}

TEST(Communication, RefusesADocumentThatBreaksOff) {
  EXPECT_EQ(test::ErrorOf([] { Read(FileKind::kCommunication, "{\"step50\": {"); }).kind(),
            ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace mpa

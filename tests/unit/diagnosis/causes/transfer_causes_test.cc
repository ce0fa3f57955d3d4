// SPDX-License-Identifier: Apache-2.0
// What slows the transfers of collectives down. The gains are worked out by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"

namespace mpa {
namespace {

// One operation of 2 ms in each step, over a link to rank 1 of the group.
RankDiagnosis WithTransfers(PeerTransfer transfer, bool is_long = false) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step()
        .Kernel("MatMulV3", kMs)
        .Collective("hcom_allReduce__1_" + std::to_string(step), 2 * kMs);
    transfer.operation = static_cast<std::uint32_t>(step);
    transfer.peer = 1;
    transfer.transport = builder.NameOf(is_long ? "RDMA" : "SDMA");
    builder.Part().transfers.push_back(transfer);
    if (is_long) {
      builder.Part().long_tasks.push_back({transfer.operation, 1, transfer.transport,
                                           builder.NameOf("RDMASend"), builder.Now(), 1'500 * kUs,
                                           50 * kUs});
    }
  }
  return builder.Build();
}

TEST(TransferCauses, MessagesOfOddSizes) {
  // 6 MB in 1.2 ms of odd sizes, 6 MB in 0.6 ms of others: the odd ones could take half.
  const PeerTransfer transfer{.all = {12, 12 * kMb, 1'800 * kUs}, .odd = {6, 6 * kMb, 1'200 * kUs}};
  const Diagnosis diagnosis = DiagnoseJob({WithTransfers(transfer)});
  const Finding* found = FindingWith(diagnosis, "comm.unaligned/SDMA");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 600 * kUs);
  EXPECT_DOUBLE_EQ(MetricIn(*found, "bandwidth"), 5);
  EXPECT_DOUBLE_EQ(MetricIn(*found, "bandwidth_aligned"), 10);
  EXPECT_EQ(FindingWith(diagnosis, "comm.contention/SDMA"), nullptr);
}

TEST(TransferCauses, TransfersBesideComputing) {
  const PeerTransfer transfer{.all = {12, 12 * kMb, 1'800 * kUs},
                              .beside = {6, 6 * kMb, 1'200 * kUs}};
  const Finding* found = nullptr;
  const Diagnosis diagnosis = DiagnoseJob({WithTransfers(transfer)});
  found = FindingWith(diagnosis, "comm.contention/SDMA");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 600 * kUs);
}

MPA_REFUTES(TransferCauses, TransfersOfOneSpeedAreWell, "comm.unaligned", "comm.contention");
TEST(TransferCauses, TransfersOfOneSpeedAreWell) {
  const PeerTransfer transfer{.all = {12, 12 * kMb, 1'200 * kUs}, .odd = {6, 6 * kMb, 600 * kUs}};
  EXPECT_EQ(FindingWith(DiagnoseJob({WithTransfers(transfer)}), "comm.unaligned/SDMA"), nullptr);
}

TEST(TransferCauses, TimeOutsOfRdma) {
  const Diagnosis diagnosis =
      DiagnoseJob({WithTransfers({.all = {12, 12 * kMb, 1'800 * kUs}}, true)});
  const Finding* found = FindingWith(diagnosis, "comm.retransmit/r0+1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 1'450 * kUs);
  EXPECT_EQ(found->ranks, (std::vector<RankId>{0, 1}));
  EXPECT_EQ(MetricIn(*found, "beyond_usual"), 30);
}

MPA_REFUTES(TransferCauses, DataThatTakeLongOnAllRanksWaitForALateOne, "comm.retransmit");
TEST(TransferCauses, DataThatTakeLongOnAllRanksWaitForALateOne) {
  const RankDiagnosis slow = WithTransfers({.all = {12, 12 * kMb, 1'800 * kUs}}, true);
  std::vector<RankDiagnosis> parts(3, slow);
  const auto is_found = [&] {
    const Diagnosis diagnosis = DiagnoseJob(parts);
    return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                       [](const Finding& found) { return found.Is(kCommRetransmit); });
  };
  EXPECT_FALSE(is_found());
  parts[2].long_tasks.clear();
  EXPECT_TRUE(is_found()) << "one rank sent in time";
  parts.resize(2);
  EXPECT_TRUE(is_found()) << "both ends of a link";
}

// Two messages of 100 MiB at 10 ms and two of 300 MiB at 60 ms in each of three steps.
RankDiagnosis WithLargeMessages() {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    for (int i = 0; i < 4; ++i) {
      builder.Collective(fmt::format("hcom_allReduce__1_{}_{}", step, i), (i < 2 ? 10 : 60) * kMs);
      builder.Part().operations.back().bytes = std::int64_t{i < 2 ? 100 : 300} << 20;
    }
  }
  return builder.Build();
}

MPA_REFUTES(TransferCauses, MessagesBeyondTheBuffer, "comm.buffer");
TEST(TransferCauses, MessagesBeyondTheBuffer) {
  RankDiagnosis part = WithLargeMessages();
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "comm.buffer/allreduce/g");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 60 * kMs);  // 2 x 60 ms at half of the bandwidth
  EXPECT_EQ(found->confidence, Certainty::kLow) << "the size of the buffer is not recorded";
  EXPECT_EQ(MetricIn(*found, "mean_size"), 300 << 20);
  part.settings["HCCL_BUFFSIZE"] = "200";
  const Diagnosis recorded = DiagnoseJob({part});
  ASSERT_NE(FindingWith(recorded, "comm.buffer/allreduce/g"), nullptr);
  EXPECT_EQ(FindingWith(recorded, "comm.buffer/allreduce/g")->confidence, Certainty::kHigh);
  for (const char* fits : {"400", "0", "", "x"}) {
    part.settings["HCCL_BUFFSIZE"] = fits;
    EXPECT_EQ(FindingWith(DiagnoseJob({part}), "comm.buffer/allreduce/g"), nullptr) << fits;
  }
}

}  // namespace
}  // namespace mpa

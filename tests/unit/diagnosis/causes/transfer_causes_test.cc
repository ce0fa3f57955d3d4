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

// Two operations of 1 MB in each of three steps: the first takes 2 ms, of which it copies for some
// time before it sends, the second takes 1 ms and copies for 10 us.
RankDiagnosis WithCopies(TimeNs copied) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step();
    for (int number = 0; number < 2; ++number) {
      builder.Kernel("MatMulV3", kMs)
          .Collective(fmt::format("hcom_allReduce__1_{}", 2 * step + number), (2 - number) * kMs);
      builder.Part().operations.back().bytes = kMb;
      builder.Part().operations.back().copied = number == 0 ? copied : 10 * kUs;
    }
  }
  return builder.Build();
}

TEST(TransferCauses, CollectivesThatCopyFirst) {
  const Diagnosis diagnosis = DiagnoseJob({WithCopies(kMs)});
  const Finding* found = FindingWith(diagnosis, "comm.unaligned/copies");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, kMs - 10 * kUs) << "the others copy, too";
  EXPECT_DOUBLE_EQ(MetricIn(*found, "copied_per_call"), kMs - 10 * kUs);
  EXPECT_DOUBLE_EQ(MetricIn(*found, "calls_per_step"), 1);
  EXPECT_DOUBLE_EQ(MetricIn(*found, "other_calls_per_step"), 1);
}

MPA_REFUTES(TransferCauses, AShortCopyIsUsual, "comm.unaligned");
TEST(TransferCauses, AShortCopyIsUsual) {
  EXPECT_EQ(FindingWith(DiagnoseJob({WithCopies(399 * kUs)}), "comm.unaligned/copies"), nullptr)
      << "less than a fifth of it";
  EXPECT_NE(FindingWith(DiagnoseJob({WithCopies(400 * kUs)}), "comm.unaligned/copies"), nullptr);
  RankDiagnosis all = WithCopies(kMs);
  for (OperationPart& operation : all.operations) operation.copied = kMs;
  EXPECT_EQ(FindingWith(DiagnoseJob({all}), "comm.unaligned/copies"), nullptr)
      << "none is without a copy";
  RankDiagnosis other_sizes = WithCopies(kMs);
  for (std::size_t i = 0; i < other_sizes.operations.size(); i += 2)
    other_sizes.operations[i].bytes = 2 * kMb;
  EXPECT_EQ(FindingWith(DiagnoseJob({other_sizes}), "comm.unaligned/copies"), nullptr);
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

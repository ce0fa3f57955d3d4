// SPDX-License-Identifier: Apache-2.0
// Each finding on a job that has nothing else. The gains are worked out by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "diagnosis/diagnosed.h"
#include "diagnosis/made_diagnosis.h"
#include "diagnosis/part_builder.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {
namespace {

// Three equal steps.
template <typename Fill>
RankDiagnosis ThreeSteps(Fill fill) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) fill(builder.Step());
  return builder.Build();
}

TEST(Causes, KernelsOfUnequalLength) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 10; ++i) step.Kernel("MatMulV3", i < 8 ? kMs : 3 * kMs);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "op.variance/MatMulV3");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(diagnosis.step, 14 * kMs);
  EXPECT_EQ(found->gain, 4 * kMs);  // two of three times the median
  EXPECT_EQ(MetricIn(*found, "slowest_tenth"), 3);
}

TEST(Causes, NineEqualKernelsTellNothing) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 9; ++i) step.Kernel("MatMulV3", i < 5 ? kMs : 3 * kMs);
  });
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "op.variance/MatMulV3"), nullptr);
}

TEST(Causes, MatricesInFp32) {
  auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 4 * kMs).Kernel("Add", 6 * kMs, Leaf::kVector);
    step.Kind("MatMulV3").multiplies_fp32 = true;
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "op.fp32");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * kMs);      // half
  EXPECT_EQ(found->gain_max, 3 * kMs);  // three quarters
  EXPECT_EQ(found->kind, FindingKind::kOpportunity);
}

TEST(Causes, AProductFarBelowTheChip) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", kMs).Kernel("BatchMatMulV2", kMs);
    step.Kind("MatMulV3").least = 240 * kUs;       // a quarter of the chip, roughly
    step.Kind("BatchMatMulV2").least = 500 * kUs;  // half of it is well
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "op.slow/MatMulV3");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 600 * kUs);      // 1 ms - 240 us / 0.6
  EXPECT_EQ(found->gain_max, 760 * kUs);  // 1 ms - 240 us
  EXPECT_EQ(MetricIn(*found, "use_of_chip"), 0.24);
  EXPECT_EQ(FindingWith(diagnosis, "op.slow/BatchMatMulV2"), nullptr);
}

// A softmax of 0.5 ms between two products, over rows of that shape.
bool IsAttention(std::string_view shape, const Rules& rules = {},
                 std::string_view product = "BatchMatMulV2") {
  const auto part = ThreeSteps([&](PartBuilder& step) {
    step.Kernel(product, kMs).Kernel("SoftmaxV2", 500 * kUs, Leaf::kVector).Kernel(product, kMs);
    step.Kind("SoftmaxV2").shapes = step.NameOf(shape);
  });
  const Diagnosis diagnosis = DiagnoseJob({part}, rules);
  const FoundCause* found = FindingWith(diagnosis, "op.attention");
  EXPECT_TRUE(found == nullptr || found->gain == 450 * kUs) << "0.9 of the softmax";
  return found != nullptr;
}

TEST(Causes, AttentionOfShortSequencesIsNotWorthAFusedKernel) {
  EXPECT_TRUE(IsAttention("\"4,16,128,128\""));
  EXPECT_FALSE(IsAttention("\"4,16,128,127\""));
  EXPECT_TRUE(IsAttention("N/A")) << "not known";
  Rules rules;
  SetRule("op.attention", "sequence", 64, rules);
  EXPECT_TRUE(IsAttention("\"4,16,128,64\"", rules));
}

TEST(Causes, TheProductsOfAttentionAreThoseOfTheClassOfKernels) {
  const auto is_attention = [](std::string_view product) {
    return IsAttention("\"4,16,128,128\"", {}, product);
  };
  EXPECT_TRUE(is_attention("volta_sgemm_batched_128x64")) << "of a GPU";
  EXPECT_FALSE(is_attention("BatchMatMulReduceScatterAlltoAll")) << "it communicates";
  EXPECT_FALSE(is_attention("MatMulV3")) << "a layer and its loss";
}

TEST(Causes, AnOptimizerOfManyKernels) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 400 * kUs);
    for (int i = 0; i < 60; ++i) step.Kernel("Mul", 10 * kUs, Leaf::kVector, true);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "op.optimizer");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 360 * kUs);  // 0.6 of 60 x 10 us
  EXPECT_EQ(MetricIn(*found, "launches_per_step"), 60);
}

TEST(Causes, AFusedOptimizerIsNone) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 30; ++i) step.Kernel("ApplyFusedEmaAdam", 10 * kUs, Leaf::kVector, true);
    for (int i = 0; i < 30; ++i)
      step.Kernel("void multi_tensor_apply_kernel<AdamFunctor<float>>", 10 * kUs, Leaf::kVector,
                  true);
  });
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "op.optimizer"), nullptr);
}

TEST(Causes, OperatorsInPieces) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", kMs)
        .Kernel("Swish", 300 * kUs, Leaf::kVector)
        .Kernel("Cast", 50 * kUs, Leaf::kFormat);
    step.Kernel("Mul", 200 * kUs, Leaf::kVector).Kernel("MatMulV3", kMs);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "op.unfused/swiglu");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 250 * kUs);  // all but the longest piece
  EXPECT_EQ(FindingWith(diagnosis, "op.unfused/rms_norm"), nullptr);
}

TEST(Causes, AllDevicesThrottled) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", 2 * kMs);
    builder.Part().steps.back().mhz = 900;
  }
  builder.Part().rated_mhz = 1800;
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
  const FoundCause* found = FindingWith(diagnosis, "dev.clock");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs);
  EXPECT_EQ(MetricIn(*found, "clock_rated"), 1800);
}

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

constexpr std::int64_t kMb = 1'000'000;

TEST(Causes, MessagesOfOddSizes) {
  // 6 MB in 1.2 ms of odd sizes, 6 MB in 0.6 ms of others: the odd ones could take half.
  const PeerTransfer transfer{
      .bytes = 12 * kMb, .time = 1'800 * kUs, .count = 12, .odd = {6, 6 * kMb, 1'200 * kUs}};
  const Diagnosis diagnosis = DiagnoseJob({WithTransfers(transfer)});
  const FoundCause* found = FindingWith(diagnosis, "comm.unaligned/SDMA");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 600 * kUs);
  EXPECT_DOUBLE_EQ(MetricIn(*found, "bandwidth"), 5);
  EXPECT_DOUBLE_EQ(MetricIn(*found, "bandwidth_aligned"), 10);
  EXPECT_EQ(FindingWith(diagnosis, "comm.contention/SDMA"), nullptr);
}

TEST(Causes, TransfersBesideComputing) {
  const PeerTransfer transfer{
      .bytes = 12 * kMb, .time = 1'800 * kUs, .count = 12, .beside = {6, 6 * kMb, 1'200 * kUs}};
  const FoundCause* found = nullptr;
  const Diagnosis diagnosis = DiagnoseJob({WithTransfers(transfer)});
  found = FindingWith(diagnosis, "comm.contention/SDMA");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 600 * kUs);
}

TEST(Causes, TransfersOfOneSpeedAreWell) {
  const PeerTransfer transfer{
      .bytes = 12 * kMb, .time = 1'200 * kUs, .count = 12, .odd = {6, 6 * kMb, 600 * kUs}};
  EXPECT_EQ(FindingWith(DiagnoseJob({WithTransfers(transfer)}), "comm.unaligned/SDMA"), nullptr);
}

TEST(Causes, TimeOutsOfRdma) {
  const Diagnosis diagnosis =
      DiagnoseJob({WithTransfers({.bytes = 12 * kMb, .time = 1'800 * kUs, .count = 12}, true)});
  const FoundCause* found = FindingWith(diagnosis, "comm.retransmit/r0+1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 1'450 * kUs);
  EXPECT_EQ(found->ranks, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(MetricIn(*found, "beyond_usual"), 30);
}

TEST(Causes, DataThatTakeLongOnAllRanksWaitForALateOne) {
  const RankDiagnosis slow =
      WithTransfers({.bytes = 12 * kMb, .time = 1'800 * kUs, .count = 12}, true);
  std::vector<RankDiagnosis> parts(3, slow);
  const auto is_found = [&] {
    const Diagnosis diagnosis = DiagnoseJob(parts);
    return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                       [](const FoundCause& found) { return found.Is(kCommRetransmit); });
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

TEST(Causes, MessagesBeyondTheBuffer) {
  RankDiagnosis part = WithLargeMessages();
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "comm.buffer/allreduce/g");
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

// Operations of 1 MB over a link that moves 100 MB in 10 ms: 0.1 ms for the data. One large one in
// each step shows the bandwidth.
Diagnosis WithSmallOperations(int small, TimeNs dur) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    for (int i = 0; i <= small; ++i) {
      const bool large = i == small;
      const auto number = static_cast<std::uint32_t>(builder.Part().operations.size());
      builder.Collective(fmt::format("hcom_allReduce__1_{}_{}", step, i), large ? 10 * kMs : dur);
      builder.Part().transfers.push_back({.operation = number,
                                          .peer = 1,
                                          .transport = builder.NameOf("SDMA"),
                                          .bytes = large ? 100 * kMb : kMb,
                                          .time = large ? 10 * kMs : 100 * kUs,
                                          .count = 1});
    }
    builder.Kernel("MatMulV3", kMs);
  }
  return DiagnoseJob({builder.Build()});
}

TEST(Causes, ManySmallOperations) {
  const Diagnosis diagnosis = WithSmallOperations(4, 300 * kUs);
  const FoundCause* found = FindingWith(diagnosis, "comm.small/g");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 4 * 200 * kUs);  // all but the data
  EXPECT_EQ(MetricIn(*found, "calls_per_step"), 4);
  EXPECT_EQ(MetricIn(*found, "mean_size"), kMb);
}

TEST(Causes, SmallOperationsHaveLimits) {
  EXPECT_EQ(FindingWith(WithSmallOperations(3, 300 * kUs), "comm.small/g"), nullptr)
      << "fewer than four";
  EXPECT_NE(FindingWith(WithSmallOperations(4, 200 * kUs), "comm.small/g"), nullptr)
      << "twice the data";
  EXPECT_EQ(FindingWith(WithSmallOperations(4, 199 * kUs), "comm.small/g"), nullptr)
      << "mostly data";
}

TEST(Causes, OperationsThatASlowPeerHoldsUpAreNotSmall) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    for (int i = 0; i < 5; ++i) {
      const bool large = i == 4;
      const auto number = static_cast<std::uint32_t>(builder.Part().operations.size());
      builder.Collective(fmt::format("hcom_allReduce__1_{}_{}", step, i),
                         large ? 10 * kMs : 300 * kUs);
      if (!large) builder.Part().operations.back().held_up = 150 * kUs;
      builder.Part().transfers.push_back({.operation = number,
                                          .peer = 1,
                                          .transport = builder.NameOf("SDMA"),
                                          .bytes = large ? 100 * kMb : kMb,
                                          .time = large ? 10 * kMs : 100 * kUs,
                                          .count = 1});
    }
    builder.Kernel("MatMulV3", kMs);
  }
  EXPECT_EQ(FindingWith(DiagnoseJob({builder.Build()}), "comm.small/g"), nullptr);
}

// One operation of 14 ms in each step, of which 100 MB take 10 ms. `fill` says what its members do.
template <typename Fill>
std::vector<RankDiagnosis> OneOperation(std::size_t ranks, bool has_peers, Fill fill) {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      const auto number = static_cast<std::uint32_t>(step);
      builder.Step()
          .Kernel("MatMulV3", 10 * kMs)
          .Collective("hcom_allReduce__1_" + std::to_string(step), 14 * kMs);
      OperationPart& operation = builder.Part().operations.back();
      fill(rank, operation);
      auto& leaves = builder.Part().steps.back().leaves;
      leaves[static_cast<std::size_t>(Leaf::kInnerIdle)] = operation.idle;
      leaves[static_cast<std::size_t>(Leaf::kInnerWait)] = operation.held_up;
      leaves[static_cast<std::size_t>(Leaf::kTransfer)] -= operation.idle + operation.held_up;
      if (!has_peers) continue;
      builder.Part().transfers.push_back({.operation = number,
                                          .peer = static_cast<std::int32_t>(rank) + 1,
                                          .transport = builder.NameOf("SDMA"),
                                          .bytes = 100 * kMb,
                                          .time = 10 * kMs,
                                          .count = 1});
    }
    parts.push_back(builder.Build());
  }
  return parts;
}

TEST(Causes, OperationsThatIdle) {
  const Diagnosis diagnosis =
      DiagnoseJob(OneOperation(2, true, [](std::size_t rank, OperationPart& operation) {
        operation.idle = (rank == 0 ? 4 : 3) * kMs;
      }));
  const FoundCause* found = FindingWith(diagnosis, "comm.inner");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 1'500 * kUs) << "half of what all members idle";
  EXPECT_EQ(found->kind, FindingKind::kOpportunity);
  EXPECT_EQ(MetricIn(*found, "time_per_step"), 3.5e6) << "the mean of the ranks";
  const auto little = [](std::size_t, OperationPart& operation) { operation.idle = 700 * kUs; };
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(2, true, little)), "comm.inner"), nullptr)
      << "2.9 % of the step";
}

TEST(Causes, AFixedOrderOfSumsIsAdvisedAgainstWhereItIsSet) {
  std::vector<RankDiagnosis> parts = OneOperation(
      2, true, [](std::size_t, OperationPart& operation) { operation.idle = 4 * kMs; });
  const auto advice = [&] {
    return AdviceOf(*FindingWith(DiagnoseJob(parts), "comm.inner"), Language::kEnglish);
  };
  const std::string usual =
      "compare the modes of HCCL_OP_EXPANSION_MODE; HCCL_BUFFSIZE above the message";
  EXPECT_EQ(advice(), usual);
  parts[0].settings["HCCL_DETERMINISTIC"] = "false";
  EXPECT_EQ(advice(), usual);
  parts[1].settings["HCCL_DETERMINISTIC"] = "true";
  EXPECT_EQ(advice(),
            "HCCL_DETERMINISTIC=false unless results must repeat; compare the modes of "
            "HCCL_OP_EXPANSION_MODE");
}

TEST(Causes, TasksOfTheProfilerMayBeWhatOperationsIdleFor) {
  std::vector<RankDiagnosis> parts = OneOperation(
      2, true, [](std::size_t, OperationPart& operation) { operation.idle = 4 * kMs; });
  EXPECT_EQ(FindingWith(DiagnoseJob(parts), "comm.inner")->confidence, Certainty::kHigh);
  parts[1].level = "Level2";
  EXPECT_EQ(FindingWith(DiagnoseJob(parts), "comm.inner")->confidence, Certainty::kLow);
}

TEST(Causes, AMemberThatWasNotCapturedHoldsUpTheOthers) {
  const Diagnosis diagnosis =
      DiagnoseJob(OneOperation(2, true, [](std::size_t rank, OperationPart& operation) {
        operation.held_up = (rank == 0 ? 4 : 3) * kMs;
      }));
  const FoundCause* found = FindingWith(diagnosis, "comm.inner/peer");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 3 * kMs) << "what all members wait";
  EXPECT_EQ(found->kind, FindingKind::kFault);
  const auto through_port = [](std::size_t, OperationPart& operation) {
    operation.held_up = 4 * kMs;
    operation.port_bytes = 100 * kMb;
  };
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(2, true, through_port)), "comm.inner/peer"),
            nullptr)
      << "the peer sends to both through one port";
  const auto all = [](std::size_t, OperationPart& operation) { operation.held_up = 4 * kMs; };
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(2, false, all)), "comm.inner/peer"), nullptr)
      << "it may be data on their way";
  const auto only_one = [](std::size_t rank, OperationPart& operation) {
    operation.held_up = rank == 0 ? 4 * kMs : 0;
  };
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(2, true, only_one)), "comm.inner/peer"), nullptr)
      << "the slow one was captured";
}

TEST(Causes, ASlowLinkShowsWithoutPeers) {
  const auto fill = [](std::size_t rank, OperationPart& operation) {
    operation.moved = (rank == 2 ? 13 : 10) * kMs;
    if (rank == 2) operation.moved += kMs;  // 14 ms against 10: 0.71 of the speed
  };
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(4, false, fill)), "link.slow/r2"), nullptr)
      << "not slow enough";
  const auto slower = [](std::size_t rank, OperationPart& operation) {
    operation.moved = (rank == 2 ? 14 : 9) * kMs;
  };
  const Diagnosis diagnosis = DiagnoseJob(OneOperation(4, false, slower));
  const FoundCause* found = FindingWith(diagnosis, "link.slow/r2");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 5 * kMs);
  EXPECT_EQ(found->ranks, std::vector<std::int64_t>{2});
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(2, false, slower)), "link.slow/r2"), nullptr)
      << "two are no peers";
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(4, true, slower)), "link.slow/r2"), nullptr)
      << "the links are known, and well";
}

// Ten launches of 10 us in each step, `stalls` of them of `stall`.
Diagnosis WithStalls(int stalls, TimeNs stall, bool has_calls, Leaf leaf = Leaf::kDispatchCann) {
  RankDiagnosis part = ThreeSteps([&](PartBuilder& step) {
    for (int i = 0; i < 10; ++i)
      step.Host(leaf, i < stalls ? stall : 10 * kUs).Kernel("MatMulV3", 100 * kUs);
  });
  part.has_calls = has_calls;
  return DiagnoseJob({part});
}

TEST(Causes, LaunchesThatStall) {
  const Diagnosis diagnosis = WithStalls(2, 210 * kUs, false);
  const FoundCause* found = FindingWith(diagnosis, "host.launch_bound/stalls");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 400 * kUs);  // twice what is beyond the median
  EXPECT_EQ(found->kind, FindingKind::kFault);
  EXPECT_EQ(MetricIn(*found, "calls_per_step"), 2);
  EXPECT_EQ(FindingWith(WithStalls(2, 199 * kUs, false), "host.launch_bound/stalls"), nullptr)
      << "below 20 times the median";
  EXPECT_EQ(FindingWith(WithStalls(2, 210 * kUs, true), "host.launch_bound/stalls"), nullptr)
      << "the calls tell why";
}

TEST(Causes, OperatorsThatStall) {
  const Diagnosis diagnosis = WithStalls(3, 210 * kUs, false, Leaf::kDispatchOp);
  const FoundCause* found = FindingWith(diagnosis, "host.launch_bound/stalls");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 600 * kUs);
  EXPECT_EQ(MetricIn(*found, "time_per_step"), 600 * kUs);
}

// The longest of the calls in a stall tells whether it is one that stands still.
TEST(Causes, ManyShortCallsDoNotStandStill) {
  const auto is_found = [](TimeNs longest) {
    RankDiagnosis part = ThreeSteps([&](PartBuilder& step) {
      for (int i = 0; i < 10; ++i) {
        step.Host(Leaf::kDispatchOp, i == 0 ? 210 * kUs : 10 * kUs);
        HostPlace place;
        place.share = static_cast<std::uint32_t>(step.Part().shares.size() - 1);
        place.name = step.NameOf("aten::view");
        place.count = i == 0 ? 20 : 1;
        place.time = i == 0 ? 210 * kUs : 10 * kUs;
        place.longest = i == 0 ? longest : 10 * kUs;
        step.Part().places.push_back(place);
        step.Kernel("MatMulV3", 100 * kUs);
      }
    });
    part.has_calls = false;
    return FindingWith(DiagnoseJob({part}), "host.launch_bound/stalls") != nullptr;
  };
  EXPECT_TRUE(is_found(105 * kUs)) << "half of it";
  EXPECT_FALSE(is_found(104 * kUs));
}

// Four ranks that meet at the end of a step. Launches of 10 us, of which one on the first
// `stalling` ranks takes 2 ms.
Diagnosis StallsOnRanks(std::size_t stalling) {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const bool stalls = rank < stalling;
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step();
      for (int i = 0; i < 10; ++i)
        builder.Host(Leaf::kDispatchOp, stalls && i == 5 ? 2 * kMs : 10 * kUs)
            .Kernel("MatMulV3", 100 * kUs);
      builder.Collective("hcom_allReduce__1_" + std::to_string(step),
                         kMs + (stalls ? 0 : 1'990 * kUs));
    }
    builder.Part().has_calls = false;
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(Causes, StallsOfOneRankMakeItLate) {
  const Diagnosis one = StallsOnRanks(1);
  EXPECT_EQ(FindingWith(one, "host.launch_bound/stalls"), nullptr);
  const FoundCause* late = FindingWith(one, "rank.late_host/r0");
  ASSERT_NE(late, nullptr);
  EXPECT_NEAR(static_cast<double>(late->gain), 1'990e3, 10);
  const Diagnosis every = StallsOnRanks(4);
  const FoundCause* all = FindingWith(every, "host.launch_bound/stalls");
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(all->gain, 1'990 * kUs);
}

// A step reads five numbers: the host takes 1 ms for each, the copy 10 us.
TEST(Causes, NumbersThatAreReadAreNotCopied) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 10 * kMs);
    for (int i = 0; i < 5; ++i) {
      step.Host(Leaf::kScalarSync, kMs).Kernel("MEMCPY_ASYNC", 10 * kUs, Leaf::kCopyOut);
      step.Part().graph.nodes.back().kind = NodeKind::kCopy;
    }
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "host.sync");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 5 * kMs + 3 * 10 * kUs) << "the last two of a step are usual";
}

// The copies start 10 us after the device is free for them.
TEST(Causes, WhatIsNotCopiedNeedNotStart) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 10 * kMs);
    for (int i = 0; i < 5; ++i) {
      const std::uint32_t before = step.Host(Leaf::kScalarSync, kMs).Last();
      step.Host(Leaf::kDispatchOp, 10 * kUs).Kernel("MEMCPY_ASYNC", 10 * kUs, Leaf::kCopyOut);
      step.Part().graph.nodes.back().kind = NodeKind::kCopy;
      step.Part().graph.edges.back().on = before;
    }
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "host.sync");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 5 * kMs + 3 * (10 + 10) * kUs) << "the last two of a step are usual";
}

// A step has five calls that wait for the device, which has nothing to do: each takes 1 ms of its
// own.
TEST(Causes, ACallThatNeedNotWaitIsNotMade) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 5; ++i) {
      const std::uint32_t before = step.Last();
      const auto edge = static_cast<std::uint32_t>(step.Part().graph.edges.size());
      step.Host(Leaf::kScalarSync, kMs);
      RankDiagnosis& part_of = step.Part();
      part_of.shares.pop_back();
      part_of.graph.edges.push_back({step.Last(), before, WaitsFor::kEnd, 0});
      part_of.blocked.push_back({.edge = edge + 1,
                                 .leaf = Leaf::kScalarSync,
                                 .step = static_cast<std::int32_t>(part_of.steps.size()) - 1,
                                 .start = step.Now() - kMs,
                                 .dur = kMs,
                                 .own_edge = edge,
                                 .own = kMs});
    }
    step.Kernel("MatMulV3", kMs);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  EXPECT_EQ(diagnosis.step, 6 * kMs);
  const FoundCause* found = FindingWith(diagnosis, "host.sync");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 3 * kMs) << "the last two of a step are usual";
}

// A kernel of 1 ms, which the host takes 500 us to launch.
TEST(Causes, AtMostAKernelOfTheAiCpuIsNotNeeded) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 2 * kMs).Host(Leaf::kDispatchCann, 500 * kUs);
    step.Part().graph.nodes.back().kind = NodeKind::kLaunch;
    step.Kernel("Unique", kMs, Leaf::kAiCpu);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "op.aicpu");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 900 * kUs);
  EXPECT_EQ(found->gain_max, 1500 * kUs);
}

// Two ranks of two hosts reduce once a step for 10 ms, in which `bytes` go through the port in 8
// ms.
Diagnosis WithPorts(std::int64_t bytes) {
  std::vector<RankDiagnosis> parts;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    PartBuilder builder;
    for (std::uint32_t step = 0; step < 3; ++step) {
      builder.Step()
          .Kernel("MatMulV3", 10 * kMs)
          .Collective("hcom_allReduce__1_" + std::to_string(step), 10 * kMs);
      builder.Part().operations.back().port_bytes = bytes;
      builder.Part().operations.back().port_time = 8 * kMs;
      builder.Part().transfers.push_back({.operation = step,
                                          .peer = 1 - rank,
                                          .transport = builder.NameOf("RDMA"),
                                          .bytes = bytes,
                                          .time = 8 * kMs,
                                          .count = 1});
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(Causes, ANetworkThatIsSlowEverywhere) {
  const Diagnosis diagnosis = WithPorts(25 * kMb);  // 3.125 GB/s; 2 ms at 12.5
  const FoundCause* found = FindingWith(diagnosis, "link.slow/ports");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 6 * kMs);
  EXPECT_EQ(found->ranks, (std::vector<std::int64_t>{0, 1})) << "either may be the slow one";
  EXPECT_EQ(found->confidence, Certainty::kMedium);
  EXPECT_EQ(MetricIn(*found, "bandwidth"), 3.125);
  EXPECT_NE(FindingWith(WithPorts(59 * kMb), "link.slow/ports"), nullptr)
      << "7.375 GB/s, 59 % of the port";
  EXPECT_EQ(FindingWith(WithPorts(60 * kMb), "link.slow/ports"), nullptr) << "60 % of the port";
  EXPECT_EQ(FindingWith(WithPorts(1'048'575), "link.slow/ports"), nullptr) << "too little to tell";
}

// Two groups called "tp" of two ranks each, with `count` operations of 1 ms; those of the first
// group take `slow`.
Diagnosis TwoGroups(int count, TimeNs slow) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 4; ++rank) {
    const bool is_first = rank < 2;
    PartBuilder builder;
    for (int step = 0; step < count; ++step) {
      builder.Step().Kernel("MatMulV3", 10 * kMs);
      builder.Collective("hcom_allReduce__1_" + std::to_string(step), is_first ? slow : kMs,
                         "allreduce", is_first ? "a" : "b");
    }
    builder.Part().collectives.groups = {{"a", "tp", {0, 1}}, {"b", "tp", {2, 3}}};
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(Causes, ASlowGroupShowsWithoutPeers) {
  const Diagnosis diagnosis = TwoGroups(5, 3 * kMs);
  const FoundCause* found = FindingWith(diagnosis, "link.slow/r0+1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * kMs);
  EXPECT_EQ(found->ranks, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(MetricIn(*found, "slower_than_peers"), 3);
  EXPECT_EQ(FindingWith(TwoGroups(4, 3 * kMs), "link.slow/r0+1"), nullptr)
      << "four operations are no habit";
  EXPECT_EQ(FindingWith(TwoGroups(5, 1'400 * kUs), "link.slow/r0+1"), nullptr)
      << "0.71 of the speed";
}

// Ranks 0 and 1 meet once a step in a group of their own. Each of them also waits for others that
// were not captured: for 4 ms, in an operation of 5 ms.
Diagnosis WaitForUncaptured(const std::vector<std::int64_t>& others_of_0,
                            const std::vector<std::int64_t>& others_of_1) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 2; ++rank) {
    const std::string own = rank == 0 ? "a" : "b";
    PartBuilder builder;
    RankCollectives& met = builder.Part().collectives;
    met.rank = rank;
    met.runs.texts = {own, "allReduce"};
    met.own_rank_of_group = {0, -1};
    for (int step = 0; step < 3; ++step) {
      builder.Step().Kernel("MatMulV3", 10 * kMs);
      const TimeNs start = builder.Now();
      const std::string name = "hcom_allReduce__1_" + std::to_string(step);
      met.runs.texts.push_back(name);
      met.own_rank_of_group.push_back(-1);
      met.runs.rows.push_back(
          {.group = 0,
           .name = static_cast<std::uint32_t>(met.runs.texts.size() - 1),
           .type = 1,
           .data_type = 1,
           .start = start,
           .dur = 5 * kMs,
           .operation = static_cast<std::int32_t>(builder.Part().operations.size())});
      met.last.push_back({.known = true, .time = start + 4 * kMs});
      met.seen.emplace_back();
      builder.Collective(name, 5 * kMs, "allreduce", own)
          .Collective("both_" + std::to_string(step), kMs, "allreduce", "t");
    }
    met.groups = {{"a", "dp", {0}}, {"b", "dp", {1}}, {"t", "tp", {0, 1}}};
    for (const std::int64_t other : others_of_0) met.groups[0].ranks.push_back(other);
    for (const std::int64_t other : others_of_1) met.groups[1].ranks.push_back(other);
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(Causes, TheOnlyOtherMemberIsTheLateOne) {
  const Diagnosis diagnosis = WaitForUncaptured({4}, {5});
  // Each of them alone would win nothing: the ranks meet behind.
  const FoundCause* found = FindingWith(diagnosis, "rank.late/r4+5");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, (std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(found->gain, 4 * kMs);
  const Diagnosis several = WaitForUncaptured({4, 6}, {5, 7});
  found = FindingWith(several, "rank.late/unknown");
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->ranks.empty());
  EXPECT_EQ(found->gain, 4 * kMs);
}

// Rank 0 of four meets the others `count` times in each of three steps of 10 ms, for twice `late`.
// Rank 1 comes with it, and so late come the ranks that `others` tells of the number of the
// meeting, each by `further` after the one before.
template <typename Others>
Diagnosis SeesOthersComeLate(int count, TimeNs late, Others others, TimeNs further = 0) {
  PartBuilder builder;
  RankCollectives& met = builder.Part().collectives;
  met.rank = 0;
  met.runs.texts = {"a", "allReduce"};
  met.own_rank_of_group = {0, -1};
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", 10 * kMs);
    for (int i = 0; i < count; ++i) {
      const auto number = static_cast<std::int32_t>(builder.Part().operations.size());
      const std::string name = "hcom_allReduce__1_" + std::to_string(number);
      met.runs.texts.push_back(name);
      met.own_rank_of_group.push_back(-1);
      met.runs.rows.push_back({.group = 0,
                               .name = static_cast<std::uint32_t>(met.runs.texts.size() - 1),
                               .type = 1,
                               .data_type = 1,
                               .start = builder.Now(),
                               .dur = 2 * late,
                               .operation = number});
      met.last.push_back({});
      auto& seen = met.seen.emplace_back();
      const std::vector<std::int32_t> of_meeting = others(number);
      for (std::int32_t peer = 1; peer < 4; ++peer) {
        const auto place = std::find(of_meeting.begin(), of_meeting.end(), peer);
        const bool is_late = place != of_meeting.end();
        const TimeNs behind = is_late ? late + further * (place - of_meeting.begin()) : 0;
        seen.push_back(
            {.operation = number, .peer = peer, .time = builder.Now() + behind, .waited = is_late});
      }
      builder.Collective(name, 2 * late, "allreduce", "a");
    }
  }
  met.groups = {{"a", "tp", {0, 1, 2, 3}}};
  return DiagnoseJob({builder.Build()});
}

TEST(Causes, SeveralThatComeTogetherAreLateTogether) {
  const Diagnosis diagnosis = SeesOthersComeLate(1, 4 * kMs, [](std::int32_t) {
    return std::vector<std::int32_t>{2, 3};
  });
  const FoundCause* found = FindingWith(diagnosis, "rank.late/r2+3");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(found->gain, 4 * kMs);
  const Diagnosis most = SeesOthersComeLate(1, 4 * kMs, [](std::int32_t) {
    return std::vector<std::int32_t>{1, 2, 3};
  });
  for (const FoundCause& finding : most.findings)
    EXPECT_FALSE(finding.Is(kRankLate)) << "rank 0 is early";
}

// Rank 2 comes 4 ms late, and rank 3 3 ms after it: two causes, although they cost about the same.
TEST(Causes, TheSecondLateRankHasACostOfItsOwn) {
  const Diagnosis diagnosis = SeesOthersComeLate(
      1, 4 * kMs,
      [](std::int32_t) {
        return std::vector<std::int32_t>{2, 3};
      },
      3 * kMs);
  const FoundCause* last = FindingWith(diagnosis, "rank.late/r3");
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->gain, 3 * kMs);
  EXPECT_EQ(MetricIn(*last, "late_by"), 3e6);
  const FoundCause* second = FindingWith(diagnosis, "rank.late/r2");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->gain, 4 * kMs);
  EXPECT_EQ(second->alone, 0) << "hidden behind rank 3";
  EXPECT_EQ(MetricIn(*second, "late_by_before_last"), 4e6);
  EXPECT_EQ(diagnosis.step - diagnosis.floor, 7 * kMs);
}

TEST(Causes, LittleLatenessAddsUpWhereItIsAHabit) {
  const Diagnosis diagnosis =
      SeesOthersComeLate(10, 40 * kUs, [](std::int32_t) { return std::vector<std::int32_t>{2}; });
  const FoundCause* found = FindingWith(diagnosis, "rank.late/r2");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 10 * 40 * kUs);
  const Diagnosis turns = SeesOthersComeLate(
      10, 40 * kUs, [](std::int32_t number) { return std::vector<std::int32_t>{2 + number % 2}; });
  for (const FoundCause& finding : turns.findings)
    EXPECT_FALSE(finding.Is(kRankLate)) << "each in half of the operations";
}

TEST(Causes, LatenessIsSeenInItsSteps) {
  const auto second = [](std::int32_t number) {
    return number == 1 ? std::vector<std::int32_t>{2} : std::vector<std::int32_t>{};
  };
  const Diagnosis diagnosis = SeesOthersComeLate(1, 3 * kMs, second);
  const FoundCause* found = FindingWith(diagnosis, "rank.late/r2");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs) << "3 ms in one of three steps";
  EXPECT_EQ(found->steps, std::vector<std::int32_t>{11});
}

// --- What wins nothing by itself ---

TEST(Causes, AllocationsThatAskAgain) {
  PartBuilder builder;
  for (int step = 0; step < 4; ++step)
    builder.Step().Host(Leaf::kPython, kMs).Kernel("MatMulV3", kMs);
  builder.Part().blocked.push_back({.edge = 1, .leaf = Leaf::kMemory, .step = 1});
  builder.Part().peak_reserved = 61 * std::int64_t{1'000'000'000};
  RankDiagnosis part = builder.Build();
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "mem.pressure"), nullptr) << "once in four steps";
  part.blocked.push_back({.edge = 1, .leaf = Leaf::kMemory, .step = 2});
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "mem.pressure");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 0) << "that is the matter of host.memory";
  EXPECT_EQ(MetricIn(*found, "retries_per_step"), 0.5);
  EXPECT_EQ(MetricIn(*found, "peak_reserved"), 61e9);
  part.blocked.back().leaf = Leaf::kExplicitSync;
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "mem.pressure"), nullptr);
}

// Allocations that ask again while the allocator holds so many times what its tensors take; 0: not
// recorded.
FoundCause RetriesWith(double held, const Rules& rules = {}, const std::string& setting = "") {
  PartBuilder builder;
  for (int step = 0; step < 4; ++step) {
    builder.Step().Host(Leaf::kPython, kMs).Kernel("MatMulV3", kMs);
    builder.Part().blocked.push_back({.edge = 1, .leaf = Leaf::kMemory, .step = step});
  }
  builder.Part().pool_allocated = held > 0 ? 1'000'000 : 0;
  builder.Part().pool_reserved = static_cast<std::int64_t>(held * 1e6);
  if (!setting.empty()) builder.Part().settings["PYTORCH_NPU_ALLOC_CONF"] = setting;
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()}, rules);
  const FoundCause* found = FindingWith(diagnosis, "mem.pressure");
  if (found == nullptr) ADD_FAILURE() << "no mem.pressure";
  return found == nullptr ? MadeFinding("mem.pressure", 0) : *found;
}

TEST(Causes, MemoryInPiecesNeedsSegmentsThatGrow) {
  const std::string in_pieces =
      "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True; recompute activations";
  const std::string full = "recompute activations; shard the optimizer over the ranks";
  const auto advice = [](const FoundCause& found) { return AdviceOf(found, Language::kEnglish); };
  EXPECT_EQ(advice(RetriesWith(1.4)), in_pieces);
  EXPECT_EQ(advice(RetriesWith(1.39)), full) << "tensors fill it";
  EXPECT_EQ(advice(RetriesWith(0)), full) << "not recorded";
  EXPECT_EQ(advice(RetriesWith(2, {}, "expandable_segments:True")), full) << "they grow already";
  EXPECT_EQ(MetricIn(RetriesWith(1.5), "reserved_of_allocated"), 1.5);
  EXPECT_EQ(MetricIn(RetriesWith(0), "reserved_of_allocated"), -1);
  Rules rules;
  SetRule("mem.pressure", "in_pieces", 1.6, rules);
  EXPECT_EQ(advice(RetriesWith(1.5, rules)), full);
}

// Four steps of 10 ms in which the host compiles for some time before.
std::vector<std::int32_t> DroppedSteps(const std::vector<TimeNs>& compiling) {
  PartBuilder builder;
  for (const TimeNs time : compiling)
    builder.Step().Host(Leaf::kCompile, time).Kernel("MatMulV3", 10 * kMs);
  return DiagnoseJob({builder.Build()}).dropped_steps;
}

TEST(Causes, AFirstStepThatCompilesIsWarmUp) {
  const std::vector<std::int32_t> first = {10}, none;
  EXPECT_EQ(DroppedSteps({kMs, 0, 0, 0}), first);
  EXPECT_EQ(DroppedSteps({kMs, 100 * kUs, 100 * kUs, 100 * kUs}), first) << "a tenth of it later";
  EXPECT_EQ(DroppedSteps({kMs, 101 * kUs, 101 * kUs, 101 * kUs}), none)
      << "more than that is usual";
  EXPECT_EQ(DroppedSteps({300 * kUs, 0, 0, 0}), none) << "2.9 % of the step";
  EXPECT_EQ(DroppedSteps({kMs, 0}), none) << "of two steps none is usual";
}

// How many causes of late ranks cannot be judged with so many ranks that meet in each of some
// steps.
std::ptrdiff_t LateNotJudged(std::size_t ranks, int steps) {
  PartBuilder builder;
  for (int step = 0; step < steps; ++step)
    builder.Step()
        .Kernel("MatMulV3", kMs)
        .Collective("hcom_allReduce__1_" + std::to_string(step), kMs);
  const auto rows = DiagnoseJob(std::vector<RankDiagnosis>(ranks, builder.Build())).not_judged;
  return std::count_if(rows.begin(), rows.end(), [](const NotJudged& row) {
    return row.finding->id.starts_with("rank.late_");
  });
}

TEST(Causes, WhatCannotBeJudgedIsTold) {
  EXPECT_EQ(LateNotJudged(3, 1), 0);
  EXPECT_EQ(LateNotJudged(2, 2), 0);
  EXPECT_EQ(LateNotJudged(2, 1), 3) << "in one step either may be the odd one";
  EXPECT_EQ(LateNotJudged(1, 3), 3);
  const auto part = ThreeSteps([](PartBuilder& step) { step.Kernel("MatMulV3", kMs); });
  const Diagnosis diagnosis = DiagnoseJob({part, part, part});
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_TRUE(diagnosis.findings.back().Is(kCaptureMissing)) << "the last of all";
  EXPECT_EQ(MetricIn(diagnosis.findings.back(), "causes_not_judged"), 4)
      << "ranks that never meet are not compared, and no clock is recorded";
  EXPECT_EQ(diagnosis.not_judged.size(), 4u);
}

// Four ranks that meet at the end of each of eight steps. `extra` tells what a rank's host takes
// more.
template <typename Extra>
std::vector<RankDiagnosis> EightSteps(Leaf leaf, Extra extra) {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (std::size_t step = 0; step < 8; ++step) {
      const TimeNs more = extra(rank, step);
      TimeNs last = 0;
      for (std::size_t other = 0; other < 4; ++other) last = std::max(last, extra(other, step));
      builder.Step().Host(leaf, kMs + more).Kernel("MatMulV3", 4 * kMs);
      builder.Collective("hcom_allReduce__1_" + std::to_string(step), kMs + last - more);
    }
    parts.push_back(builder.Build());
  }
  return parts;
}

TEST(Causes, AnotherRankStallsInEachStep) {
  const Diagnosis diagnosis =
      DiagnoseJob(EightSteps(Leaf::kPython, [](std::size_t rank, std::size_t step) {
        return step % 4 == rank ? 2 * kMs : 0;
      }));
  EXPECT_EQ(diagnosis.step, 8 * kMs);
  const FoundCause* found = FindingWith(diagnosis, "rank.jitter/free.dispatch.op");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * kMs);
  EXPECT_EQ(MetricIn(*found, "different_ranks"), 4);
  EXPECT_TRUE(found->ranks.empty());
}

TEST(Causes, OneRankThatIsAlwaysLateIsNoJitter) {
  const Diagnosis diagnosis = DiagnoseJob(EightSteps(
      Leaf::kPython, [](std::size_t rank, std::size_t) { return rank == 2 ? 2 * kMs : 0; }));
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings[0].key, "rank.late_host/r2");
  EXPECT_EQ(diagnosis.findings[0].gain, 2 * kMs);
}

// All differ a little in each step, but only one of them stalls, once.
TEST(Causes, AStallInOneStepIsNoJitter) {
  const auto extra = [](std::size_t rank, std::size_t step) {
    return rank == 2 && step == 3 ? 20 * kMs : step % 4 == rank ? 100 * kUs : 0;
  };
  const Diagnosis diagnosis = DiagnoseJob(EightSteps(Leaf::kPython, extra));
  EXPECT_EQ(FindingWith(diagnosis, "rank.jitter/free.dispatch.op"), nullptr);
  const FoundCause* found = FindingWith(diagnosis, "rank.late_host/r2");
  ASSERT_NE(found, nullptr);
  // 0.1 ms in steps 2 and 6; in step 3 what is beyond rank 3.
  EXPECT_NEAR(static_cast<double>(found->gain), (100e3 + 100e3 + 19.9e6) / 8, 10);
}

TEST(Causes, RanksThatHaveNothingToDoWithEachOtherAreNotCompared) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step)
      builder.Step().Host(Leaf::kPython, rank == 2 ? 9 * kMs : kMs).Kernel("MatMulV3", kMs);
    parts.push_back(builder.Build());
  }
  for (const FoundCause& finding : DiagnoseJob(parts).findings)
    EXPECT_FALSE(finding.Is(kRankLateHost));
}

TEST(Causes, CapturesOfOtherDaysBeginTogether) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 2; ++rank) {
    PartBuilder builder;
    builder.Step().Kernel("MatMulV3", kMs);
    parts.push_back(builder.Build());
  }
  constexpr TimeNs kDay = 86'400'000'000'000;
  parts[1].steps[0].begin += kDay;
  parts[1].steps[0].end += kDay;
  for (GraphNode& node : parts[1].graph.nodes) node.start += kDay;
  EXPECT_EQ(DiagnoseJob(parts).step, kMs);
}

TEST(Causes, LargerBatchesOnARank) {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      const TimeNs own = rank == 1 ? 6 * kMs : 4 * kMs;
      builder.Step().Kernel("MatMulV3", own);
      if (rank == 1) builder.Kind("MatMulV3").shapes = builder.NameOf("96,64");
      builder.Collective("hcom_allReduce__1_" + std::to_string(step), kMs + 6 * kMs - own);
    }
    parts.push_back(builder.Build());
  }
  const Diagnosis diagnosis = DiagnoseJob(parts);
  const FoundCause* found = FindingWith(diagnosis, "data.imbalance/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * kMs);
}

// The experts of rank 1 get more tokens. In training that is sure; a few tokens of inference fall
// on some experts by chance.
TEST(Causes, UnevenExpertsOfInferenceMayBeChance) {
  const auto diagnose = [](std::string_view attention) {
    std::vector<RankDiagnosis> parts;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      PartBuilder builder;
      for (int step = 0; step < 3; ++step) {
        const TimeNs own = rank == 1 ? 6 * kMs : 4 * kMs;
        builder.Step()
            .Kernel(attention, kMs, Leaf::kAttention)
            .Kernel("GroupedMatmul", own, Leaf::kGroupedMatmul);
        if (rank == 1) builder.Kind("GroupedMatmul").shapes = builder.NameOf("96,64");
        builder.Collective("hcom_alltoall__1_" + std::to_string(step), kMs + 6 * kMs - own,
                           "alltoall");
      }
      parts.push_back(builder.Build());
    }
    const Diagnosis diagnosis = DiagnoseJob(parts);
    const FoundCause* found = FindingWith(diagnosis, "ep.imbalance/r1");
    EXPECT_NE(found, nullptr) << attention;
    return found != nullptr ? found->confidence : Certainty::kMedium;
  };
  EXPECT_EQ(diagnose("FlashAttentionScore"), Certainty::kHigh);
  EXPECT_EQ(diagnose("PagedAttentionMaskKernel"), Certainty::kLow);
}

TEST(Causes, EveryLaunchWaits) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    const std::uint32_t begin = builder.Last() - 1, kernel = builder.Last();
    // The host waits for the kernel, works for a millisecond, and launches the next.
    RankDiagnosis& part = builder.Part();
    const auto edge = static_cast<std::uint32_t>(part.graph.edges.size());
    builder.Host(Leaf::kDispatchOp, kMs);
    part.graph.edges[edge].on = begin;  // without the wait it would follow the begin of the step
    part.graph.edges.push_back({builder.Last(), kernel, WaitsFor::kEnd, kMs});
    part.blocked.push_back({.edge = edge + 1,
                            .leaf = Leaf::kExplicitSync,
                            .step = step,
                            .start = builder.Now(),
                            .dur = kMs,
                            .behind_launch = true});
    builder.Kernel("MatMulV3", kMs);
    part.graph.edges.push_back({builder.Last(), kernel, WaitsFor::kEnd, 0});  // one stream
    part.steps.back().launches = 2;
  }
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
  EXPECT_EQ(diagnosis.step, 3 * kMs);
  const FoundCause* found = FindingWith(diagnosis, "host.launch_blocking");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs);
  EXPECT_EQ(MetricIn(*found, "waits_of_launches"), 0.5);
  EXPECT_EQ(FindingWith(diagnosis, "host.sync"), nullptr);
}

TEST(Causes, LaunchesThatAreHeldUp) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Host(Leaf::kDispatchCann, 2 * kMs).Kernel("MatMulV3", kMs);
    StepPart& of = builder.Part().steps.back();
    of.launches = 100;
    of.launch_median = 10 * kUs;
    of.launch_decile = 40 * kUs;
    of.launch_time = 2 * kMs;  // half of it beyond 100 x 10 us
  }
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
  const FoundCause* found = FindingWith(diagnosis, "host.cpu_contention");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs);
  EXPECT_EQ(found->confidence, Certainty::kLow);
}

TEST(Causes, PythonBetweenOperators) {
  const auto part = ThreeSteps(
      [](PartBuilder& step) { step.Host(Leaf::kPython, 2 * kMs).Kernel("MatMulV3", 8 * kMs); });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "host.python");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs);
  EXPECT_EQ(found->gain_max, 2 * kMs);
}

TEST(Causes, SettingsThatCostTime) {
  std::vector<RankDiagnosis> parts =
      EightSteps(Leaf::kPython, [](std::size_t, std::size_t) { return TimeNs{0}; });
  for (RankDiagnosis& part : parts) part.settings["TASK_QUEUE_ENABLE"] = "2";
  parts[3].settings["TASK_QUEUE_ENABLE"] = "0";
  const Diagnosis diagnosis = DiagnoseJob(parts);
  const FoundCause* found = FindingWith(diagnosis, "env.check/TASK_QUEUE_ENABLE");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(found->gain, 0);
  EXPECT_EQ(MetricIn(*found, "ranks_with_value"), 1);
  EXPECT_EQ(TitleOf(*found, Language::kEnglish),
            "TASK_QUEUE_ENABLE=0: the thread that calls operators launches them, too");
  EXPECT_EQ(FactsText(*found, Language::kEnglish, 76), "0 on rank 3");
  EXPECT_EQ(AdviceOf(*found, Language::kEnglish),
            "TASK_QUEUE_ENABLE=2 (raises peak device memory)");
  EXPECT_EQ(diagnosis.settings.at("TASK_QUEUE_ENABLE"), "0 (rank 3), 2 (ranks 0-2)");
}

TEST(Causes, SettingsThatDifferBetweenRanks) {
  std::vector<RankDiagnosis> parts =
      EightSteps(Leaf::kPython, [](std::size_t, std::size_t) { return TimeNs{0}; });
  for (RankDiagnosis& part : parts) part.settings["CPU_AFFINITY_CONF"] = "1,npu0:0-9";
  parts[1].settings["CPU_AFFINITY_CONF"] = "1,npu1:10-19";  // the cores may differ, the mode not
  EXPECT_EQ(FindingWith(DiagnoseJob(parts), "env.check/CPU_AFFINITY_CONF"), nullptr);
  parts[2].settings["CPU_AFFINITY_CONF"] = "2";
  parts[3].settings.clear();
  const Diagnosis diagnosis = DiagnoseJob(parts);
  const FoundCause* found = FindingWith(diagnosis, "env.check/CPU_AFFINITY_CONF");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(MetricIn(*found, "different_values"), 3);
  EXPECT_EQ(TitleOf(*found, Language::kEnglish),
            "the ranks have different values of CPU_AFFINITY_CONF");
  EXPECT_EQ(FactsText(*found, Language::kEnglish, 76),
            "no value on rank 3, 1 on ranks 0, 1, 2 on rank 2");
  EXPECT_EQ(AdviceOf(*found, Language::kEnglish), "set the same value on all ranks");
}

PartBuilder& LaunchAfter(TimeNs work, PartBuilder& step) {
  step.Host(Leaf::kDispatchOp, work);
  step.Part().graph.nodes.back().kind = NodeKind::kLaunch;
  return step;
}

TEST(Causes, AVariableNamesTheFindingThatItAddsTo) {
  auto part = ThreeSteps(
      [](PartBuilder& step) { step.Host(Leaf::kPython, 2 * kMs).Kernel("MatMulV3", 8 * kMs); });
  part.settings["ASCEND_GLOBAL_LOG_LEVEL"] = "1";
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "env.check/ASCEND_GLOBAL_LOG_LEVEL")->setting->serves,
            "");
  const auto bound = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 40; ++i) LaunchAfter(kMs / 5, step).Kernel("Add", kMs / 20);
  });
  part = bound;
  part.settings["ASCEND_GLOBAL_LOG_LEVEL"] = "1";
  const Diagnosis diagnosis = DiagnoseJob({part});
  ASSERT_NE(FindingWith(diagnosis, "host.launch_bound"), nullptr);
  EXPECT_EQ(FindingWith(diagnosis, "env.check/ASCEND_GLOBAL_LOG_LEVEL")->setting->serves,
            "host.launch_bound");
}

TEST(Causes, SettingsThatAllRanksHaveAreNotAdvised) {
  std::vector<RankDiagnosis> parts(1, ThreeSteps([](PartBuilder& step) {
                                     for (int i = 0; i < 40; ++i)
                                       LaunchAfter(kMs / 5, step).Kernel("Add", kMs / 20);
                                   }));
  const auto advice = [&] {
    const Diagnosis diagnosis = DiagnoseJob(parts);
    const FoundCause* found = FindingWith(diagnosis, "host.launch_bound");
    return found == nullptr ? "none" : AdviceOf(*found, Language::kEnglish);
  };
  EXPECT_EQ(advice(), "TASK_QUEUE_ENABLE=2 (raises peak device memory); CPU_AFFINITY_CONF=2");
  parts[0].settings["TASK_QUEUE_ENABLE"] = "2";
  EXPECT_EQ(advice(), "CPU_AFFINITY_CONF=2; use fused operators or graphs");
  parts.push_back(parts[0]);
  parts[1].settings.clear();
  EXPECT_EQ(advice(), "TASK_QUEUE_ENABLE=2 (raises peak device memory); CPU_AFFINITY_CONF=2")
      << "only one of the ranks has it";
}

TEST(Causes, StacksMakeTheHostSlow) {
  auto part = ThreeSteps(
      [](PartBuilder& step) { step.Host(Leaf::kPython, 2 * kMs).Kernel("MatMulV3", 8 * kMs); });
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "capture.overhead"), nullptr);
  part.settings["profiler.stack"] = "on";
  EXPECT_NE(FindingWith(DiagnoseJob({part}), "capture.overhead"), nullptr);
}

}  // namespace
}  // namespace mpa

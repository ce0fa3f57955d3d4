// SPDX-License-Identifier: Apache-2.0
// Ranks that are late in pipelines whose stages have two ranks. The gains are worked out by hand.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"

namespace mpa {
namespace {

// Ranks 0 and 1 are the first stage, 2 and 3 the second one. `host` says what the host of a rank
// does in a step, at most 5 ms of it; the kernel takes 10 ms, and all meet when the latest is done.
template <typename Host>
Diagnosis TwoByTwo(Host host) {
  std::vector<RankDiagnosis> parts;
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      const TimeNs begin = builder.Now();
      builder.Step();
      const std::pair<TimeCategory, TimeNs> work = host(rank);
      if (work.second > 0) builder.Host(work.first, work.second);
      builder.Kernel("MatMulV3", 10 * kMs)
          .Collective("all_" + std::to_string(step), begin + 16 * kMs - builder.Now());
    }
    builder.Part().collectives.groups = {{"p", "pp", {rank % 2, rank % 2 + 2}}};
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

MPA_REFUTES(RankCauses, WhoLoadsDataIsComparedWithAllThatDo, "host.dataloader");
TEST(RankCauses, WhoLoadsDataIsComparedWithAllThatDo) {
  const Diagnosis diagnosis = TwoByTwo([](std::int64_t rank) {
    return std::pair(TimeCategory::kDataLoader, (rank == 1 ? 5 : 1) * kMs);
  });
  const Finding* found = FindingWith(diagnosis, "rank.late_input/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 4 * kMs);
}

TEST(RankCauses, CompilingIsPartOfNoRole) {
  const Diagnosis diagnosis = TwoByTwo(
      [](std::int64_t rank) { return std::pair(TimeCategory::kCompile, rank == 1 ? 5 * kMs : 0); });
  const Finding* found = FindingWith(diagnosis, "rank.late_host/r1/compile");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 5 * kMs);
}

TEST(RankCauses, OfTwoRanksOfAStageTheSlowerOneIsLate) {
  const Diagnosis diagnosis = TwoByTwo([](std::int64_t rank) {
    return std::pair(TimeCategory::kDispatchOp, (rank == 1 ? 5 : 1) * kMs);
  });
  const Finding* found = FindingWith(diagnosis, "rank.late_host/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 4 * kMs);
}

TEST(RankCauses, AStageMayHaveMoreToDispatch) {
  const Diagnosis diagnosis = TwoByTwo([](std::int64_t rank) {
    return std::pair(TimeCategory::kDispatchOp, (rank > 1 ? 5 : 1) * kMs);
  });
  EXPECT_EQ(FindingWith(diagnosis, "rank.late_host/r2+3"), nullptr) << "its ranks do it alike";
}

// Two ranks whose kernels take 10 ms, in some of the steps 14 ms on rank 1, before they meet.
Diagnosis TwoRanks(const std::vector<bool>& slow) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 2; ++rank) {
    PartBuilder builder;
    for (std::size_t step = 0; step < slow.size(); ++step) {
      const TimeNs begin = builder.Now();
      builder.Step().Kernel("MatMulV3", (rank == 1 && slow[step] ? 14 : 10) * kMs);
      builder.Collective("all_" + std::to_string(step), begin + 16 * kMs - builder.Now());
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

// Four ranks in three steps. In the last `late` steps rank 1 does what `work` says before a kernel
// of 10 ms; the others load data for 1 ms.
Diagnosis LateInSteps(std::size_t late, const std::vector<std::pair<TimeCategory, TimeNs>>& work) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (std::size_t step = 0; step < 3; ++step) {
      const TimeNs begin = builder.Now();
      const bool is_late = step + late >= 3;
      builder.Step();
      if (rank == 1 && is_late) {
        for (const auto& [category, time] : work) builder.Host(category, time);
      } else {
        builder.Host(TimeCategory::kDataLoader, kMs);
      }
      builder.Kernel("MatMulV3", 10 * kMs)
          .Collective("all_" + std::to_string(step),
                      begin + (is_late ? 20 : 12) * kMs - builder.Now());
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(RankCauses, TheStepsAreThoseInWhichItIsLate) {
  const Diagnosis once = LateInSteps(1, {{TimeCategory::kDataLoader, 9 * kMs}});
  const Finding* found = FindingWith(once, "rank.late_input/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->steps, std::vector<std::int32_t>{12}) << "the third; the first is 10";
  EXPECT_EQ(MetricIn(*found, "slower_than_peers"), 9) << "9 ms against 1 ms in that step";
  EXPECT_EQ(MetricIn(*found, "excess_per_step"), 8 * kMs);
  EXPECT_EQ(found->gain, 8 * kMs / 3) << "of the mean step";
  const Diagnosis always = LateInSteps(3, {{TimeCategory::kDataLoader, 9 * kMs}});
  ASSERT_NE(FindingWith(always, "rank.late_input/r1"), nullptr);
  EXPECT_EQ(FindingWith(always, "rank.late_input/r1")->steps,
            (std::vector<std::int32_t>{10, 11, 12}));
}

TEST(RankCauses, TheCategoryIsTheOneWithTheLargestExcess) {
  const auto category_of = [](const char* key,
                              const std::vector<std::pair<TimeCategory, TimeNs>>& work) {
    const Diagnosis diagnosis = LateInSteps(3, work);
    const Finding* found = FindingWith(diagnosis, key);
    return found == nullptr ? std::string("no finding") : found->category;
  };
  EXPECT_EQ(category_of("rank.late_input/r1",
                        {{TimeCategory::kDataLoader, 2 * kMs}, {TimeCategory::kHostCopy, 5 * kMs}}),
            "free.copy");
  EXPECT_EQ(category_of("rank.late_input/r1",
                        {{TimeCategory::kDataLoader, 6 * kMs}, {TimeCategory::kHostCopy, 2 * kMs}}),
            "free.dataloader");
  EXPECT_EQ(category_of("rank.late_host/r1", {{TimeCategory::kDataLoader, kMs},
                                              {TimeCategory::kDispatchOp, 2 * kMs},
                                              {TimeCategory::kPython, 4 * kMs}}),
            "free.python");
  EXPECT_EQ(category_of("rank.late_host/r1/compile",
                        {{TimeCategory::kDataLoader, kMs}, {TimeCategory::kAclOp, 4 * kMs}}),
            "free.aclop");
}

TEST(RankCauses, OfTwoRanksTheOneThatIsSlowerInMostStepsIsLate) {
  const Diagnosis diagnosis = TwoRanks({true, false, true});
  const Finding* found = FindingWith(diagnosis, "rank.late_compute/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(static_cast<double>(found->gain), 8e6 / 3, 1) << "4 ms in two of three steps";
  EXPECT_EQ(FindingWith(TwoRanks({true}), "rank.late_compute/r1"), nullptr)
      << "either may be the odd one";
  EXPECT_EQ(FindingWith(TwoRanks({true, false, false}), "rank.late_compute/r1"), nullptr)
      << "once in three steps";
  EXPECT_EQ(FindingWith(TwoRanks({true, true, false, false}), "rank.late_compute/r1"), nullptr)
      << "in half of the steps";
}

// As TwoByTwo, with kernels of 15 ms on both ranks of the second stage. `bytes`: of their tensors,
// 0 where shapes are not recorded.
Diagnosis SlowStage(std::int64_t bytes) {
  std::vector<RankDiagnosis> parts;
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      const TimeNs begin = builder.Now();
      builder.Step().Kernel("MatMulV3", (rank > 1 ? 15 : 10) * kMs);
      builder.Collective("all_" + std::to_string(step), begin + 16 * kMs - builder.Now());
    }
    builder.Kind("MatMulV3").bytes = bytes;
    builder.Part().collectives.groups = {{"p", "pp", {rank % 2, rank % 2 + 2}}};
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(RankCauses, AStageIsSlowWhereEqualKernelsTakeLongerThanElsewhere) {
  const Diagnosis diagnosis = SlowStage(8192);
  const Finding* found = FindingWith(diagnosis, "rank.late_compute/r2+3");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 5 * kMs);
  EXPECT_EQ(FindingWith(SlowStage(0), "rank.late_compute/r2+3"), nullptr)
      << "the kernels may be of other shapes";
}

// Four ranks of one role copy for 1 ms in each step, rank 1 for `longest`, before they compute for
// 10 ms and meet.
Diagnosis CopyingRanks(TimeNs longest) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      const TimeNs begin = builder.Now();
      builder.Step().Kernel("MEMCPY_ASYNC", rank == 1 ? longest : kMs, TimeCategory::kCopyIn);
      builder.Part().graph.nodes.back().kind = NodeKind::kCopy;
      builder.Kernel("MatMulV3", 10 * kMs)
          .Collective("all_" + std::to_string(step), begin + 16 * kMs - builder.Now());
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(RankCauses, WhoCopiesMoreThanItsPeersIsLate) {
  const Diagnosis diagnosis = CopyingRanks(5 * kMs);
  const Finding* late = FindingWith(diagnosis, "rank.late_input/r1");
  ASSERT_NE(late, nullptr);
  EXPECT_EQ(late->gain, 4 * kMs);
  EXPECT_EQ(FindingWith(diagnosis, "host.h2d"), nullptr) << "no host waits for its copies";
  const Diagnosis even = CopyingRanks(kMs);
  EXPECT_EQ(FindingWith(even, "rank.late_input/r1"), nullptr);
}

// Ranks 0 to 2 of a node reduce with each other and, through their ports, with ranks 3 and 4, which
// takes `port` for each. The link between 0 and 1 moves 36 MB in 4 ms, the others in 2.
Diagnosis SlowLinkBesidePort(TimeNs port) {
  constexpr std::int64_t kBytes = 36'000'000;
  std::vector<RankDiagnosis> parts;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    PartBuilder builder;
    for (std::uint32_t step = 0; step < 3; ++step) {
      builder.Step()
          .Kernel("MatMulV3", 10 * kMs)
          .Collective("all_" + std::to_string(step), std::max(4 * kMs, 2 * port));
      for (std::int32_t peer = 0; peer < 5; ++peer) {
        if (peer == rank) continue;
        const bool is_slow = rank + peer == 1;
        builder.Transfer(peer, kBytes, peer >= 3 ? port : (is_slow ? 4 : 2) * kMs,
                         peer < 3 ? "SDMA" : "RDMA");
      }
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(RankCauses, ASlowLinkCostsWhatItTakesLongerThanThePort) {
  const Diagnosis diagnosis = SlowLinkBesidePort(1'500 * kUs);
  const Finding* found = FindingWith(diagnosis, "link.slow/0-1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs) << "the port takes 3 of the 4 ms";
  EXPECT_EQ(FindingWith(SlowLinkBesidePort(2'500 * kUs), "link.slow/0-1"), nullptr)
      << "the port takes 5 ms";
}

TEST(RankCauses, AnotherRankStallsInEachStep) {
  const Diagnosis diagnosis =
      DiagnoseJob(EightSteps(TimeCategory::kPython, [](std::size_t rank, std::size_t step) {
        return step % 4 == rank ? 2 * kMs : 0;
      }));
  EXPECT_EQ(diagnosis.step, 8 * kMs);
  const Finding* found = FindingWith(diagnosis, "rank.jitter/free.dispatch.op");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * kMs);
  EXPECT_EQ(MetricIn(*found, "different_ranks"), 4);
  EXPECT_TRUE(found->ranks.empty());
}

MPA_REFUTES(RankCauses, OneRankThatIsAlwaysLateIsNoJitter, "rank.jitter");
TEST(RankCauses, OneRankThatIsAlwaysLateIsNoJitter) {
  const Diagnosis diagnosis =
      DiagnoseJob(EightSteps(TimeCategory::kPython, [](std::size_t rank, std::size_t) {
        return rank == 2 ? 2 * kMs : 0;
      }));
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings[0].key, "rank.late_host/r2");
  EXPECT_EQ(diagnosis.findings[0].gain, 2 * kMs);
}

// All differ a little in each step, but only one of them stalls, once.
TEST(RankCauses, AStallInOneStepIsNoJitter) {
  const auto extra = [](std::size_t rank, std::size_t step) {
    return rank == 2 && step == 3 ? 20 * kMs : step % 4 == rank ? 100 * kUs : 0;
  };
  const Diagnosis diagnosis = DiagnoseJob(EightSteps(TimeCategory::kPython, extra));
  EXPECT_EQ(FindingWith(diagnosis, "rank.jitter/free.dispatch.op"), nullptr);
  const Finding* found = FindingWith(diagnosis, "rank.late_host/r2");
  ASSERT_NE(found, nullptr);
  // 0.1 ms in steps 2 and 6; in step 3 what is beyond rank 3.
  EXPECT_NEAR(static_cast<double>(found->gain), (100e3 + 100e3 + 19.9e6) / 8, 10);
}

TEST(RankCauses, RanksThatHaveNothingToDoWithEachOtherAreNotCompared) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step)
      builder.Step().Host(TimeCategory::kPython, rank == 2 ? 9 * kMs : kMs).Kernel("MatMulV3", kMs);
    parts.push_back(builder.Build());
  }
  for (const Finding& finding : DiagnoseJob(parts).findings)
    EXPECT_FALSE(finding.Is(kRankLateHost));
}

TEST(RankCauses, CapturesOfOtherDaysBeginTogether) {
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

MPA_REFUTES(RankCauses, LargerBatchesOnARank, "data.imbalance");
TEST(RankCauses, LargerBatchesOnARank) {
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
  const Finding* found = FindingWith(diagnosis, "data.imbalance/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * kMs);
}

// The experts of rank 1 get more tokens. In training that is sure; a few tokens of inference fall
// on some experts by chance.
MPA_REFUTES(RankCauses, UnevenExpertsOfInferenceMayBeChance, "ep.imbalance");
TEST(RankCauses, UnevenExpertsOfInferenceMayBeChance) {
  const auto diagnose = [](std::string_view attention) {
    std::vector<RankDiagnosis> parts;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      PartBuilder builder;
      for (int step = 0; step < 3; ++step) {
        const TimeNs own = rank == 1 ? 6 * kMs : 4 * kMs;
        builder.Step()
            .Kernel(attention, kMs, TimeCategory::kAttention)
            .Kernel("GroupedMatmul", own, TimeCategory::kGroupedMatmul);
        if (rank == 1) builder.Kind("GroupedMatmul").shapes = builder.NameOf("96,64");
        builder.Collective("hcom_alltoall__1_" + std::to_string(step), kMs + 6 * kMs - own,
                           "alltoall");
      }
      parts.push_back(builder.Build());
    }
    const Diagnosis diagnosis = DiagnoseJob(parts);
    const Finding* found = FindingWith(diagnosis, "ep.imbalance/r1");
    EXPECT_NE(found, nullptr) << attention;
    return found != nullptr ? found->confidence : Certainty::kMedium;
  };
  EXPECT_EQ(diagnose("FlashAttentionScore"), Certainty::kHigh);
  EXPECT_EQ(diagnose("PagedAttentionMaskKernel"), Certainty::kLow);
}

// Rank 1 stands still for 4 ms before the collective; behind it, its host works as long again as
// before. All of the stall is the finding, not a share of what comes behind.
TEST(RankCauses, AStallIsNotSpreadOverTheStep) {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      const TimeNs stall = rank == 1 ? 4 * kMs : 0;
      builder.Step();
      for (int i = 0; i < 10; ++i)
        builder.Host(TimeCategory::kDispatchOp, 100 * kUs + (i == 4 ? stall : 0))
            .Kernel("MatMulV3", 100 * kUs);
      builder.Collective("hcom_allReduce__1_" + std::to_string(step),
                         kMs + (rank == 1 ? 0 : 4 * kMs));
      for (int i = 0; i < 40; ++i) {
        // The device is busy with this for longer than the hosts take.
        builder.Host(TimeCategory::kDispatchOp, 100 * kUs).Kernel("MatMulV3", 100 * kUs);
      }
    }
    parts.push_back(builder.Build());
  }
  const Diagnosis diagnosis = DiagnoseJob(parts);
  const Finding* found = FindingWith(diagnosis, "rank.late_host/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(static_cast<double>(found->gain), 4e6, 4e3);
}

// The exchange of tokens takes 3 ms because rank 1 gets half as many more than the others: a third
// of its products, and of what moves.
TEST(RankCauses, UnevenExpertsMakeTheirExchangesLonger) {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      const TimeNs own = rank == 1 ? 6 * kMs : 4 * kMs;
      builder.Step().Kernel("GroupedMatmul", own, TimeCategory::kGroupedMatmul);
      if (rank == 1) builder.Kind("GroupedMatmul").shapes = builder.NameOf("96,64");
      builder.Collective("hcom_alltoall__1_" + std::to_string(step), 3 * kMs + 6 * kMs - own,
                         "alltoall");
    }
    parts.push_back(builder.Build());
  }
  const Diagnosis diagnosis = DiagnoseJob(parts);
  const Finding* found = FindingWith(diagnosis, "ep.imbalance/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(static_cast<double>(found->gain), 3e6, 10) << "2 ms computing and 1 ms moving";
}

}  // namespace
}  // namespace mpa

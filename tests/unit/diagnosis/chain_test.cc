// SPDX-License-Identifier: Apache-2.0
// Chains of evidence and what they point at. All times are worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/diagnose.h"
#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/job/job.h"

namespace mpa {
namespace {

// The chain of the finding; fails where there is no such finding.
FindingChain ChainOf(const std::vector<RankDiagnosis>& parts, const std::string& key,
                     const Thresholds& thresholds = {}) {
  std::vector<DiagnosedRank> ranks;
  for (std::size_t i = 0; i < parts.size(); ++i)
    ranks.push_back({static_cast<std::int64_t>(i), &parts[i]});
  const Diagnosis diagnosis = Diagnose(std::move(ranks), thresholds, key);
  const Finding* found = FindingWith(diagnosis, key);
  if (found == nullptr || !found->chain) {
    ADD_FAILURE() << "no chain of " << key;
    return {};
  }
  return *found->chain;
}

// Four ranks meet, and leave 16 ms behind the begin of each of three steps. Their hosts dispatch
// for 1 ms, then two kernels run for 5 ms each. Rank 3 takes so much longer for each of it, and has
// work of Python as well.
std::vector<RankDiagnosis> FourRanks(TimeNs dispatch, TimeNs python, TimeNs compute) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 4; ++rank) {
    const bool is_late = rank == 3;
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      const TimeNs begin = builder.Now();
      builder.Step().Host(TimeCategory::kDispatchOp, kMs + (is_late ? dispatch : 0));
      if (is_late && python > 0) builder.Host(TimeCategory::kPython, python);
      builder.Kernel("MatMulV3", 5 * kMs)
          .Kernel("Softmax", 5 * kMs + (is_late ? compute : 0), TimeCategory::kVector);
      builder.Collective("all_" + std::to_string(step), begin + 16 * kMs - builder.Now());
    }
    parts.push_back(builder.Build());
  }
  return parts;
}

TEST(Chain, ALateHostIsComparedByCategory) {
  const FindingChain chain = ChainOf(FourRanks(3 * kMs, kMs, 0), "rank.late_host/r3");
  ASSERT_TRUE(chain.late);
  const LateRank& late = *chain.late;
  EXPECT_EQ(late.rank, 3);
  EXPECT_EQ(late.compared, 4u);
  ASSERT_EQ(late.categories.size(), 2u);
  EXPECT_EQ(late.categories[0].category, "free.dispatch.op");
  EXPECT_EQ(late.categories[0].own, 4 * kMs);
  EXPECT_EQ(late.categories[0].usual, kMs);
  EXPECT_EQ(late.categories[1].category, "free.python");
  EXPECT_EQ(late.categories[1].Excess(), kMs);
  EXPECT_EQ(late.lateness, 4 * kMs) << "it comes at 15 ms, the others at 11 ms";
  EXPECT_DOUBLE_EQ(late.share, 0.75) << "3 of 4 ms";
  EXPECT_EQ(late.explained, Explained::kMainly);
  ASSERT_EQ(late.waiting.size(), 3u);
  for (const TimeOfRank& rank : late.waiting) EXPECT_EQ(rank.time, 4 * kMs);
}

TEST(Chain, TheSharesHaveTheirWords) {
  EXPECT_EQ(ChainOf(FourRanks(4 * kMs, kMs, 0), "rank.late_host/r3").late->explained,
            Explained::kNearlyAll)
      << "80 %";
  EXPECT_EQ(ChainOf(FourRanks(2 * kMs, 2 * kMs, 0), "rank.late_host/r3").late->explained,
            Explained::kMixed)
      << "50 %";
}

TEST(Chain, RulesSayWhatTheCauseIs) {
  const auto explained = [](double cause_share, double main_share) {
    Thresholds thresholds;
    SetRule("rank", "cause_share", cause_share, thresholds);
    SetRule("rank", "main_share", main_share, thresholds);
    return ChainOf(FourRanks(3 * kMs, kMs, 0), "rank.late_host/r3", thresholds).late->explained;
  };
  EXPECT_EQ(explained(0.75, 0.6), Explained::kNearlyAll) << "3 of 4 ms";
  EXPECT_EQ(explained(0.76, 0.75), Explained::kMainly);
  EXPECT_EQ(explained(0.8, 0.76), Explained::kMixed);
}

// It dispatches 1 ms longer, and the second kernel takes 3 ms more: 4 ms in the end.
TEST(Chain, RulesSayWhereARankHasFallenBehind) {
  const auto kernel = [](double share) {
    Thresholds thresholds;
    SetRule("rank", "behind_share", share, thresholds);
    return ChainOf(FourRanks(kMs, 0, 3 * kMs), "rank.late_compute/r3", thresholds)
        .late->divergence->kernel;
  };
  EXPECT_EQ(kernel(0.25), "MatMulV3");
  EXPECT_EQ(kernel(0.26), "Softmax");
}

TEST(Chain, ALateHostFallsBehindBeforeItsFirstKernel) {
  const auto found = ChainOf(FourRanks(3 * kMs, kMs, 0), "rank.late_host/r3").late->divergence;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kernel, "MatMulV3");
  EXPECT_EQ(found->shapes, "64,64");
  EXPECT_EQ(found->rank, 3);
  EXPECT_EQ(found->peer, 1) << "the one in the middle of 0, 1 and 2";
  EXPECT_EQ(found->step, 10);
  EXPECT_EQ(found->behind, 4 * kMs);
  EXPECT_EQ(found->until, "all_0");
  EXPECT_EQ(found->late, 4 * kMs);
}

TEST(Chain, ASlowKernelIsWhereARankFallsBehind) {
  const FindingChain chain = ChainOf(FourRanks(0, 0, 3 * kMs), "rank.late_compute/r3");
  ASSERT_TRUE(chain.late);
  ASSERT_FALSE(chain.late->categories.empty());
  EXPECT_EQ(chain.late->categories[0].category, "comp.vector");
  EXPECT_EQ(chain.late->categories[0].own, 8 * kMs);
  EXPECT_EQ(chain.late->categories[0].usual, 5 * kMs);
  EXPECT_EQ(chain.late->explained, Explained::kNearlyAll);
  ASSERT_TRUE(chain.late->divergence);
  EXPECT_EQ(chain.late->divergence->kernel, "Softmax") << "MatMulV3 is as fast as elsewhere";
  EXPECT_EQ(chain.late->divergence->behind, 3 * kMs);
}

TEST(Chain, TheOperatorThatLaunchedTheKernelIsNamed) {
  std::vector<RankDiagnosis> parts = FourRanks(3 * kMs, kMs, 0);
  RankDiagnosis& late = parts[3];
  late.names.insert(late.names.end(), {"aten::linear", "train.py:90", "aten::softmax"});
  const auto name = static_cast<NameId>(late.names.size() - 3);
  for (std::uint32_t node = 0; node < late.graph.nodes.size(); ++node) {
    const GraphNode& kernel = late.graph.nodes[node];
    if (kernel.kind == NodeKind::kKernel)
      late.origins.push_back(
          {node, kernel.row == 0 ? name : name + 2, kernel.row == 0 ? name + 1 : 0});
  }
  const auto found = ChainOf(parts, "rank.late_host/r3").late->divergence;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kernel, "MatMulV3");
  EXPECT_EQ(found->op, "aten::linear");
  EXPECT_EQ(found->line, "train.py:90");
  late.origins.clear();
  EXPECT_EQ(ChainOf(parts, "rank.late_host/r3").late->divergence->op, "") << "not recorded";
}

// Each of four ranks takes 2 ms more than 1 ms in every fourth of eight steps; rank 0 takes 0.5 ms
// more in the others.
TEST(Chain, StepsSayWhichRankIsLate) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 8; ++step) {
      const TimeNs more = step % 4 == rank ? 2 * kMs : rank == 0 ? 500 * kUs : 0;
      builder.Step()
          .Host(TimeCategory::kDispatchOp, kMs + more)
          .Kernel("MatMulV3", 4 * kMs)
          .Collective(std::to_string(step), 3 * kMs - more);
    }
    parts.push_back(builder.Build());
  }
  const FindingChain chain = ChainOf(parts, "rank.jitter/free.dispatch.op");
  ASSERT_EQ(chain.stalls.size(), 8u);
  for (std::size_t step = 0; step < 8; ++step) {
    EXPECT_EQ(chain.stalls[step].step, static_cast<std::int32_t>(step) + 10);
    EXPECT_EQ(chain.stalls[step].rank, static_cast<std::int64_t>(step % 4));
    EXPECT_EQ(chain.stalls[step].late, 2 * kMs);
    EXPECT_EQ(chain.stalls[step].next, step % 4 == 0 ? 0 : 500 * kUs);
  }
  EXPECT_FALSE(chain.late);
}

// Of the 5 ms 4 are more than usual: the fix takes four fifths of both.
TEST(Chain, ThePathIsWhatTheFixTakesOutOfIt) {
  const FindingChain chain = ChainOf(FourRanks(3 * kMs, kMs, 0), "rank.late_host/r3");
  ASSERT_EQ(chain.path.size(), 2u);
  EXPECT_EQ(chain.path[0].rank, 3);
  EXPECT_EQ(chain.path[0].name, "free.dispatch.op");
  EXPECT_EQ(chain.path[0].less, 3'200 * kUs);
  EXPECT_EQ(chain.path[1].name, "free.python");
  EXPECT_EQ(chain.path[1].less, 800 * kUs);
  EXPECT_EQ(chain.more_path, 0u);
}

// The rank is late to one meeting of each of two groups.
TEST(Chain, LatenessIsNotCountedTwice) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 4; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      const TimeNs begin = builder.Now();
      builder.Step();
      for (const TimeNs end : {12 * kMs, 24 * kMs}) {
        builder.Host(TimeCategory::kDispatchOp, rank == 3 ? 5 * kMs : kMs)
            .Kernel("MatMulV3", 5 * kMs);
        const std::string name = (end == 12 * kMs ? "a_" : "b_") + std::to_string(step);
        builder.Collective(name, begin + end - builder.Now(), "allreduce", name.substr(0, 1));
      }
    }
    parts.push_back(builder.Build());
  }
  const auto late = ChainOf(parts, "rank.late_host/r3").late;
  ASSERT_TRUE(late);
  EXPECT_EQ(late->categories.at(0).Excess(), 8 * kMs);
  EXPECT_EQ(late->lateness, 4 * kMs) << "to either group";
  for (const TimeOfRank& rank : late->waiting) EXPECT_EQ(rank.time, 8 * kMs) << "in both";
}

// 30 us are within what clocks are wrong by.
TEST(Chain, AMomentIsNoLateness) {
  std::vector<RankDiagnosis> parts = FourRanks(3 * kMs, kMs, 0);
  std::vector<DiagnosedRank> ranks;
  for (std::size_t i = 0; i < parts.size(); ++i)
    ranks.push_back({static_cast<std::int64_t>(i), &parts[i]});
  for (std::size_t i = 0; i < 3; ++i) {
    // The others come almost as late.
    for (const RankCollective& collective : parts[i].graph.collectives)
      parts[i].graph.nodes[collective.arrive].start += 4 * kMs - 30 * kUs;
  }
  Finding finding;
  finding.ranks = {3};
  const auto explain = [&](const Thresholds& thresholds) {
    return ExplainLateRank(MakeJob(ranks, thresholds),
                           {3, {0, 1, 2, 3}, {TimeCategory::kDispatchOp}, false}, finding);
  };
  const LateRank late = explain({});
  EXPECT_EQ(late.lateness, 0);
  EXPECT_TRUE(late.waiting.empty());
  EXPECT_FALSE(late.divergence);
  EXPECT_EQ(late.explained, Explained::kNothing);
  Thresholds thresholds;
  SetRule("rank", "lateness_ns", 30'000, thresholds);
  EXPECT_EQ(explain(thresholds).lateness, 0) << "0.2 % of 16 ms are 32 us";
  SetRule("rank", "lateness_share", 0.001, thresholds);
  EXPECT_EQ(explain(thresholds).lateness, 30 * kUs);
  SetRule("rank", "lateness_ns", 30'001, thresholds);
  EXPECT_EQ(explain(thresholds).lateness, 0);
}

TEST(Chain, OnlyTheFindingThatIsAskedForHasOne) {
  const Diagnosis diagnosis = DiagnoseJob(FourRanks(3 * kMs, kMs, 0));
  ASSERT_FALSE(diagnosis.findings.empty());
  for (const Finding& finding : diagnosis.findings) EXPECT_FALSE(finding.chain);
}

// Rank 0 of four waits 4 ms for rank 2 in each step, of 10 ms of kernels and 8 ms of the operation.
RankDiagnosis WaitsForRankTwo(TimeNs loads = 0) {
  PartBuilder builder;
  builder.Part().source = "text";
  RankCollectives& met = builder.Part().collectives;
  met.rank = 0;
  met.runs.texts = {"a", "allReduce"};
  met.own_rank_of_group = {0, -1};
  for (std::int32_t step = 0; step < 3; ++step) {
    builder.Step();
    if (loads > 0) builder.Host(TimeCategory::kDataLoader, loads);
    builder.Kernel("MatMulV3", 10 * kMs);
    const std::string name = "hcom_allReduce__1_" + std::to_string(step);
    met.runs.texts.push_back(name);
    met.own_rank_of_group.push_back(-1);
    met.runs.rows.push_back({.group = 0,
                             .name = static_cast<std::uint32_t>(met.runs.texts.size() - 1),
                             .type = 1,
                             .data_type = 1,
                             .start = builder.Now(),
                             .dur = 8 * kMs,
                             .operation = step});
    met.last.push_back({true, builder.Now() + 4 * kMs, 2});
    met.seen.push_back({{.operation = step, .peer = 1, .time = builder.Now()},
                        {.operation = step,
                         .peer = 2,
                         .time = builder.Now() + 4 * kMs,
                         .waited = true,
                         .begin = builder.Now() + kUs},
                        {.operation = step, .peer = 3, .time = builder.Now()}});
    builder.Collective(name, 8 * kMs, "allreduce", "a");
  }
  met.groups = {{"a", "tp", {0, 1, 2, 3}}};
  return builder.Build();
}

TEST(Chain, ObserversSayWhenARankCameThatWasNotCaptured) {
  const FindingChain chain = ChainOf({WaitsForRankTwo()}, "rank.late/r2");
  EXPECT_FALSE(chain.late);
  ASSERT_EQ(chain.arrivals.size(), 3u);
  const SeenArrival& last = chain.arrivals[2];
  EXPECT_EQ(last.operation, "hcom_allReduce__1_2");
  EXPECT_EQ(last.step, 12);
  EXPECT_EQ(last.behind, 4 * kMs);
  EXPECT_EQ(last.came, 36 * kMs) << "two steps of 18 ms later";
  EXPECT_EQ(last.asked, -1) << "no calls are recorded";
  ASSERT_EQ(last.observers.size(), 1u);
  EXPECT_EQ(last.observers[0].time, 4 * kMs);
  ASSERT_FALSE(chain.path.empty());
  EXPECT_EQ(chain.path[0].rank, -1);
}

// Rank 2 comes later than all, so what the captured rank loads costs nothing by what is known.
TEST(Hidden, WhatAllCapturedRanksDoIsListedBehindTheLateOne) {
  const RankDiagnosis part = WaitsForRankTwo(2 * kMs);
  const Diagnosis diagnosis = DiagnoseJob({part});
  ASSERT_NE(FindingWith(diagnosis, "rank.late/r2"), nullptr);
  EXPECT_EQ(FindingWith(diagnosis, "host.dataloader"), nullptr);
  ASSERT_EQ(diagnosis.hidden.size(), 1u);
  EXPECT_EQ(diagnosis.hidden[0].key, "host.dataloader");
  EXPECT_EQ(diagnosis.hidden[0].alone, 2 * kMs) << "all of it, if the others do the same";
  EXPECT_TRUE(diagnosis.hidden[0].if_uncaptured_ranks_do_too);
  EXPECT_EQ(diagnosis.hidden[0].after, (std::vector<std::string>{"rank.late/r2"}));
  EXPECT_EQ(
      std::count(diagnosis.passed_checks.begin(), diagnosis.passed_checks.end(), &kHostDataloader),
      0);
}

TEST(Evidence, AWaitForARankIsTheTaskThatWaits) {
  RankDiagnosis part = WaitsForRankTwo();
  part.collectives.seen[1][1].begin -= kUs;  // the longest
  part.collectives.seen[2][1].peer = 3;      // no task is recorded
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "rank.late/r2");
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->evidence.size(), 2u);
  const Evidence& wait = found->evidence[0];
  EXPECT_EQ(wait.name, "Notify_Wait");
  EXPECT_EQ(wait.op, "hcom_allReduce__1_1");
  EXPECT_EQ(wait.table, "comm_tasks");
  EXPECT_EQ(wait.peer, 2);
  EXPECT_EQ(wait.start, part.operations[1].start);
  EXPECT_EQ(wait.dur, 4 * kMs);
  EXPECT_EQ(found->evidence[1].dur, 4 * kMs - kUs) << "it begins 1 us into the operation";
}

TEST(Evidence, OfAWaitWithoutATaskItIsTheOperation) {
  const RankDiagnosis part = WaitsForRankTwo();
  const Job job = MakeJob({{0, &part}}, {});
  WhatIf what_if;
  what_if.expect.cuts.push_back(job.graph.late[0][0]);
  Finding found;
  found.type = &kRankLate;  // of a rank whose number is not known
  EvidenceFinder(job).Find(what_if, {}, found);
  ASSERT_EQ(found.evidence.size(), 1u);
  EXPECT_EQ(found.evidence[0].name, "hcom_allReduce__1_0");
  EXPECT_EQ(found.evidence[0].op, "");
  EXPECT_EQ(found.evidence[0].dur, 8 * kMs);
}

TEST(SourceLines, NotACauseIsAtALineThatHasNearlyAllOfIt) {
  RankDiagnosis part;
  part.names = {"", "aten::item", "train.py:90", "train.py:95"};
  const auto call = [&](NameId line, TimeNs dur) {
    part.blocked.push_back({.name = 1, .place = 1, .dur = dur, .line = line});
  };
  call(2, 80);
  call(3, 20);
  Job job;
  job.ranks = {{0, &part}};
  Diagnosis diagnosis;
  diagnosis.innocent_calls = {{"aten::item", 100, ""}};
  AddLinesOfInnocentCalls(job, diagnosis);
  EXPECT_EQ(diagnosis.innocent_calls[0].line, "train.py:90");
  part.blocked[0].dur = 79;
  AddLinesOfInnocentCalls(job, diagnosis);
  EXPECT_EQ(diagnosis.innocent_calls[0].line, "") << "less than 80 %";
}

}  // namespace
}  // namespace mpa

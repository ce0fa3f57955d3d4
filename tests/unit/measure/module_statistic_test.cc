// SPDX-License-Identifier: Apache-2.0
// Modules with their operators and kernels: whose operators are whose, and what makes one row.
#include "mpa/measure/module_statistic.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/failures.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

ModuleStatistic Sum(const RankTrace& trace, const ModuleStatisticOptions& options = {}) {
  return SumModules(trace, ThreadGroups(trace), FindOpWork(trace), options);
}

using RowLines = std::vector<std::string>;

// A rank whose operators launch kernels named by the test.
class ModuleRank : public test::RankBuilder {
 public:
  void Module(std::string_view name, TimeNs start, TimeNs end) { ModuleOn(main, name, start, end); }
  void ModuleOn(std::int32_t track, std::string_view name, TimeNs start, TimeNs end,
                MstxKind kind = MstxKind::kStartEnd, std::string_view domain = "Module") {
    trace.mstx.Append({.start = start,
                       .dur = end - start,
                       .kind = kind,
                       .message = Text(name),
                       .domain = Text(domain),
                       .track = track});
  }
  // An operator with one kernel.
  void Work(std::string_view op, TimeNs start, TimeNs end, std::string_view kernel = "K",
            TimeNs dur = 10) {
    WorkOn(main, op, start, end, kernel, dur);
  }
  void WorkOn(std::int32_t track, std::string_view op, TimeNs start, TimeNs end,
              std::string_view kernel = "K", TimeNs dur = 10) {
    Op(op, start, end, track);
    LaunchedKernel(start, track, dur, kernel);
  }
  void Collective(TimeNs launched, std::string_view type, TimeNs start, TimeNs end) {
    const auto link = static_cast<std::int64_t>(trace.launches.Size());
    Launch(link, launched, main);
    trace.communications.Append(
        {.start = start, .dur = end - start, .op_type = Text(type), .link = link});
  }
  void Backward(TimeNs forward_start, TimeNs backward_start) {
    trace.backward_links.Append({.forward_time = forward_start,
                                 .forward_track = main,
                                 .backward_time = backward_start,
                                 .backward_track = autograd});
  }

  RowLines Rows(const ModuleStatisticOptions& options = {}) const {
    RowLines lines;
    for (const ModuleStatisticRow& row : Sum(trace, options).rows) {
      lines.push_back(fmt::format("{}|{}|{}|{}|{}|{}|{}", row.parent, row.module, row.op,
                                  row.kernels, row.total, row.average, row.count));
    }
    return lines;
  }
  // "parent|module|op" of each row.
  RowLines Owners() const {
    RowLines lines;
    for (const ModuleStatisticRow& row : Sum(trace).rows) {
      lines.push_back(fmt::format("{}|{}|{}", row.parent, row.module, row.op));
    }
    return lines;
  }

  std::int32_t main = Thread(1), autograd = Thread(2);
};

ModuleRank TwoLinears() {
  ModuleRank rank;
  rank.Module("Model", 100, 1000);
  rank.Module("Linear", 150, 300);
  rank.Module("Linear", 350, 500);
  rank.Module("Act", 550, 700);
  rank.Module("Act", 750, 900);
  rank.Work("aten::zeros", 20, 60, "MemSet", 10);
  rank.Work("aten::addmm", 160, 200, "MatMul_a", 60);
  rank.Work("aten::add", 210, 240, "Add_a", 10);
  rank.Work("aten::addmm", 360, 400, "MatMul_a", 40);
  rank.Work("aten::add", 410, 440, "Add_a", 15);
  rank.Work("aten::relu", 560, 600, "Relu", 10);
  rank.Work("aten::relu", 760, 800, "Relu", 12);
  rank.Work("aten::mul", 810, 830, "Mul", 5);
  rank.Work("aten::sum", 910, 950, "Cast", 8);
  rank.LaunchedKernel(910, rank.main, 20, "ReduceSum");
  rank.Op("HcclAllreduce", 960, 980, rank.main);
  rank.Collective(960, "hcom_allReduce_", 1650, 1750);
  return rank;
}

TEST(ModuleStatistic, SumsCallsThatRanTheSameOperators) {
  EXPECT_EQ(TwoLinears().Rows(),
            (RowLines{"Model|Linear|aten::addmm|MatMul_a|100|50|2",
                      "Model|Linear|aten::add|Add_a|25|12.5|2",
                      "Model|Act_0|aten::relu|Relu|10|10|1", "Model|Act_1|aten::relu|Relu|12|12|1",
                      "Model|Act_1|aten::mul|Mul|5|5|1", "|Model|aten::sum|Cast, ReduceSum|28|28|1",
                      "|Model|HcclAllreduce|hcom_allReduce_|100|100|1"}));
}

TEST(ModuleStatistic, AccountsForAllKernelTime) {
  ModuleRank rank = TwoLinears();
  rank.KernelAt(5000, 5003);  // nobody launched it
  const ModuleStatistic statistic = Sum(rank.trace);
  EXPECT_EQ(statistic.source, ModuleSource::kMstxRanges);
  EXPECT_EQ(statistic.coverage.in_modules, 180);
  EXPECT_EQ(statistic.coverage.outside_modules, 10);
  EXPECT_EQ(statistic.coverage.without_op, 3);
  EXPECT_EQ(statistic.coverage.collectives, 100) << "no kernels, though rows list them";
  EXPECT_EQ(statistic.straddlers, 0u);
}

TEST(ModuleStatistic, ListsRowsByTheFirstStartOfTheirOperators) {
  ModuleRank rank;
  rank.Module("B", 100, 200);
  rank.Module("A", 300, 400);
  rank.Module("B", 500, 600);
  rank.Work("z", 110, 120);
  rank.Work("y", 130, 140);
  rank.Work("a", 310, 320);
  rank.Work("z", 510, 520);
  rank.Work("y", 530, 540);
  EXPECT_EQ(rank.Rows(), (RowLines{"|B|z|K|20|10|2", "|B|y|K|20|10|2", "|A|a|K|10|10|1"}));
}

TEST(ModuleStatistic, ListsARowByTheFirstOfItsOperatorsOnWhicheverThread) {
  ModuleRank rank;
  const std::int32_t other = rank.Thread(3);
  rank.Module("A", 0, 1000);
  rank.ModuleOn(other, "A", 100, 900);
  rank.Work("op", 500, 510);
  rank.WorkOn(other, "op", 200, 210);  // of the module that began later
  rank.ModuleOn(rank.Thread(4), "B", 250, 900);
  rank.WorkOn(other + 1, "between", 300, 310);
  EXPECT_EQ(rank.Rows(), (RowLines{"|A|op|K|20|10|2", "|B|between|K|10|10|1"}));
}

TEST(ModuleStatistic, ListsRowsThatStartTogetherByPositionThenByName) {
  ModuleRank rank;
  const std::int32_t second = rank.Thread(3), third = rank.Thread(4);
  rank.ModuleOn(second, "A", 90, 200);
  rank.Module("B", 100, 200);
  rank.ModuleOn(third, "C", 100, 200);
  rank.WorkOn(second, "before", 95, 98);
  rank.WorkOn(second, "behind", 110, 120);
  rank.Work("z", 110, 120);
  rank.WorkOn(third, "y", 110, 120);
  EXPECT_EQ(rank.Owners(), (RowLines{"|A|before", "|B|z", "|C|y", "|A|behind"}));
}

TEST(ModuleStatistic, KeepsTheKernelsOfEachRow) {
  const ModuleRank rank = TwoLinears();
  const ModuleStatistic statistic = Sum(rank.trace);
  const auto kernels = [&](std::size_t row) {
    std::vector<std::int32_t> rows;
    for (const DeviceWork& work : statistic.rows[row].work) rows.push_back(work.kernel);
    return rows;
  };
  EXPECT_EQ(kernels(0), (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(kernels(5), (std::vector<std::int32_t>{8, 9}));
  ASSERT_EQ(statistic.rows[6].work.size(), 1u);
  EXPECT_EQ(statistic.rows[6].work[0].collective, 0);
}

TEST(ModuleStatistic, ListsKernelsThenCollectivesThenWhatArrangesThem) {
  ModuleRank rank;
  rank.Module("Model", 0, 100);
  rank.Op("HcclAllreduce", 10, 20, rank.main);
  const auto link = static_cast<std::int64_t>(rank.trace.launches.Size());
  rank.Launch(link, 10, rank.main);
  rank.trace.schedule_kernels.Append(
      {.start = 1, .dur = 2, .name = rank.Text("aicpu"), .link = link});
  rank.Collective(10, "hcom_allReduce__868_0_1", 2, 5);  // as text captures name it
  rank.LaunchedKernel(10, rank.main, 7, "Cast");
  EXPECT_EQ(rank.Rows(), (RowLines{"|Model|HcclAllreduce|Cast, hcom_allReduce_, aicpu|12|12|1"}));
}

TEST(ModuleStatistic, ListsAKernelThatIsACollectiveOnce) {
  ModuleRank rank;
  rank.Module("Model", 0, 100);
  rank.Op("allreduce", 10, 20, rank.main);
  rank.Collective(10, "allreduce_", 2000, 2100);
  const std::int64_t link = rank.trace.communications.link[0];
  rank.trace.kernels.Append({.start = 2000, .dur = 99, .name = rank.Text("lccl"), .link = link});
  EXPECT_EQ(rank.Rows(), (RowLines{"|Model|allreduce|allreduce_|100|100|1"}));
  EXPECT_EQ(Sum(rank.trace).coverage.in_modules, 0);
  EXPECT_EQ(Sum(rank.trace).coverage.collectives, 100);
}

TEST(ModuleStatistic, ListsAKernelWithSeveralLaunchesOnce) {
  ModuleRank rank;
  rank.Module("Model", 0, 100);
  rank.Work("a", 10, 20);
  rank.Op("b", 30, 40, rank.main);
  rank.Launch(0, 30, rank.main);
  EXPECT_EQ(rank.Owners(), (RowLines{"|Model|b"}));
  EXPECT_EQ(Sum(rank.trace).coverage.in_modules, 10);
}

TEST(ModuleStatistic, GivesOperatorsToTheInnermostModuleAroundThem) {
  ModuleRank rank;
  rank.Module("P", 100'000, 200'000);
  rank.Module("Q", 100'000, 200'000);
  rank.Work("op_same", 100'000, 200'000);
  rank.Module("M1", 300'000, 400'000);
  rank.Module("M2", 350'000, 450'000);
  rank.Work("op1", 310'000, 320'000);
  rank.Work("op2", 360'000, 370'000);  // in both
  rank.Work("op4", 420'000, 430'000);
  rank.Module("N", 500'000, 600'000);
  rank.Work("outer", 510'000, 590'000);
  rank.Work("inner", 520'000, 530'000);
  rank.Module("a/b", 2'000'000, 2'100'000);
  rank.Module("/c/", 2'010'000, 2'090'000);
  rank.Work("op_path", 2'020'000, 2'030'000);
  EXPECT_EQ(rank.Owners(), (RowLines{"P|Q|op_same", "|M1|op1", "|M2|op2", "|M2|op4", "|N|outer",
                                     "|N|inner", "a/b|/c/|op_path"}));
}

TEST(ModuleStatistic, AnOperatorThatOutlastsAModuleDoesNotCloseIt) {
  ModuleRank rank;
  rank.Module("Big", 700'000, 900'000);
  rank.Module("Small", 710'000, 750'000);
  rank.Work("straddles", 740'000, 760'000);
  rank.Work("late", 745'000, 748'000);  // the reference has lost Small by now and says Big
  EXPECT_EQ(rank.Owners(), (RowLines{"|Big|straddles", "Big|Small|late"}));
  EXPECT_EQ(Sum(rank.trace).straddlers, 1u);
}

TEST(ModuleStatistic, AnOperatorOfAnotherThreadDoesNotEmptyTheModule) {
  ModuleRank rank;
  rank.Module("Model", 0, 1000);
  rank.Work("op_a", 100, 120);
  rank.WorkOn(rank.autograd, "async_op", 500, 1100);
  rank.Work("op_b", 600, 620);
  rank.Work("op_c", 700, 720);
  // The reference lists op_a only.
  EXPECT_EQ(rank.Owners(), (RowLines{"|Model|op_a", "|Model|op_b", "|Model|op_c"}));
  const ModuleStatistic statistic = Sum(rank.trace);
  EXPECT_EQ(statistic.coverage.outside_modules, 10);
  EXPECT_EQ(statistic.straddlers, 0u);
}

TEST(ModuleStatistic, AnOperatorThatNoModuleEnclosesBelongsWhereItBegins) {
  ModuleRank rank;
  rank.Module("Model", 0, 1'000'000);
  rank.Work("op_a", 500'000, 1'100'000);
  rank.Work("op_b", 600'000, 620'000);
  rank.Work("behind", 1'000'000, 1'200'000);
  EXPECT_EQ(rank.Owners(), (RowLines{"|Model|op_a", "|Model|op_b"}));
  EXPECT_EQ(Sum(rank.trace).straddlers, 1u);
}

// The forward pass of a model on the main thread, the backward pass on the other.
ModuleRank Trained() {
  ModuleRank rank;
  rank.Module("Model", 100, 1000);
  rank.Module("Linear", 150, 300);
  rank.Module("Act", 350, 500);
  rank.Work("aten::addmm", 160, 200);
  rank.Work("aten::add", 210, 240);
  rank.Work("aten::relu", 360, 400);
  rank.Work("aten::sum", 900, 950);
  rank.Op("AddmmBackward0", 1500, 1600, rank.autograd);
  rank.Op("AddBackward0", 1460, 1490, rank.autograd);
  rank.Op("ReluBackward0", 1400, 1440, rank.autograd);
  rank.Op("SumBackward0", 1300, 1340, rank.autograd);
  rank.Backward(160, 1500);
  rank.Backward(210, 1460);
  rank.Backward(360, 1400);
  rank.Backward(900, 1300);
  rank.WorkOn(rank.autograd, "aten::expand", 1305, 1330, "Expand", 7);
  rank.WorkOn(rank.autograd, "aten::threshold_backward", 1405, 1430, "ThresholdGrad", 12);
  rank.WorkOn(rank.autograd, "aten::sum", 1465, 1480, "ReduceSum", 10);
  rank.WorkOn(rank.autograd, "aten::mm", 1510, 1540, "MatMul", 40);
  rank.WorkOn(rank.autograd, "aten::mm", 1550, 1590, "MatMul", 45);
  rank.WorkOn(rank.autograd, "optimizer", 1700, 1800);
  return rank;
}

TEST(ModuleStatistic, FollowsTheLinksToTheBackwardPass) {
  const RowLines rows = Trained().Rows();
  ASSERT_EQ(rows.size(), 9u);
  EXPECT_EQ(RowLines(rows.begin() + 4, rows.end()),
            (RowLines{"|[Backward]Model|aten::expand|Expand|7|7|1",
                      "Model|[Backward]Act|aten::threshold_backward|ThresholdGrad|12|12|1",
                      "Model|[Backward]Linear|aten::sum|ReduceSum|10|10|1",
                      "Model|[Backward]Linear|aten::mm|MatMul|40|40|1",
                      "Model|[Backward]Linear|aten::mm|MatMul|45|45|1"}));
}

TEST(ModuleStatistic, LeavesLinksOutWhoseOperatorsAreMissing) {
  ModuleRank rank = Trained();
  rank.Backward(360, 1401);  // the reference makes a module at time 0 of it
  rank.Backward(361, 1400);
  EXPECT_EQ(rank.Rows(), Trained().Rows());
}

// The backward pass of Act runs between two operators of that of Linear.
ModuleRank Interleaved() {
  ModuleRank rank;
  rank.Module("Linear", 100, 200);
  rank.Module("Act", 300, 400);
  rank.Work("aten::mm", 110, 120);
  rank.Work("aten::mm", 130, 140);
  rank.Work("aten::relu", 310, 320);
  TimeNs time = 1000;
  for (const TimeNs forward : {110, 310, 130}) {
    rank.WorkOn(rank.autograd, "aten::grad", time, time + 50);
    rank.Backward(forward, time);
    time += 100;
  }
  return rank;
}

TEST(ModuleStatistic, TakesThePartsOfABackwardPassForCalls) {
  const RowLines rows = Interleaved().Rows();
  EXPECT_EQ(
      RowLines(rows.begin() + 3, rows.end()),
      (RowLines{"|[Backward]Linear|aten::grad|K|20|10|2", "|[Backward]Act|aten::grad|K|10|10|1"}));
}

TEST(ModuleStatistic, TakesABackwardPassForOneCallIfAsked) {
  const RowLines rows = Interleaved().Rows({.whole_backward = true});
  EXPECT_EQ(
      RowLines(rows.begin() + 3, rows.end()),
      (RowLines{"|[Backward]Linear|aten::grad|K|10|10|1", "|[Backward]Act|aten::grad|K|10|10|1",
                "|[Backward]Linear|aten::grad|K|10|10|1"}));
}

TEST(ModuleStatistic, ListsTwentyFiveLevels) {
  ModuleRank rank;
  for (TimeNs i = 0; i < 25; ++i) rank.Module(fmt::format("L{}", i), i * 10, 1000 - i * 10);
  for (TimeNs i = 0; i < 25; ++i) rank.Work(fmt::format("op{}", i), i * 10 + 2, i * 10 + 5);
  EXPECT_EQ(rank.Owners().size(), 25u);  // the reference stops at 20
}

TEST(ModuleStatistic, RefusesWhatLiesDeeperThanModulesDo) {
  const auto nested = [](TimeNs levels, const char* name) {
    ModuleRank rank;
    for (TimeNs i = 0; i < levels; ++i) rank.Module(name, i, 3 * levels - i);
    rank.Work("op", levels, levels + 1);
    return Sum(rank.trace);
  };
  const ModuleStatistic deepest = nested(257, "M");  // 256 around one
  ASSERT_EQ(deepest.rows.size(), 1u);
  EXPECT_EQ(deepest.rows[0].parent.size(), 2u * 256 - 1);
  for (const TimeNs levels : {258, 30'000}) {
    const Error error = test::ErrorOf([&] { nested(levels, "M"); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_HAS_TEXT(error.what(), "more than 256 levels");
  }
  const std::string long_name(5000, 'M');
  EXPECT_HAS_TEXT(test::ErrorOf([&] { nested(5, long_name.c_str()); }).what(), "16 KiB");
}

TEST(ModuleStatistic, ModulesOfUnrelatedThreadsDoNotMix) {
  ModuleRank rank;
  const std::int32_t other = rank.Thread(3);
  rank.Module("A", 0, 1000);
  rank.ModuleOn(other, "B", 100, 900);
  rank.Work("a", 200, 300);
  rank.WorkOn(other, "b", 200, 300);
  EXPECT_EQ(rank.Owners(), (RowLines{"|A|a", "|B|b"}));
}

TEST(ModuleStatistic, EqualOperatorsOfTwoThreadsAreTwo) {
  ModuleRank rank;
  const std::int32_t other = rank.Thread(3);
  rank.Module("A", 0, 1000);
  rank.ModuleOn(other, "A", 0, 1000);
  rank.Work("op", 200, 300);
  rank.WorkOn(other, "op", 200, 300);
  EXPECT_EQ(rank.Rows(), (RowLines{"|A|op|K|20|10|2"}));
}

TEST(ModuleStatistic, TheBackwardThreadWorksWithinTheModulesOfTheForwardThread) {
  ModuleRank rank = Trained();
  rank.Module("Step", 0, 1900);
  const RowLines owners = rank.Owners();
  EXPECT_EQ(owners.front(), "Step/Model|Linear|aten::addmm");
  EXPECT_EQ(owners[4], "Step/Step|[Backward]Model|aten::expand");
  EXPECT_EQ(owners.back(), "|Step|optimizer");
}

TEST(ModuleStatistic, KnowsTheBackwardThreadWithoutLinks) {
  ModuleRank rank;
  rank.Module("Step", 0, 1000);
  rank.Work("forward", 100, 200);
  rank.Op("autograd::engine::evaluate_function: MmBackward0", 300, 400, rank.autograd);
  rank.WorkOn(rank.autograd, "grad", 310, 390);
  rank.WorkOn(rank.Thread(3), "other", 310, 390);
  EXPECT_EQ(rank.Owners(), (RowLines{"|Step|forward", "|Step|grad"}));
}

TEST(ModuleStatistic, TheBackwardThreadWorksForTheThreadOfMostLinks) {
  ModuleRank rank;
  const std::int32_t other = rank.Thread(3);
  rank.Backward(100, 300);
  rank.Backward(110, 290);
  rank.trace.backward_links.Append({.forward_time = 120,
                                    .forward_track = other,
                                    .backward_time = 280,
                                    .backward_track = rank.autograd});
  const ThreadGroups groups(rank.trace);
  EXPECT_EQ(groups.Of(rank.autograd), groups.Of(rank.main));
  EXPECT_NE(groups.Of(rank.autograd), groups.Of(other));
}

TEST(ModuleStatistic, RangesOfAnUnknownThreadHoldOperatorsOfEachThread) {
  ModuleRank rank;
  const std::int32_t without_ops = rank.Thread(3);
  rank.ModuleOn(-1, "A", 0, 1000);
  rank.ModuleOn(without_ops, "B", 100, 300);
  rank.Work("a", 200, 250);
  rank.WorkOn(rank.autograd, "b", 400, 500);
  EXPECT_EQ(rank.Owners(), (RowLines{"A|B|a", "|A|b"}));
}

TEST(ModuleStatistic, RangesOfTheTaskQueueStandWhereTheyWereQueued) {
  ModuleRank rank;
  const std::int32_t queue = rank.Thread(3);
  rank.Queued(100, rank.main, 500, 510, queue);
  rank.Queued(300, rank.main, 700, 710, queue);
  rank.ModuleOn(queue, "A", 505, 705);
  rank.Work("before", 50, 60);
  rank.Work("within", 150, 160);
  rank.Work("behind", 600, 610);
  EXPECT_EQ(rank.Owners(), (RowLines{"|A|within"}));
}

TEST(ModuleStatistic, TakesRangesOfTheDomainOnly) {
  ModuleRank rank;
  rank.ModuleOn(rank.main, "PushPop", 0, 100, MstxKind::kPushPop);
  rank.ModuleOn(rank.main, "Mark", 0, 0, MstxKind::kMark);
  rank.ModuleOn(rank.main, "Lower", 0, 100, MstxKind::kStartEnd, "module");
  rank.Work("op", 10, 20);
  const ModuleStatistic statistic = Sum(rank.trace);
  EXPECT_TRUE(statistic.rows.empty());
  EXPECT_EQ(statistic.source, ModuleSource::kNone);
  EXPECT_EQ(statistic.coverage.outside_modules, 10);
}

TEST(ModuleStatistic, ARangeWithoutATextIsAModule) {
  ModuleRank rank;
  rank.Module("", 0, 100);
  rank.Work("op", 10, 20);
  EXPECT_EQ(rank.Owners(), (RowLines{"|(unnamed)|op"}));
}

TEST(ModuleStatistic, TakesPythonModulesWhereThereAreNoRanges) {
  ModuleRank rank;
  rank.Call("nn.Module: Net_0", 0, 1000, rank.main);
  rank.Call("nn.Module: Linear_0", 100, 200, rank.main);
  rank.Call("nn.Module: Linear_1", 300, 400, rank.main);
  rank.Call("train.py(1): forward", 100, 200, rank.main);
  rank.Work("mm", 110, 120);
  rank.Work("mm", 310, 320);
  EXPECT_EQ(rank.Rows(), (RowLines{"Net|Linear|mm|K|20|10|2"}));
  EXPECT_EQ(Sum(rank.trace).source, ModuleSource::kPythonCalls);
}

ModuleRank ThreeActs() {
  ModuleRank rank;
  rank.Module("Net", 0, 1000);
  for (const TimeNs start : {100, 300, 500}) rank.Module("Act", start, start + 90);
  rank.Work("relu", 110, 120, "Relu_1");
  rank.Work("add", 250, 260);  // of Net
  rank.Work("relu", 310, 320, "Relu_2");
  rank.Work("relu", 510, 520, "Relu_3");
  rank.Work("mul", 530, 540);
  return rank;
}

TEST(ModuleStatistic, NumbersVariantsWhereTheyFollowOneAnother) {
  EXPECT_EQ(ThreeActs().Owners(), (RowLines{"Net|Act|relu", "|Net|add", "Net|Act_0|relu",
                                            "Net|Act_1|relu", "Net|Act_1|mul"}));
}

TEST(ModuleStatistic, NumbersVariantsOnceIfAsked) {
  EXPECT_EQ(ThreeActs().Rows({.without_counters = true, .variants = VariantNaming::kOnce}),
            (RowLines{"Net|Act_0|relu|Relu|20|10|2", "|Net|add|K|10|10|1",
                      "Net|Act_1|relu|Relu|10|10|1", "Net|Act_1|mul|K|10|10|1"}));
}

TEST(ModuleStatistic, LeavesCountersOutOfKernelNamesIfAsked) {
  ModuleRank rank;
  rank.Module("Net", 0, 1000);
  for (const char* kernel : {"trans_TransData_17", "Conv2D1", "Conv2DBackpropFilter6_MemSet",
                             "MatMulV2", "aclnnMm_MatMulV3Common_2", "17"}) {
    rank.LaunchedKernel(10, rank.main, 1, kernel);
  }
  rank.Op("op", 10, 20, rank.main);
  EXPECT_EQ(Sum(rank.trace, {.without_counters = true}).rows[0].kernels,
            "trans_TransData, Conv2D, Conv2DBackpropFilter_MemSet, MatMulV2,"
            " aclnnMm_MatMulV3Common_2, 17");
}

TEST(ModuleStatistic, AnEmptyRankHasNoRows) { EXPECT_TRUE(Sum(RankTrace()).rows.empty()); }

}  // namespace
}  // namespace mpa

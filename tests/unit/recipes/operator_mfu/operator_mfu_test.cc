// SPDX-License-Identifier: Apache-2.0
// What the reports of utilisation list and sum up.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mpa/mfu/module_mfu.h"
#include "recipes/operator_mfu/part.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using Texts = std::vector<std::string>;

// A rank with kernels whose utilisation the test sets.
class MfuRank : public test::RankBuilder {
 public:
  KernelMfu& Add(std::string_view op_type, TimeNs dur, std::string_view shapes = "\"2,2;2,2\"") {
    trace.kernels.Append({.start = time_,
                          .dur = dur,
                          .name = Text(op_type),
                          .op_type = Text(op_type),
                          .shapes = Text(shapes)});
    time_ += dur;
    return mfu.kernels.emplace_back();
  }
  // `count` operations, which use so much of the chip.
  KernelMfu& AddUse(std::string_view op_type, TimeNs dur, double ratio, std::int64_t count = 1000) {
    KernelMfu& kernel = Add(op_type, dur);
    kernel.source = FlopsSource::kShapes;
    kernel.flops.count = count;
    kernel.use.ratio = ratio;
    kernel.type = TypeClass::kFp16;
    return kernel;
  }
  KernelMfu& AddGap(std::string_view op_type, TimeNs dur, FlopsGap gap) {
    KernelMfu& kernel = Add(op_type, dur);
    kernel.flops.gap = gap;
    kernel.use.gap = PeakGap::kNoFlops;
    return kernel;
  }
  MfuSummary Sum() const { return SummariseMfu(trace, mfu, ChipPeak()); }

  RankMfu mfu;

 private:
  TimeNs time_ = 0;
};

const MfuShare* Find(const MfuSummary& summary, std::string_view work) {
  for (const MfuShare& share : summary.shares) {
    if (share.work == work) return &share;
  }
  return nullptr;
}

TEST(OperatorMfu, ListsRangesThenOtherMatrixWorkEachInOrderOfOperators) {
  MfuRank rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Op("late", 200, 210, thread);
  rank.Op("early", 100, 110, thread);
  rank.mfu.ranges.push_back({1000, "aten::linear"});
  rank.AddUse("MatMulV2", 10, 0.5).op = 0;
  rank.AddUse("MatMulV3", 10, 0.5).op = 1;
  KernelMfu& cast = rank.AddGap("Cast", 10, FlopsGap::kNotMatrixWork);
  cast.op = 0;
  cast.range = 0;
  rank.AddGap("Add", 10, FlopsGap::kUnknownOperator);
  rank.AddGap("BatchMatMulV2", 10, FlopsGap::kMismatch);
  Texts listed;
  for (const OperatorMfuRow& row : OperatorMfuRows(rank.trace, rank.mfu)) {
    listed.push_back(fmt::format("{}|{}|{}|{}", row.op, row.kernel, row.counted, row.Reason()));
  }
  EXPECT_EQ(listed, (Texts{"late|Cast|aten::linear|no matrix work",
                           "|BatchMatMulV2|BatchMatMulV2|shapes do not fit together",
                           "early|MatMulV3|MatMulV3|", "late|MatMulV2|MatMulV2|"}));
}

TEST(OperatorMfu, LeavesOutKernelsOfARangeOfWhichNothingIsKnown) {
  MfuRank rank;
  rank.mfu.ranges.push_back({1000, "aten::linear"});
  for (const char* shapes : {"N/A", ""}) {
    KernelMfu& kernel = rank.Add("AiCpu", 10, shapes);
    kernel.range = 0;
    kernel.flops.gap = FlopsGap::kNotMatrixWork;
  }
  EXPECT_TRUE(OperatorMfuRows(rank.trace, rank.mfu).empty());
}

TEST(MfuSummary, WeighsKernelsByTheirTime) {
  MfuRank rank;
  rank.AddUse("MatMulV2", 100, 0.5);
  rank.AddUse("Conv2D", 300, 0.9);
  rank.AddUse("FlashAttentionScore", 100, 0.3);
  rank.AddUse("FlashAttentionScoreGrad", 100, 0.1);
  rank.AddGap("Add", 400, FlopsGap::kUnknownOperator);
  const MfuSummary summary = rank.Sum();
  EXPECT_EQ(summary.device_time, 1000);
  EXPECT_DOUBLE_EQ(*Find(summary, "counted matrix work")->Use(), (50 + 270 + 30 + 10) / 600.0);
  EXPECT_EQ(Find(summary, "counted matrix work")->duration, 600);
  EXPECT_DOUBLE_EQ(*Find(summary, "matrix products")->Use(), 0.5);
  EXPECT_DOUBLE_EQ(*Find(summary, "convolutions")->Use(), 0.9);
  EXPECT_DOUBLE_EQ(*Find(summary, "attention")->Use(), 0.2);
  EXPECT_DOUBLE_EQ(Find(summary, "attention")->flops, 2000);
  EXPECT_EQ(summary.shares.size(), 5u);
}

// Steps of 1000 and 600 ns, 500 ns apart. Their matrix work takes 50 + 270 + 30 ns at the peak; the
// last kernel belongs to none.
TEST(MfuSummary, RatesStepsByTheirWallTime) {
  MfuRank rank;
  rank.trace.steps.Append({.id = 5, .start = 0, .end = 1000});
  rank.trace.steps.Append({.id = 6, .start = 1500, .end = 2100});
  rank.AddUse("MatMulV2", 100, 0.5).use_of_measured_clock = 0.8;
  rank.AddUse("Conv2D", 300, 0.9);
  rank.AddGap("Add", 1200, FlopsGap::kUnknownOperator);
  rank.AddUse("MatMulV2", 100, 0.3);
  rank.AddGap("Add", 800, FlopsGap::kUnknownOperator);
  rank.AddUse("MatMulV2", 100, 1);
  const MfuSummary summary = rank.Sum();
  const MfuShare& step = summary.shares.front();
  EXPECT_EQ(step.work, "step");
  EXPECT_EQ(step.duration, 1600);
  EXPECT_EQ(step.kernels, 3);
  EXPECT_DOUBLE_EQ(step.flops, 3000);
  EXPECT_DOUBLE_EQ(*step.Use(), 350 / 1600.0);
  EXPECT_EQ(step.UseOfMeasuredClock(), std::nullopt);  // unknown of two kernels
  EXPECT_EQ(summary.ShareOfTime(step), std::nullopt);
  EXPECT_EQ(Find(summary, "counted matrix work")->kernels, 4);
}

TEST(MfuSummary, RatesRunsWithoutStepsByTheSpanOfTheDevice) {
  MfuRank rank;
  rank.AddUse("MatMulV2", 100, 0.5).use_of_measured_clock = 0.8;
  rank.AddGap("Add", 800, FlopsGap::kUnknownOperator);
  rank.AddUse("MatMulV2", 100, 0.3).use_of_measured_clock = 0.4;
  const MfuSummary summary = rank.Sum();
  const MfuShare& span = summary.shares.front();
  EXPECT_EQ(span.work, "device span");
  EXPECT_EQ(span.duration, 1000);
  EXPECT_DOUBLE_EQ(*span.Use(), 80 / 1000.0);
  EXPECT_DOUBLE_EQ(*span.UseOfMeasuredClock(), 120 / 1000.0);
}

TEST(MfuSummary, WeighsTheUseOfTheMeasuredClockByTheTimeOfKernelsThatHaveIt) {
  MfuRank rank;
  rank.AddUse("MatMulV2", 100, 0.5).use_of_measured_clock = 0.8;
  rank.AddUse("MatMulV3", 300, 0.2).use_of_measured_clock = 0.4;
  rank.AddUse("BatchMatMulV2", 600, 0.9);  // outside of the samples of the clock
  const MfuSummary summary = rank.Sum();
  EXPECT_DOUBLE_EQ(*Find(summary, "matrix products")->UseOfMeasuredClock(), (80 + 120) / 400.0);
  EXPECT_DOUBLE_EQ(*Find(summary, "matrix products")->Use(), (50 + 60 + 540) / 1000.0);
}

TEST(MfuSummary, HasNoUseOfAClockThatWasNotMeasured) {
  MfuRank rank;
  rank.AddUse("MatMulV2", 100, 0.5);
  EXPECT_EQ(Find(rank.Sum(), "matrix products")->UseOfMeasuredClock(), std::nullopt);
}

TEST(MfuSummary, TellsTheTimeOfWhatIsNotKnownAndWhy) {
  MfuRank rank;
  rank.AddGap("FlashAttentionScore", 100, FlopsGap::kNoArguments);
  rank.AddGap("FlashAttentionScore", 50, FlopsGap::kNoArguments);
  KernelMfu& typeless = rank.AddUse("MatMulV2", 10, 0);
  typeless.use.gap = PeakGap::kUnknownType;
  const MfuSummary summary = rank.Sum();
  EXPECT_EQ(Find(summary, "FlashAttentionScore")->duration, 150);
  EXPECT_EQ(Find(summary, "FlashAttentionScore")->reason, "no attention arguments");
  EXPECT_EQ(Find(summary, "MatMulV2")->reason, "data type unknown, or without a known peak");
  EXPECT_EQ(Find(summary, "matrix products")->Use(), std::nullopt);
  EXPECT_DOUBLE_EQ(Find(summary, "matrix products")->flops, 1000);
}

TEST(MfuSummary, SaysHowMuchMatrixWorkItDoesNotCount) {
  MfuRank rank;
  rank.AddUse("MatMulV2", 30, 0.5);
  rank.AddGap("FlashAttentionScore", 100, FlopsGap::kNoArguments);
  rank.AddGap("PagedAttentionMaskNd", 50, FlopsGap::kNoFormula);
  rank.AddGap("Add", 400, FlopsGap::kUnknownOperator);
  const MfuSummary summary = rank.Sum();
  EXPECT_EQ(Find(summary, "counted matrix work")->duration, 30);
  const MfuShare& uncounted = *Find(summary, "matrix work not counted");
  EXPECT_EQ(uncounted.kernels, 2);
  EXPECT_EQ(uncounted.duration, 150);
  EXPECT_TRUE(Find(summary, "PagedAttentionMaskNd")->IsUncounted());
  EXPECT_FALSE(Find(summary, "counted matrix work")->IsUncounted());
}

TEST(MfuSummary, OfARankWithoutMatrixWorkIsEmpty) {
  MfuRank rank;
  rank.AddGap("Add", 100, FlopsGap::kUnknownOperator);
  EXPECT_TRUE(rank.Sum().shares.empty());
  EXPECT_TRUE(rank.Sum().wastes.empty());
}

TEST(MfuSummary, ListsTheTenThatWasteMost) {
  MfuRank rank;
  for (int i = 0; i < 12; ++i) {
    const std::string type = "Conv" + std::to_string(i);
    for (int call = 0; call < 2; ++call) rank.AddUse(type, 100 * (i + 1), 0.5);
  }
  rank.AddUse("TooFast", 5000, 1.5);  // wastes nothing
  const MfuSummary summary = rank.Sum();
  ASSERT_EQ(summary.wastes.size(), 10u);
  EXPECT_EQ(summary.wastes[0].op_type, "Conv11");
  EXPECT_EQ(summary.wastes[0].count, 2);
  EXPECT_EQ(summary.wastes[0].duration, 2400);
  EXPECT_EQ(summary.wastes[0].wasted, 1200);
  EXPECT_EQ(summary.wastes[0].input_shapes, "2,2;2,2");
  EXPECT_EQ(summary.wastes[9].op_type, "Conv2");
}

// Two calls of an operator with these kernels.
ModuleStatisticRow TwoCalls(std::int32_t kernels) {
  ModuleStatisticRow row;
  row.count = 2;
  for (std::int32_t i = 0; i < 2 * kernels; ++i) {
    row.work.push_back({.kernel = i});
  }
  return row;
}

TEST(AverageMfu, IsTheMeanOverTheCallsForEachKernel) {
  MfuRank rank;
  for (const double ratio : {0.72818, 0.36409}) {
    rank.AddGap("Cast", 1000, FlopsGap::kUnknownOperator);
    rank.AddUse("FlashAttentionScore", 10000, ratio);
  }
  EXPECT_EQ(AverageMfu(TwoCalls(2), rank.mfu), "-,54.61%");
}

TEST(AverageMfu, SkipsCallsForWhichItIsNotKnown) {
  MfuRank rank;
  rank.AddUse("MatMulV2", 100, 0.5);
  rank.AddGap("MatMulV2", 100, FlopsGap::kNoShapes);
  EXPECT_EQ(AverageMfu(TwoCalls(1), rank.mfu), "50.0%");
}

TEST(AverageMfu, LeavesKernelsOutThatHaveNoneIfAsked) {
  MfuRank rank;
  rank.AddGap("Cast", 10, FlopsGap::kNotMatrixWork);
  rank.AddUse("MatMulV2", 10, 0.5);
  rank.AddGap("Cast", 10, FlopsGap::kNotMatrixWork);
  rank.AddUse("MatMulV2", 10, 0.5);
  EXPECT_EQ(AverageMfu(TwoCalls(2), rank.mfu, ""), "50.0%");
}

TEST(AverageMfu, IsEmptyWhenNoKernelHasOne) {
  MfuRank rank;
  for (int i = 0; i < 2; ++i) rank.AddGap("Add", 100, FlopsGap::kUnknownOperator);
  EXPECT_EQ(AverageMfu(TwoCalls(1), rank.mfu), "");
}

}  // namespace
}  // namespace mpa

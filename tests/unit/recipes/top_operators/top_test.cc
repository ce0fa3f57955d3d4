// SPDX-License-Identifier: Apache-2.0
// Expectations are worked out by hand from the times in each test.
#include "recipes/top_operators/top.h"

#include <gtest/gtest.h>

#include "support/rank_builder.h"

namespace mpa::recipes::top_operators {
namespace {

constexpr TimeNs kUs = 1000;

// A step of 100 us with two products of 10 and 30 us, an addition of 5, and a collective of 20.
class TopOperators : public ::testing::Test {
 protected:
  TopOperators() {
    thread_ = rank_.Thread(1);
    rank_.Step(7, 0, 100 * kUs);
    rank_.Op("ProfilerStep#7", 0, 100 * kUs, thread_);
    rank_.Call("/home/me/train.py(90): step", 0, 100 * kUs, thread_);
    Launch("aten::mm", 1 * kUs, 1);
    Launch("aten::mm", 3 * kUs, 2);
    Launch("aten::add", 5 * kUs, 3);
    Launch("c10d::allreduce_", 7 * kUs, 4);
    Kernel(10 * kUs, 20 * kUs, "matmul_1", "MatMulV2", 1);
    Kernel(20 * kUs, 50 * kUs, "matmul_2", "MatMulV2", 2);
    Kernel(50 * kUs, 55 * kUs, "add_1", "Add", 3);
    rank_.Collective(rank_.Group("g"), 60 * kUs, 80 * kUs);
    rank_.trace.communications.link.back() = 4;
    Load({.aic_mac = 900, .aic_mte2 = 500});
    Load({.aic_mac = 700, .aic_mte2 = 300});
    Load({.aiv_vec = 100, .aiv_mte3 = 950});
  }

  void Launch(const char* name, TimeNs start, std::int64_t link) {
    rank_.Op(name, start, start + kUs, thread_);
    rank_.Launch(link, start, thread_);
  }
  void Kernel(TimeNs begin, TimeNs end, const char* name, const char* type, std::int64_t link) {
    rank_.KernelAt(begin, end, name);
    rank_.trace.kernels.op_type.back() = rank_.Text(type);
    rank_.trace.kernels.link.back() = link;
  }
  struct Units {
    std::int16_t aic_mac = -1, aic_mte2 = -1, aiv_vec = -1, aiv_mte3 = -1;
  };
  void Load(const Units& units) {
    rank_.trace.kernel_loads.Append({.aic_mac = units.aic_mac,
                                     .aic_mte2 = units.aic_mte2,
                                     .aiv_vec = units.aiv_vec,
                                     .aiv_mte3 = units.aiv_mte3});
  }

  test::RankBuilder rank_;
  std::int32_t thread_ = -1;
};

TEST_F(TopOperators, KernelsOfOneTypeAreOneRow) {
  const TopOfRank part = TopOf(rank_.trace, 1'000'000);
  ASSERT_EQ(part.kernels.size(), 3u);
  const Top& product = part.kernels[0];
  EXPECT_EQ(product.type, "MatMulV2");
  EXPECT_EQ(product.name, "matmul_2");
  EXPECT_EQ(product.calls, 2);
  EXPECT_EQ(product.total, 40 * kUs);
  EXPECT_EQ(product.Mean(), 20 * kUs);
  EXPECT_EQ(product.max, 30 * kUs);
  EXPECT_EQ(product.launched_by, "aten::mm");
  EXPECT_EQ(product.call_site, "train.py:90");
  EXPECT_EQ(part.kernels[1].name, "hcom_allReduce_");
  EXPECT_EQ(part.kernels[1].kind, Kind::kCommunication);
  EXPECT_EQ(part.kernels[2].name, "add_1");
  EXPECT_EQ(part.steps, 100 * kUs);
  EXPECT_EQ(part.busy, 65 * kUs);
}

// (900 x 10 + 700 x 30) / 40 = 750: no unit is busy for more than 80 % of the time.
TEST_F(TopOperators, TheBoundIsTheMeanOfTheCallsByTime) {
  const TopOfRank part = TopOf(rank_.trace, 1'000'000);
  const UnitLoads product = part.kernels[0].Loads(), add = part.kernels[2].Loads();
  EXPECT_EQ(BusiestLoad(product), 750);
  EXPECT_EQ(BusiestUnit(product), "cube");
  EXPECT_TRUE(IsUnbound(product));
  EXPECT_EQ(BusiestUnit(add), "memory");
  EXPECT_FALSE(IsUnbound(add));
  EXPECT_EQ(BusiestUnit(part.kernels[1].Loads()), "");
}

TEST_F(TopOperators, OperatorsHaveTheTimeOfWhatTheyLaunched) {
  const TopOfRank part = TopOf(rank_.trace, 1'000'000);
  ASSERT_EQ(part.operators.size(), 3u);
  EXPECT_EQ(part.operators[0].name, "aten::mm");
  EXPECT_EQ(part.operators[0].calls, 2);
  EXPECT_EQ(part.operators[0].total, 40 * kUs);
  EXPECT_EQ(part.operators[0].host, 2 * kUs);
  EXPECT_EQ(part.operators[1].name, "c10d::allreduce_");
  EXPECT_EQ(part.operators[1].total, 20 * kUs);
}

// What takes exactly as long as the threshold is not beyond it. The step is no event.
TEST_F(TopOperators, EveryEventBeyondTheThresholdIsListed) {
  rank_.Op("aten::item", 40 * kUs, 61 * kUs, thread_);
  const TopOfRank part = TopOf(rank_.trace, 20 * kUs);
  ASSERT_EQ(part.events.size(), 3u);
  EXPECT_EQ(part.events[0].kind, Kind::kPython);  // the function that runs all the time
  EXPECT_EQ(part.events[1].name, "matmul_2");
  EXPECT_EQ(part.events[1].dur, 30 * kUs);
  EXPECT_EQ(part.events[1].step, 7);
  EXPECT_EQ(part.events[1].launched_by, "aten::mm");
  EXPECT_EQ(part.events[1].thread, -1);
  EXPECT_EQ(part.events[2].name, "aten::item");
  EXPECT_EQ(part.events[2].kind, Kind::kOperator);
  EXPECT_EQ(part.events[2].call_site, "train.py:90");
  EXPECT_EQ(part.events[2].thread, 1);
  EXPECT_EQ(part.events_left_out, 0);
}

// Work that aten::mm queued at 1 us, and a call within it; a function within the one of the step.
TEST_F(TopOperators, LanesOfTheHostAreListed) {
  const std::int32_t queue = rank_.Thread(2);
  rank_.trace.queued_work.Append({.queued = 1'500,
                                  .queued_track = thread_,
                                  .start = 60 * kUs,
                                  .dur = 25 * kUs,
                                  .track = queue,
                                  .name = rank_.Text("Dequeue@aclnnMm")});
  rank_.trace.host_calls.Append(
      {.start = 3 * kUs, .dur = 22 * kUs, .name = rank_.Text("Node@launch"), .track = thread_});
  rank_.Call("/home/me/model.py(7): forward", 30 * kUs, 60 * kUs, thread_);
  const TopOfRank part = TopOf(rank_.trace, 21 * kUs);
  ASSERT_EQ(part.events.size(), 5u);
  EXPECT_EQ(part.events[0].name, "/home/me/train.py(90): step");
  EXPECT_FALSE(part.events[0].is_innermost);
  EXPECT_EQ(part.events[1].kind, Kind::kRuntimeCall);
  EXPECT_EQ(part.events[1].name, "Node@launch");
  EXPECT_EQ(part.events[1].launched_by, "aten::mm");
  EXPECT_EQ(part.events[3].name, "/home/me/model.py(7): forward");
  EXPECT_TRUE(part.events[3].is_innermost);
  EXPECT_EQ(part.events[4].kind, Kind::kQueuedWork);
  EXPECT_EQ(part.events[4].name, "Dequeue@aclnnMm");
  EXPECT_EQ(part.events[4].launched_by, "aten::mm");
  EXPECT_EQ(part.events[4].thread, 2);
  EXPECT_EQ(part.events[4].step, 7);
}

// Products of 10 and 30 us: 0.2 and 0.6 of their requests hit, which is 0.5 by time; 100 and 300 KB
// are 200 a call. Of the addition nothing was measured.
TEST_F(TopOperators, CountersAreMeans) {
  RankTrace& trace = rank_.trace;
  trace.counter_names = {rank_.Text("l2_hit_rate"), rank_.Text("GM_to_L1_datas")};
  trace.kernel_loads.counters = {{0.2, 100}, {0.6, 300}, {}};
  trace.kernel_loads.attributes[1] = rank_.Text("{\"transpose\":true}");
  const TopOfRank part = TopOf(trace, 1'000'000);
  EXPECT_EQ(part.kernels[0].type, "MatMulV2");
  EXPECT_DOUBLE_EQ(part.kernels[0].HitRate().value_or(-1), 0.5);
  EXPECT_EQ(part.kernels[0].CountersText(), "GM_to_L1_datas 200");
  EXPECT_EQ(part.kernels[0].attributes, "{\"transpose\":true}");
  EXPECT_FALSE(part.kernels[2].HitRate());
  EXPECT_EQ(part.kernels[2].CountersText(), "");
}

TEST_F(TopOperators, RanksTogetherAddUp) {
  const TopOfRank one = TopOf(rank_.trace, 1'000'000);
  rank_.trace.kernels.dur[0] = 35 * kUs;
  const TopOfRank other = TopOf(rank_.trace, 1'000'000);
  const std::vector<Top> all = Together({{0, one}, {1, other}}, &TopOfRank::kernels);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].calls, 4);
  EXPECT_EQ(all[0].total, (40 + 65) * kUs);
  EXPECT_EQ(all[0].max, 35 * kUs);
  EXPECT_EQ(all[0].name, "matmul_1");
}

}  // namespace
}  // namespace mpa::recipes::top_operators

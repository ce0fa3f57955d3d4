// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "recipes/hardware/part.h"
#include "support/rank_builder.h"

namespace mpa::recipes::hardware {
namespace {

class HardwareOfRank : public testing::Test {
 protected:
  using Values = std::vector<std::pair<TimeNs, double>>;

  // A rate whose intervals begin with `begin` and end at the given times, with the values.
  void Rate(std::string_view group, std::string_view name, std::string_view part, TimeNs begin,
            const Values& ends, std::string_view unit = "B/s", double limit = -1) {
    Add(group, name, part, unit, CounterKind::kRate, limit);
    for (const auto& [end, value] : ends) {
      Sample(begin, end - begin, value);
      begin = end;
    }
  }
  // Values that hold until the next.
  void Level(std::string_view group, std::string_view name, const Values& values,
             CounterKind kind = CounterKind::kLevel, std::string_view unit = "B") {
    Add(group, name, "", unit, kind, -1);
    for (std::size_t i = 0; i < values.size(); ++i)
      Sample(values[i].first, i + 1 < values.size() ? values[i + 1].first - values[i].first : 0,
             values[i].second);
  }
  void Add(std::string_view group, std::string_view name, std::string_view part,
           std::string_view unit, CounterKind kind, double limit) {
    rank_.trace.counters.Append({.group = rank_.Text(group),
                                 .name = rank_.Text(name),
                                 .part = rank_.Text(part),
                                 .unit = rank_.Text(unit),
                                 .kind = kind,
                                 .limit = limit});
  }
  void Sample(TimeNs start, TimeNs dur, double value) {
    const auto counter = static_cast<std::int32_t>(rank_.trace.counters.Size()) - 1;
    rank_.trace.counter_samples.Append(
        {.start = start, .dur = dur, .counter = counter, .value = value});
  }

  Counter Of(std::string_view label) const {
    for (const Counter& counter : Measure(rank_.trace).counters) {
      if (counter.id.Label() == label) return counter;
    }
    ADD_FAILURE() << "no counter " << label;
    return {};
  }

  test::RankBuilder rank_;
};

TEST_F(HardwareOfRank, MeansArePerTimeAndTheFirstSampleOfARateHasNone) {
  Rate("HBM", "read", "0", 100, {{100, 1000}, {200, 10}, {500, 20}});
  const Counter counter = Of("HBM 0 read");
  EXPECT_EQ(counter.samples, 2);
  EXPECT_EQ(counter.min, 10);
  EXPECT_EQ(counter.max, 20);
  EXPECT_EQ(counter.max_time, 200);
  EXPECT_DOUBLE_EQ(counter.mean, (10.0 * 100 + 20.0 * 300) / 400);
  EXPECT_EQ(counter.p95, 20);
  EXPECT_TRUE(counter.is_main);
}

TEST_F(HardwareOfRank, P95IsNotExceededFor95PercentOfTheTime) {
  Rate("HBM", "read", "0", 0, {{950, 1}, {1000, 9}});
  EXPECT_EQ(Of("HBM 0 read").p95, 1);
  rank_.trace.counter_samples.dur[0] = 949;
  rank_.trace.counter_samples.start[1] = 949;
  rank_.trace.counter_samples.dur[1] = 51;
  EXPECT_EQ(Of("HBM 0 read").p95, 9);
}

TEST_F(HardwareOfRank, PartsAreAddedUpAndReadsToWrites) {
  Rate("HBM", "read", "0", 0, {{10, 1}, {20, 2}});
  Rate("HBM", "read", "1", 0, {{10, 10}, {20, 5}});
  Rate("HBM", "write", "0", 0, {{20, 100}});
  Rate("HBM", "write", "1", 0, {{20, 200}});
  rank_.trace.job.chip = "Ascend910B";
  EXPECT_EQ(Of("HBM read").max, 11);
  EXPECT_EQ(Of("HBM read").id.part, "all");
  const Counter both = Of("HBM read and write");
  EXPECT_EQ(both.max, 311);
  EXPECT_EQ(both.min, 307);
  EXPECT_DOUBLE_EQ(both.mean, 309);
  EXPECT_EQ(both.limit, 1.6e12);
  EXPECT_FALSE(Of("HBM 1 read").is_main);
}

// Of a port that is slower than another, and of two of which one has no limit.
TEST_F(HardwareOfRank, LimitsOfPartsAreAddedUpWhereAllAreKnown) {
  Rate("RoCE", "rx", "port 0", 0, {{10, 1}}, "B/s", 100);
  Rate("RoCE", "rx", "port 1", 0, {{10, 2}}, "B/s", 50);
  Rate("NIC", "rx", "port 0", 0, {{10, 1}}, "B/s", 100);
  Rate("NIC", "rx", "port 1", 0, {{10, 2}}, "B/s");
  EXPECT_EQ(Of("RoCE rx").limit, 150);
  EXPECT_EQ(Of("NIC rx").limit, -1);
  EXPECT_DOUBLE_EQ(Of("RoCE rx").OfLimit(), 0.02);
}

TEST_F(HardwareOfRank, SharesHaveNoSum) {
  Rate("LLC", "read hit rate", "0", 0, {{10, 80}}, "%");
  Rate("LLC", "read hit rate", "1", 0, {{10, 90}}, "%");
  EXPECT_FALSE(Of("LLC 0 read hit rate").is_main);
  EXPECT_TRUE(Of("LLC 1 read hit rate").is_main);
}

TEST_F(HardwareOfRank, TellsWhatRanWhileACounterWasHigh) {
  Rate("HBM", "read", "0", 0, {{100, 50}, {200, 95}, {300, 100}, {400, 0}});
  rank_.KernelAt(0, 100, "Add");
  rank_.KernelAt(120, 260, "MatMulV3");
  rank_.KernelAt(250, 350, "Add");
  rank_.Collective(rank_.Group("dp"), 290, 400, "allReduce");
  const Counter counter = Of("HBM 0 read");
  EXPECT_EQ(counter.high, 200);
  ASSERT_EQ(counter.ran.size(), 3u);
  EXPECT_EQ(counter.ran[0].type, "MatMulV3");
  EXPECT_EQ(counter.ran[0].time, 140);
  EXPECT_EQ(counter.ran[1].type, "Add");
  EXPECT_EQ(counter.ran[1].time, 50);
  EXPECT_EQ(counter.ran[2].time, 10);
}

TEST_F(HardwareOfRank, WhatStaysAndWhatIsOfTheHostIsNotExplainedByKernels) {
  Level("NPU MEM", "device HBM", {{0, 5}, {50, 5}, {100, 5}});
  rank_.KernelAt(0, 100, "Add");
  EXPECT_TRUE(Of("NPU MEM device HBM").ran.empty());
}

TEST_F(HardwareOfRank, WhatTheHostDoesIsNotExplainedByKernels) {
  Level("CPU Usage", "usage", {{0, 5}, {50, 90}, {100, 90}}, CounterKind::kLevel, "%");
  rank_.KernelAt(50, 100, "Add");
  EXPECT_FALSE(Of("CPU Usage").ran.empty());
  rank_.trace.counters.of_host.back() = 1;
  EXPECT_TRUE(Of("CPU Usage").ran.empty());
}

// Some captures have the mean of all processors beside them.
TEST_F(HardwareOfRank, ProcessorsHaveAMean) {
  Rate("CPU Usage", "usage", "0", 0, {{10, 20}}, "%");
  Rate("CPU Usage", "usage", "1", 0, {{10, 60}}, "%");
  Rate("CPU Usage", "usage", "Avg", 0, {{10, 99}}, "%");
  const Counter counter = Of("CPU Usage");
  EXPECT_EQ(counter.id.part, "all");
  EXPECT_EQ(counter.mean, 40);
}

TEST_F(HardwareOfRank, TheLastValueOfALevelCountsAsItsMost) {
  Level("NPU MEM", "device HBM", {{0, 5}, {50, 7}, {100, 9}});
  const Counter counter = Of("NPU MEM device HBM");
  EXPECT_EQ(counter.max, 9);
  EXPECT_EQ(counter.max_time, 100);
  EXPECT_EQ(counter.mean, 6);
}

TEST_F(HardwareOfRank, TotalsGrowAndMayStartAgain) {
  Level("RoCE", "rx errors", {{0, 5}, {10, 7}, {20, 1}, {30, 4}}, CounterKind::kTotal, "packets");
  EXPECT_EQ(Of("RoCE rx errors").grown, 5);
}

TEST_F(HardwareOfRank, CountersThatAreAlwaysZeroAreCountedOnly) {
  Level("Acc PMU", "read bandwidth level", {{0, 0}, {10, 0}});
  const RankCounters part = Measure(rank_.trace);
  EXPECT_TRUE(part.counters.empty());
  EXPECT_EQ(part.silent, 1);
}

TEST_F(HardwareOfRank, StretchesHaveMeansOfTheirTime) {
  Rate("HBM", "read", "0", 0, {{600, 10}, {1200, 40}});
  const Counter counter = Of("HBM 0 read");
  ASSERT_EQ(counter.over_time.size(), kStretches);
  EXPECT_EQ(counter.over_time[0], 10);
  EXPECT_EQ(counter.over_time[59], 10);
  EXPECT_EQ(counter.over_time[60], 40);
  EXPECT_EQ(counter.over_time[119], 40);
}

TEST_F(HardwareOfRank, AClockIsACounter) {
  for (const auto& [start, mhz] : {std::pair<TimeNs, std::int64_t>{0, 1800}, {30, 800}, {40, 800}})
    rank_.trace.core_clocks.Append({.start = start, .mhz = mhz});
  const Counter counter = Of("AI Core clock");
  EXPECT_EQ(counter.min, 800);
  EXPECT_EQ(counter.mean, (1800.0 * 30 + 800 * 10) / 40);
  rank_.KernelAt(50, 160, "Add");  // until then the last value holds
  EXPECT_EQ(Of("AI Core clock").mean, (1800.0 * 30 + 800 * 130) / 160);
}

TEST_F(HardwareOfRank, APartTravelsAsBytes) {
  Rate("HBM", "read", "0", 0, {{100, 50}, {200, 95}});
  rank_.KernelAt(120, 260, "MatMulV3");
  const RankCounters part = Measure(rank_.trace);
  const auto copy = FromBytes<RankCounters>(ToBytes(part));
  ASSERT_EQ(copy.counters.size(), part.counters.size());
  EXPECT_EQ(copy.counters[0].id.Label(), "HBM 0 read");
  EXPECT_EQ(copy.counters[0].ran[0].type, "MatMulV3");
  EXPECT_EQ(copy.counters[0].over_time, part.counters[0].over_time);
}

// Two kinds of kernels in turn, 10 ns each, of which the first is bound by loads and stores. HBM is
// sampled every 20 ns, at 300 and 100 B/s in turn.
TEST_F(HardwareOfRank, KernelsThatMemoryHoldsUp) {
  test::RankBuilder& rank = rank_;
  KernelLoads& loads = rank.trace.kernel_loads;
  for (int i = 0; i < 8; ++i) {
    rank.trace.kernels.Append({.start = i * 10,
                               .dur = 10,
                               .op_type = rank.Text(i % 2 == 0 ? "Add" : "MatMul"),
                               .shapes = rank.Text("\"4,5;4,5\""),
                               .input_types = rank.Text("FLOAT;FLOAT"),
                               .output_shapes = rank.Text("\"4,5\"")});
    loads.Append({.aiv_vec = static_cast<std::int16_t>(i % 2 == 0 ? 100 : 900),
                  .aiv_mte2 = static_cast<std::int16_t>(i % 2 == 0 ? 700 : 200)});
  }
  Rate("HBM", "read", "0", 0, {{20, 200}, {40, 100}, {60, 200}, {80, 100}});
  Rate("HBM", "write", "0", 0, {{20, 100}, {40, 0}, {60, 100}, {80, 0}});
  const RankCounters part = Measure(rank.trace);
  ASSERT_EQ(part.kernels.size(), 1u);
  const MemoryKernels& kernels = part.kernels.front();
  EXPECT_EQ(kernels.type, "Add");
  EXPECT_EQ(kernels.shapes, "4,5;4,5");
  EXPECT_EQ(kernels.count, 4);
  EXPECT_EQ(kernels.time, 40);
  EXPECT_EQ(kernels.bytes, 4 * 3 * 20 * 4) << "three tensors of twenty FP32 each";
  EXPECT_DOUBLE_EQ(kernels.Rate(), 960e9 / 40);
  EXPECT_EQ(kernels.counted, 40);
  EXPECT_DOUBLE_EQ(kernels.counter, 200);
  EXPECT_DOUBLE_EQ(kernels.of_samples, 0.5);
  EXPECT_TRUE(kernels.measured);
}

}  // namespace
}  // namespace mpa::recipes::hardware

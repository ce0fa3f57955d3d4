// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/raw/labels.h"
#include "raw/made_capture.h"
#include "raw/metric_sets.h"
#include "raw/stages.h"
#include "support/files.h"

namespace mpa::raw {
namespace {

using test::Put;

TEST(CoreMetrics, TheTimeIsThatOfAllRoundsOfBlocks) {
  const CounterValues values{.cycles = 2'910'056};
  const CoreLoad one_round{.blocks = 32, .cores = 40, .mhz = 1800, .nominal_mhz = 1800};
  EXPECT_NEAR(CoreMetrics::Time(values, one_round), 50'522, 0.5);
  CoreLoad two_rounds = one_round;
  two_rounds.cores = 25;
  EXPECT_NEAR(CoreMetrics::Time(values, two_rounds), 2 * 50'522, 1);
  EXPECT_EQ(CoreMetrics::Time(values, {.blocks = 0, .cores = 25, .mhz = 1800}), 0);
}

// The values of a set with one counter for each listed event.
std::vector<double> Evaluate(std::string_view set, const std::vector<std::uint32_t>& events,
                             const std::vector<std::uint64_t>& counts, std::int64_t platform = 5) {
  CounterValues values{.cycles = 1000};
  std::copy(counts.begin(), counts.end(), values.counts.begin());
  const CoreMetrics metrics(set, events, platform);
  std::vector<double> found(metrics.Size());
  metrics.Evaluate(values, {.blocks = 10, .cores = 20, .mhz = 1000, .nominal_mhz = 2000},
                   found.data());
  return found;
}

TEST(CoreMetrics, RatiosArePartsOfTheCyclesAndTimesPartsOfTheTime) {
  // 1000 cycles of 10 blocks at 1 GHz: 100 ns.
  const auto found = Evaluate("PipeUtilizationExct", {0x416, 0x417, 0x9, 0x302, 0xc, 0x54, 0x55},
                              {300, 200, 100, 50, 20, 40, 10});
  ASSERT_EQ(found.size(), 11u);
  EXPECT_DOUBLE_EQ(found[0], 50);     // mac_time
  EXPECT_DOUBLE_EQ(found[1], 0.5);    // mac_ratio
  EXPECT_DOUBLE_EQ(found[3], 0.1);    // scalar_ratio
  EXPECT_DOUBLE_EQ(found[4], 5);      // mte1_time
  EXPECT_DOUBLE_EQ(found[9], 0);      // fixpipe_ratio: not counted
  EXPECT_DOUBLE_EQ(found[10], 0.25);  // icache_miss_rate
}

TEST(CoreMetrics, BandwidthsUseTheNominalClock) {
  // 1000 cycles at 2 GHz are 0.5 µs, in which 400 * 8 * 8 bits were read.
  const auto found = Evaluate("Memory", {0x12}, {400});
  ASSERT_EQ(found.size(), 8u);
  EXPECT_DOUBLE_EQ(found[4], 400 * 64 / 0.5e-6 / 8589934592.0);
}

TEST(CoreMetrics, OperationsAndDataAreWeightedCounts) {
  const auto work = Evaluate("ArithmeticUtilization", {0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f},
                             {1, 2, 10, 20, 30, 40, 50});
  EXPECT_DOUBLE_EQ(work[6], 8192 + 2 * 16384);
  EXPECT_DOUBLE_EQ(work[7], 128 * 20 + 64 * 30 + 64 * 10 + 64 * 40 + 32 * 50);
  const auto few_lanes =
      Evaluate("ArithmeticUtilization", {0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f},
               {1, 2, 10, 20, 30, 40, 50}, 4);
  EXPECT_DOUBLE_EQ(few_lanes[7], 128 * 20 + 64 * 30 + 64 * 10 + 16 * 40 + 16 * 50);
  EXPECT_DOUBLE_EQ(Evaluate("MemoryAccess", {0x32, 0x206}, {800, 200})[2], 150);
}

TEST(CoreMetrics, ASetThatIsNotKnownHasNoMetrics) {
  EXPECT_TRUE(Evaluate("Custom:0x49", {0x49}, {1}).empty());
}

/// Kernels made by hand and a device whose clock ticks every 20 ns.
class Counted : public ::testing::Test {
 protected:
  Counted() {
    device_.generation = Generation::kStars;
    device_.platform = 5;
    device_.cube_cores = 20;
    device_.vector_cores = 40;
    device_.cube_mhz = 1000;
    device_.cube_metrics = device_.vector_metrics = "PipeUtilization";
    device_.cube_events = device_.vector_events = {0x8, 0xa};
    side_.clock.device_hertz = 50'000'000;
    side_.begin = 0;
  }

  void Kernel(TimeNs start, TimeNs end, std::int64_t task, std::int64_t context = kNoContext,
              std::int64_t blocks = 10, std::int64_t mix_blocks = 0) {
    session_.kernels.Append({{.blocks = blocks, .mix_blocks = mix_blocks},
                             {.task = static_cast<std::int32_t>(session_.tasks.Size())}});
    session_.tasks.Append({{.start = start, .dur = end - start, .task_id = task, .stream = 2},
                           {.end = end, .context = context}});
  }

  struct Record {
    unsigned task = 0, subtype = 0, context = 0, ffts = 0;
    std::uint64_t cycles = 0, end = 0;
    std::uint64_t first_count = 0;
    bool block = false;
    unsigned core = 0;
  };
  void Add(const Record& record) {
    std::string bytes(128, '\0');
    Put(bytes, 0, static_cast<std::uint16_t>(record.block ? 0b101001 : 0b101000));
    Put(bytes, 2, std::uint16_t{0x6BD3});
    Put(bytes, 4, std::uint16_t{2});
    Put(bytes, 6, static_cast<std::uint16_t>(record.task));
    Put(bytes, 16, static_cast<std::uint8_t>(record.subtype));
    Put(bytes, 18, static_cast<std::uint16_t>(record.context));
    Put(bytes, 20, static_cast<std::uint16_t>(record.ffts << 13 | record.core));
    Put(bytes, 32, record.cycles);
    Put(bytes, 48, record.first_count);
    Put(bytes, 120, record.end);
    stars_ += bytes;
  }
  void AddHwts(unsigned task, std::uint64_t cycles) {
    std::string bytes(128, '\0');
    Put(bytes, 6, static_cast<std::uint16_t>(task));
    Put(bytes, 16, cycles);
    Put(bytes, 96, std::uint32_t{2});
    hwts_ += bytes;
  }

  void Read() {
    const test::TempDir directory;
    if (!stars_.empty()) directory.Write("ffts_profile.data.0.slice_0", stars_);
    if (!hwts_.empty()) directory.Write("aicore.data.0.slice_0", hwts_);
    ReadCounters(DataFiles(directory.path()), side_, device_, false, session_);
  }
  double Value(std::size_t kernel, const std::string& name) const {
    const Counters& counters = session_.counters;
    for (std::size_t i = 0; i < counters.names.size(); ++i) {
      if (counters.names[i] != name) continue;
      return counters.values[static_cast<std::size_t>(session_.kernels.counters[kernel]) *
                                 counters.names.size() +
                             i];
    }
    return -1;
  }

  Session session_;
  Device device_;
  Side side_;
  std::string stars_, hwts_;
};

TEST_F(Counted, ARecordBelongsToTheKernelInWhichItEnds) {
  Kernel(1000, 2000, 7);
  Kernel(3000, 4000, 7);
  Kernel(5000, 6000, 8);
  Add({.task = 7, .cycles = 500, .end = 190});  // 3800 ns
  Add({.task = 7, .cycles = 400, .end = 50});   // 1000 ns
  Add({.task = 9, .cycles = 300, .end = 275});  // no such task
  Read();
  EXPECT_EQ(Value(0, "aic_total_cycles"), 400);
  EXPECT_EQ(Value(1, "aic_total_cycles"), 500);
  EXPECT_EQ(session_.kernels.counters[2], -1);
  EXPECT_FALSE(session_.issues.Empty());
}

TEST_F(Counted, CubeAndVectorKernelsHaveColumnsOfTheirOwn) {
  Kernel(1000, 2000, 7);
  Kernel(3000, 4000, 8, kNoContext, 40);
  Add({.task = 7, .ffts = 0, .cycles = 10'000, .end = 60, .first_count = 1000});
  Add({.task = 8, .ffts = 1, .cycles = 20'000, .end = 160, .first_count = 5000});
  Read();
  EXPECT_DOUBLE_EQ(Value(0, "aicore_time"), 1000);
  EXPECT_DOUBLE_EQ(Value(0, "aic_vec_ratio"), 0.1);
  EXPECT_EQ(Value(0, "aiv_time"), 0);
  EXPECT_DOUBLE_EQ(Value(1, "aiv_time"), 500);
  EXPECT_DOUBLE_EQ(Value(1, "aiv_vec_ratio"), 0.25);
  EXPECT_EQ(Value(1, "aic_total_cycles"), 0);
  // 10000 of the 20 * 1000 cycles that were possible.
  EXPECT_DOUBLE_EQ(Value(0, "cube_utilization"), 50);
}

TEST_F(Counted, MetricsThatAKindOfCoreCannotHaveAreNotListed) {
  Kernel(1000, 2000, 7);
  Add({.task = 7, .cycles = 10, .end = 60});
  Read();
  for (const auto& [name, listed] :
       {std::pair{"aiv_vec_ratio", true}, {"aiv_mac_ratio", false}, {"cube_utilization", true}}) {
    EXPECT_EQ(std::ranges::count(session_.counters.names, name), 1) << name;
    EXPECT_EQ(IsListedCounter(name), listed) << name;
  }
}

TEST_F(Counted, TheBlocksOfTheOtherCoresOfAMixedKernelAddUp) {
  Kernel(1000, 2000, 7, 0, 10, 2);
  Add({.task = 7, .subtype = 6, .ffts = 4, .cycles = 10'000, .end = 60});
  for (const std::uint64_t cycles : {100, 200, 400}) {  // the third is one too many
    Add({.task = 7,
         .subtype = 6,
         .ffts = 4,
         .cycles = cycles,
         .end = 60,
         .block = true,
         .core = 1});
  }
  Add({.task = 7, .subtype = 6, .ffts = 4, .cycles = 7, .end = 60, .block = true, .core = 0});
  Read();
  EXPECT_EQ(Value(0, "aic_total_cycles"), 10'000);
  EXPECT_EQ(Value(0, "aiv_total_cycles"), 300);
  EXPECT_DOUBLE_EQ(Value(0, "aiv_time"), 150);
}

TEST_F(Counted, TheClockIsThatOfTheEndOfTheRecord) {
  Kernel(1000, 2000, 7);
  Kernel(3000, 4000, 8);
  session_.core_clocks.Append({.start = 0, .mhz = 1000, .device = 0});
  session_.core_clocks.Append({.start = 3200, .mhz = 500, .device = 0});
  Add({.task = 7, .cycles = 10'000, .end = 60});
  Add({.task = 8, .cycles = 10'000, .end = 160});
  Read();
  EXPECT_DOUBLE_EQ(Value(0, "aicore_time"), 1000);
  EXPECT_DOUBLE_EQ(Value(1, "aicore_time"), 2000);
}

TEST_F(Counted, WithoutTimesRecordsBelongToKernelsInOrder) {
  device_.generation = Generation::kHwts;
  device_.platform = 1;
  Kernel(1000, 2000, 7);
  Kernel(3000, 4000, 7);
  Kernel(5000, 6000, 8);
  AddHwts(7, 100);  // of a kernel from before the collection
  AddHwts(7, 200);
  AddHwts(8, 400);
  AddHwts(7, 300);
  Read();
  EXPECT_EQ(Value(0, "total_cycles"), 200);
  EXPECT_EQ(Value(1, "total_cycles"), 300);
  EXPECT_EQ(Value(2, "total_cycles"), 400);
}

TEST_F(Counted, NothingIsCountedBySamples) {
  side_.task_based = false;
  Kernel(1000, 2000, 7);
  Add({.task = 7, .cycles = 10, .end = 60});
  Read();
  EXPECT_TRUE(session_.counters.names.empty());
}

}  // namespace
}  // namespace mpa::raw

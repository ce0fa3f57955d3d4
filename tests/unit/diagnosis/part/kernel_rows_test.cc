// SPDX-License-Identifier: Apache-2.0
// A device of 24 cube and 48 vector cores; expectations are worked out by hand from it.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "mpa/diagnosis/part/analyzer_rows.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

class KernelRowsTest : public ::testing::Test {
 protected:
  void Chip() {
    rank_.trace.device_id = 0;
    rank_.trace.chips.Append({.device = 0, .cube_cores = 24, .vector_cores = 48, .cube_mhz = 1800});
  }

  void Kernel(std::string_view name, std::string_view core, TimeNs start, TimeNs end,
              KernelLoads::Row loads) {
    rank_.KernelAt(start, end, name);
    rank_.trace.kernels.core.back() = rank_.Text(core);
    rank_.trace.kernel_loads.Append(loads);
  }

  static std::string Names(const KernelList& list) {
    std::string names;
    for (const KernelRow& row : list.rows) names += row.name + " ";
    return names;
  }

  test::RankBuilder rank_;
};

TEST_F(KernelRowsTest, BlocksThatDoNotFillTheCoresOfTheirKindAreListed) {
  Chip();
  Kernel("even", "AI_CORE", 0, 10, {.blocks = 48});
  Kernel("odd", "AI_CORE", 10, 30, {.blocks = 25});
  Kernel("half", "AI_VECTOR_CORE", 30, 35, {.blocks = 24});
  Kernel("none", "AI_VECTOR_CORE", 35, 99, {.blocks = 0});
  Kernel("other", "AI_CPU", 99, 200, {.blocks = 1});
  Kernel("unknown", "AI_CORE", 200, 300, {});
  const KernelList list = KernelsOnSomeCores(rank_.trace);
  EXPECT_EQ(Names(list), "odd half ");  // the longer one first
  EXPECT_EQ(list.count, 2);
  EXPECT_EQ(list.time, 25);
  EXPECT_EQ(list.rows[0].cores, 24);
  EXPECT_EQ(list.rows[1].cores, 48);
}

TEST_F(KernelRowsTest, AMixedKernelMayFillEitherKindOfCores) {
  Chip();
  Kernel("cube", "MIX_AIC", 0, 1, {.blocks = 24, .mix_blocks = 20});
  Kernel("vector", "MIX_AIC", 1, 2, {.blocks = 20, .mix_blocks = 48});
  Kernel("neither", "MIX_AIC", 2, 3, {.blocks = 20, .mix_blocks = 40});
  EXPECT_EQ(Names(KernelsOnSomeCores(rank_.trace)), "neither ");
}

TEST_F(KernelRowsTest, WithoutTheCoresOfTheDeviceNothingIsKnown) {
  Kernel("odd", "AI_CORE", 0, 10, {.blocks = 25});
  EXPECT_EQ(KernelsOnSomeCores(rank_.trace).count, 0);
}

TEST_F(KernelRowsTest, TheBusiestUnitBoundsAKernel) {
  Kernel("loads", "AI_VECTOR_CORE", 0, 30'000, {.aic_mte2 = 0, .aiv_vec = 100, .aiv_mte2 = 970});
  Kernel("idle", "AI_VECTOR_CORE", 30'000, 60'000, {.aiv_vec = 100, .aiv_scalar = 799});
  Kernel("at the limit", "AI_CORE", 60'000, 61'000, {.aic_mac = 800});
  Kernel("not measured", "AI_CORE", 61'000, 99'000, {});
  const KernelList list = KernelsWithoutBound(rank_.trace);
  EXPECT_EQ(Names(list), "idle at the limit ");
  EXPECT_EQ(list.rows[0].loads.scalar, 799);
}

TEST_F(KernelRowsTest, ShortKernelsAloneDoNotMatter) {
  Kernel("idle", "AI_VECTOR_CORE", 0, 20'000, {.aiv_vec = 100});
  EXPECT_EQ(KernelsWithoutBound(rank_.trace).count, 0);
}

TEST_F(KernelRowsTest, TheClockOfANameIsWeightedByTime) {
  rank_.trace.core_clocks.Append({.start = 0, .mhz = 1800});
  rank_.trace.core_clocks.Append({.start = 100, .mhz = 900});
  Kernel("a", "AI_CORE", 0, 100, {});
  Kernel("a", "AI_CORE", 80, 120, {});  // 20 ns at each clock
  Kernel("b", "AI_CORE", 200, 210, {});
  Kernel("c", "AI_CPU", 200, 999, {});  // has no such clock
  const auto rows = ClocksOfKernels(rank_.trace);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].time, 140);
  EXPECT_DOUBLE_EQ(rows[0].mhz, (100 * 1800 + 20 * 1800 + 20 * 900) / 140.0);
  EXPECT_EQ(rows[0].least, 900);
  EXPECT_EQ(rows[0].most, 1800);
  EXPECT_EQ(rows[1].least, 900);
}

}  // namespace
}  // namespace mpa

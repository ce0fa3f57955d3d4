// SPDX-License-Identifier: Apache-2.0
// Memory that grows from step to step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/part/part.h"

namespace mpa {
namespace {

// Steps with what the allocators report at their ends, in MB; -1: nothing.
RankDiagnosis WithMemory(const std::vector<std::int64_t>& allocated,
                         const std::vector<std::int64_t>& reserved) {
  PartBuilder builder;
  for (std::size_t step = 0; step < allocated.size(); ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    const std::int64_t bytes = allocated[step] < 0 ? -1 : allocated[step] * kMb;
    builder.Part().steps.back().memory = {bytes, bytes, reserved[step] * kMb};
  }
  return builder.Build();
}

const Finding* FoundOfMemory(const Diagnosis& diagnosis, const char* key) {
  return FindingWith(diagnosis, key);
}

const std::vector<std::int64_t> kFlatPool = {900, 900, 900, 900, 900};

TEST(MemoryGrowth, TensorsThatAreKept) {
  const Diagnosis diagnosis = DiagnoseJob({WithMemory({100, 147, 194, 240, 288}, kFlatPool)});
  const Finding* found = FoundOfMemory(diagnosis, "mem.growth");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(MetricIn(*found, "tensors_per_step"), 47 * kMb);
  EXPECT_EQ(found->gain, 0) << "no step gets shorter";
  EXPECT_EQ(FoundOfMemory(diagnosis, "mem.fragments"), nullptr);
}

MPA_REFUTES(MemoryGrowth, WhatComesAndGoesIsNoLeak, "mem.growth");
TEST(MemoryGrowth, WhatComesAndGoesIsNoLeak) {
  const auto leaks = [](const std::vector<std::int64_t>& allocated) {
    return FoundOfMemory(DiagnoseJob({WithMemory(allocated, kFlatPool)}), "mem.growth") != nullptr;
  };
  EXPECT_FALSE(leaks({100, 300, 300, 300, 300})) << "states of the optimizer";
  EXPECT_FALSE(leaks({100, 150, 120, 170, 220})) << "batches of different sizes";
  EXPECT_FALSE(leaks({100, 147, 194})) << "too few steps";
  EXPECT_FALSE(leaks({100, 101, 102, 103, 104})) << "less than 1 MiB";
  EXPECT_TRUE(leaks({100, 102, 104, 106, 108}));
  EXPECT_FALSE(leaks({100, 147, -1, 240, 288})) << "a step is not recorded";
}

TEST(MemoryGrowth, AnAllocatorThatTakesMore) {
  const Diagnosis diagnosis =
      DiagnoseJob({WithMemory({500, 500, 501, 500, 500}, {900, 920, 920, 960, 980})});
  const Finding* found = FoundOfMemory(diagnosis, "mem.fragments");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(MetricIn(*found, "reserved_per_step"), 20 * kMb);
  EXPECT_EQ(MetricIn(*found, "reserved"), 980 * kMb);
  EXPECT_EQ(MetricIn(*found, "allocated"), 500 * kMb);
  EXPECT_EQ(FoundOfMemory(diagnosis, "mem.growth"), nullptr);
}

MPA_REFUTES(MemoryGrowth, WhatTensorsNeedIsNotInPieces, "mem.fragments");
TEST(MemoryGrowth, WhatTensorsNeedIsNotInPieces) {
  const auto grows = [](const std::vector<std::int64_t>& allocated,
                        const std::vector<std::int64_t>& reserved) {
    return FoundOfMemory(DiagnoseJob({WithMemory(allocated, reserved)}), "mem.fragments") !=
           nullptr;
  };
  const std::vector<std::int64_t> more = {900, 920, 940, 960, 980};
  EXPECT_TRUE(grows({500, 500, 500, 500, 500}, more));
  EXPECT_FALSE(grows({500, 490, 530, 500, 508}, more)) << "tensors take a tenth of it";
  EXPECT_FALSE(grows({500, 500, 500, 500, 500}, {900, 980, 980, 980, 980})) << "a larger batch";
  EXPECT_FALSE(grows({500, 500, 500, 500, 500}, {900, 901, 902, 903, 904})) << "hardly anything";
}

// Nobody says of memory that was not recorded that it does not grow.
TEST(MemoryGrowth, PassesWhereItWasRecordedAlone) {
  const auto passes = [](const std::vector<std::int64_t>& allocated) {
    const Diagnosis diagnosis = DiagnoseJob({WithMemory(allocated, kFlatPool)});
    return std::ranges::count_if(diagnosis.passed_checks, [](const FindingType* type) {
      return type->id == "mem.growth" || type->id == "mem.fragments";
    });
  };
  EXPECT_EQ(passes({100, 100, 100, 100, 100}), 2);
  EXPECT_EQ(passes({-1, -1, -1, -1, -1}), 0);
  EXPECT_EQ(passes({100, 100, -1, 100, 100}), 0);
  EXPECT_EQ(passes({100, 100, 100}), 0) << "too few steps";
}

TEST(MemoryGrowth, RanksThatHaveItAreNamed) {
  const RankDiagnosis leaks = WithMemory({100, 147, 194, 240, 288}, kFlatPool);
  const RankDiagnosis steady = WithMemory({100, 100, 100, 100, 100}, kFlatPool);
  const Diagnosis some = DiagnoseJob({steady, leaks}), all = DiagnoseJob({leaks, leaks});
  ASSERT_NE(FoundOfMemory(some, "mem.growth"), nullptr);
  EXPECT_EQ(FoundOfMemory(some, "mem.growth")->ranks, std::vector{RankId{1}});
  ASSERT_NE(FoundOfMemory(all, "mem.growth"), nullptr);
  EXPECT_TRUE(FoundOfMemory(all, "mem.growth")->ranks.empty());
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Which operators launched which kernels.
#include "mpa/measure/op_work.h"

#include <gtest/gtest.h>

#include "support/failures.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

// One connection with these many launches, each by an operator of its own, and kernels.
RankTrace OneConnection(std::int64_t launches, std::int64_t kernels) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  for (std::int64_t i = 0; i < launches; ++i) {
    rank.Op("op", 10 * i, 10 * i + 5, thread);
    rank.Launch(7, 10 * i, thread);
  }
  for (std::int64_t i = 0; i < kernels; ++i) {
    rank.trace.kernels.Append({.start = i, .dur = 1, .link = 7});
  }
  return std::move(rank.trace);
}

TEST(OpWork, ListsAKernelWithEachOperatorThatLaunchedIt) {
  const AllOpWork work = FindOpWork(OneConnection(2, 3));
  ASSERT_EQ(work.ops.size(), 2u);
  EXPECT_EQ(work.ops[0].kernels.size(), 3u);
  EXPECT_EQ(work.ops[1].kernels.size(), 3u);
  EXPECT_TRUE(work.without_op.empty());
}

TEST(OpWork, TakesGraphsOfManyKernels) {
  const AllOpWork work = FindOpWork(OneConnection(1, 1'200'000));
  ASSERT_EQ(work.ops.size(), 1u);
  EXPECT_EQ(work.ops[0].kernels.size(), 1'200'000u);
}

TEST(OpWork, RefusesAllKernelsOfAllOperators) {
  const RankTrace trace = OneConnection(3000, 3000);
  const Error error = test::ErrorOf([&] { FindOpWork(trace); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "a connection has so many launches and kernels");
}

}  // namespace
}  // namespace mpa

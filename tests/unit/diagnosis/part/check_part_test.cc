// SPDX-License-Identifier: Apache-2.0
// Which parts of ranks are refused, because what is in them cannot be.
#include <gtest/gtest.h>

#include "diagnosis/part_builder.h"
#include "mpa/base/error.h"

namespace mpa {
namespace {

// In 2026, as profilers of hosts write it; no duration is as long.
constexpr TimeNs kStart = 1'780'000'000'000'000'000;

RankDiagnosis WithRun(TimeNs start, TimeNs dur) {
  PartBuilder builder;
  builder.Step().Kernel("MatMulV3", kMs);
  RankDiagnosis part = builder.Build();
  RankCollectives& collectives = part.collectives;
  collectives.runs.texts = {"g"};
  collectives.runs.rows = {{.start = start, .dur = dur}};
  collectives.seen.resize(1);
  collectives.last.resize(1);
  collectives.own_rank_of_group = {-1};
  return part;
}

TEST(CheckPart, TakesTheRunsOfAnyTime) {
  EXPECT_NO_THROW(CheckPart(WithRun(kStart, 0)));
  EXPECT_NO_THROW(CheckPart(WithRun(kStart, kMs)));
}

TEST(CheckPart, RefusesRunsThatEndBeforeTheyBeginOrLastForYears) {
  EXPECT_THROW(CheckPart(WithRun(kStart, -1)), Error);
  EXPECT_THROW(CheckPart(WithRun(0, kStart)), Error);
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/diagnose.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

TEST(Diagnose, TakesACaptureWithoutStepsAsOne) {
  RankTrace trace;
  trace.kernels.Append({.start = 1'000'000, .dur = 300'000, .stream = 2});
  trace.kernels.Append({.start = 1'500'000, .dur = 200'000, .stream = 2});
  const RankDiagnosis part = MakeRankDiagnosis(trace);
  const Diagnosis diagnosis = Diagnose({{0, &part}});
  EXPECT_EQ(diagnosis.step, 700'000);  // from the first kernel to the end of the last
  EXPECT_TRUE(diagnosis.steps.empty());
  ASSERT_EQ(diagnosis.accounting.size(), 1U);
  EXPECT_EQ(diagnosis.accounting[0].window, 700'000);
}

TEST(Diagnose, TakesACaptureOfNothing) {
  const RankTrace trace;
  const RankDiagnosis part = MakeRankDiagnosis(trace);
  const Diagnosis diagnosis = Diagnose({{0, &part}});
  EXPECT_EQ(diagnosis.step, 0);
  EXPECT_TRUE(diagnosis.findings.empty());
}

}  // namespace
}  // namespace mpa

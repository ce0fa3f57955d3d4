// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "diagnosis/diagnose.h"
#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"

namespace mpa {
namespace {

// Five steps of 10 ms, of which the host takes 2; in the fourth it takes 22 ms.
RankDiagnosis RankWithALongStep(TimeCategory category, TimeNs in_fourth = 22 * kMs) {
  PartBuilder builder;
  for (int step = 0; step < 5; ++step) {
    builder.Step().Host(category, step == 3 ? in_fourth : 2 * kMs).Kernel("MatMulV3", 8 * kMs);
    HostPlace place;
    place.share = static_cast<std::uint32_t>(step);
    place.name = builder.NameOf("aten::mm");
    place.count = 1;
    place.time = place.longest = step == 3 ? in_fourth : 2 * kMs;
    builder.Part().places.push_back(place);
  }
  return builder.Build();
}

TEST(LongStep, IsNamedWithWhatTakesLongerThen) {
  const Diagnosis diagnosis = DiagnoseJob({RankWithALongStep(TimeCategory::kDispatchOp)});
  const Finding* found = FindingWith(diagnosis, "step.long/s13/r0");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->kind, FindingKind::kFault);
  EXPECT_EQ(found->gain, 4 * kMs) << "20 ms in one of five steps";
  EXPECT_EQ(MetricIn(*found, "slower_than_steps"), 3) << "30 of 10 ms";
  EXPECT_EQ(found->steps, (std::vector<std::int32_t>{13}));
  EXPECT_EQ(found->ranks, (std::vector<RankId>{0}));
  EXPECT_EQ(found->category, "free.dispatch.op");
  ASSERT_EQ(found->evidence.size(), 1u);
  EXPECT_EQ(found->evidence[0].name, "aten::mm");
  EXPECT_EQ(found->evidence[0].time, 4 * kMs);
  EXPECT_EQ(diagnosis.step_after_fixes + found->gain, diagnosis.step);
  EXPECT_EQ(&diagnosis.findings.front(), found) << "before what is as it was written";
}

TEST(LongStep, AFindingThatExplainsItIsEnough) {
  const Diagnosis diagnosis = DiagnoseJob({RankWithALongStep(TimeCategory::kCheckpoint)});
  EXPECT_NE(FindingWith(diagnosis, "host.checkpoint"), nullptr);
  EXPECT_EQ(FindingWith(diagnosis, "step.long/s13/r0"), nullptr);
}

TEST(LongStep, LessThanTwiceTheOthersIsNone) {
  const Diagnosis diagnosis = DiagnoseJob({RankWithALongStep(TimeCategory::kDispatchOp, 11 * kMs)});
  EXPECT_EQ(FindingWith(diagnosis, "step.long/s13/r0"), nullptr) << "19 of 10 ms";
}

// The other rank waits in its collective: its step is as long, but not for what it does.
MPA_REFUTES(LongStep, WhoWaitsIsNotNamed, "step.long");
TEST(LongStep, WhoWaitsIsNotNamed) {
  std::vector<RankDiagnosis> parts;
  for (const int late : {0, 1}) {
    PartBuilder builder;
    for (int step = 0; step < 5; ++step) {
      const TimeNs more = step == 3 ? 20 * kMs : 0;
      builder.Step().Host(TimeCategory::kDispatchOp, 2 * kMs + (late == 1 ? more : 0));
      builder.Kernel("MatMulV3", 8 * kMs);
      builder.Collective(std::to_string(step), kMs + (late == 0 ? more : 0));
    }
    parts.push_back(builder.Build());
  }
  const Diagnosis diagnosis = DiagnoseJob(parts);
  EXPECT_EQ(FindingWith(diagnosis, "step.long/s13/r0"), nullptr);
}

}  // namespace
}  // namespace mpa

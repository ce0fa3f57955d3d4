// SPDX-License-Identifier: Apache-2.0
#include "mpa/capture/ability.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

TEST(Verdict, FirstRefusalCountsAlone) {
  const Verdict verdict = Verdict()
                              .AddLack(true, "no counters", "aic_metrics")
                              .Refuse(false, "never", "")
                              .Refuse(true, "no kernels", "Level1")
                              .Refuse(true, "no steps", "step()")
                              .AddLack(true, "no memory", "profile_memory");
  EXPECT_EQ(verdict, (Verdict{Ability::kCannotRun, {{"no kernels", "Level1"}}}));
}

TEST(Verdict, KeepsEveryLackInOrder) {
  const Verdict verdict = Verdict()
                              .AddLack(true, "no memory", "profile_memory")
                              .AddLack(false, "no steps", "step()")
                              .AddLack(true, "no marks", "mstx");
  ASSERT_EQ(verdict.lacks.size(), 2u);
  EXPECT_EQ(verdict.ability, Ability::kRunsWithLess);
  EXPECT_EQ(verdict.lacks[0], (Lack{"no memory", "profile_memory"}));
  EXPECT_EQ(verdict.lacks[1], (Lack{"no marks", "mstx"}));
}

TEST(Verdict, TracesOfTorchProfilerAreRefusedByTheirDevice) {
  RankFacts facts;
  facts.kind = CaptureKind::kNpuText;
  EXPECT_EQ(Verdict().RefuseKineto(facts, "have no marks"), Verdict());
  facts.kind = CaptureKind::kGpu;
  EXPECT_EQ(Verdict().RefuseKineto(facts, "have no marks"),
            CannotRun("captures of GPUs have no marks", ""));
  facts.kind = CaptureKind::kNpuKineto;
  EXPECT_EQ(Verdict().RefuseKineto(facts, "have no marks"),
            CannotRun("traces of torch.profiler have no marks", kCollectByTorchNpu));
}

}  // namespace
}  // namespace mpa

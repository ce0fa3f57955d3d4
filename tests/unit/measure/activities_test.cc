// SPDX-License-Identifier: Apache-2.0
// Computing, communication, exposed and free time, which every command takes from one place.
#include "mpa/measure/activities.h"

#include <gtest/gtest.h>

#include "mpa/measure/overall_metrics.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;

TEST(Activities, AreOfTheWorkWhateverTheOverlapAnalysisSays) {
  RankBuilder rank;
  rank.KernelAt(10, 30);
  rank.Collective(rank.Group("g"), 20, 60);
  rank.Task("SDMA_SQE", 2, 5, 7);        // before what the analysis of an older exporter has
  rank.Overlap(Activity::kFree, 0, 10);  // until a kernel that was dropped from the table
  rank.Overlap(Activity::kComputing, 10, 31);
  rank.Overlap(Activity::kCommunication, 20, 60);
  rank.Overlap(Activity::kExposedCommunication, 31, 60);
  const Activities activities = ActivitiesOf(rank.trace);
  EXPECT_EQ(activities.computing, (Intervals{{10, 30}}));
  EXPECT_EQ(activities.communication, (Intervals{{20, 60}}));
  EXPECT_EQ(activities.exposed, (Intervals{{30, 60}}));
  EXPECT_EQ(activities.Free(), (Intervals{{2, 10}}));
  EXPECT_EQ(activities.Length(), 58);
  EXPECT_EQ(AnalysedActivitiesOf(rank.trace).computing, (Intervals{{10, 31}}));
  EXPECT_EQ(AnalysedActivitiesOf(rank.trace).Length(), 60);
}

// Of kernel_details.csv nothing is left: the analysis knows when something was computed.
TEST(Activities, AreThoseOfTheOverlapAnalysisWhereThereAreNoKernels) {
  RankBuilder rank;
  rank.Collective(rank.Group("g"), 20, 58);
  rank.Overlap(Activity::kComputing, 10, 30);
  rank.Overlap(Activity::kExposedCommunication, 30, 58);
  const Activities activities = ActivitiesOf(rank.trace);
  EXPECT_EQ(activities.computing, (Intervals{{10, 30}}));
  EXPECT_EQ(activities.communication, (Intervals{{20, 58}}));
  EXPECT_EQ(activities.exposed, (Intervals{{30, 58}}));
  EXPECT_EQ(activities.Length(), 48);
}

TEST(Activities, AreThoseOfTheOverlapAnalysisWhereThatIsAll) {
  RankBuilder rank;
  rank.Overlap(Activity::kComputing, 10, 30);
  rank.Overlap(Activity::kCommunication, 20, 60);
  rank.Overlap(Activity::kExposedCommunication, 30, 60);
  rank.Overlap(Activity::kFree, 60, 100);
  const Activities activities = ActivitiesOf(rank.trace);
  EXPECT_EQ(activities.computing, (Intervals{{10, 30}}));
  EXPECT_EQ(activities.communication, (Intervals{{20, 60}}));
  EXPECT_EQ(activities.exposed, (Intervals{{30, 60}}));
  EXPECT_EQ(activities.Free(), (Intervals{{60, 100}}));
  EXPECT_EQ(activities.Length(), 90);
}

TEST(Activities, OfOneStepComeFromItsOwnWork) {
  RankBuilder rank;
  rank.KernelAt(0, 40);
  rank.Overlap(Activity::kComputing, 10, 30);  // cut at the bounds of the step
  rank.trace.is_one_step = true;
  EXPECT_EQ(ActivitiesOf(rank.trace).computing, (Intervals{{0, 40}}));
}

TEST(Activities, ComeFromWorkWhereThereIsNoAnalysis) {
  RankBuilder rank;
  rank.KernelAt(0, 40);
  rank.Collective(rank.Group("g"), 30, 50);
  rank.KernelAt(70, 80);
  rank.Task("EVENT_WAIT", 80, 95, 7);
  const Activities activities = ActivitiesOf(rank.trace);
  EXPECT_EQ(activities.computing, (Intervals{{0, 40}, {70, 80}}));
  EXPECT_EQ(activities.exposed, (Intervals{{40, 50}}));
  EXPECT_EQ(activities.Free(), (Intervals{{50, 70}, {80, 95}}));
}

// As the tables of some chips list it: among the kernels, and among the collectives.
TEST(Activities, OfTheLcclLibraryAreNoComputingInAnyCommand) {
  RankBuilder rank;
  rank.KernelAt(0, 10);
  rank.KernelAt(20, 50, "kernel_aivec");
  rank.Collective(rank.Group("g"), 20, 50, "kernel_aivec");
  const Activities activities = ActivitiesOf(rank.trace);
  EXPECT_EQ(activities.computing, (Intervals{{0, 10}}));
  EXPECT_EQ(activities.lccl, (Intervals{{20, 50}}));
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.computing, 10);
  EXPECT_EQ(metrics.lccl.time, 30);
  EXPECT_EQ(metrics.free, 10);
}

TEST(Activities, CopiesComputeNothingOnAGpu) {
  RankBuilder rank(DeviceKind::kGpu);
  rank.Task("gpu_memcpy", 0, 10, 7, "Memcpy HtoD (Pinned -> Device)");
  const Activities activities = ActivitiesOf(rank.trace);
  EXPECT_TRUE(activities.computing.empty());
  EXPECT_EQ(activities.Length(), 10);
}

TEST(Activities, OfARankWithoutWorkAreNone) {
  const RankBuilder rank;
  const Activities activities = ActivitiesOf(rank.trace);
  EXPECT_TRUE(activities.Empty());
  EXPECT_EQ(activities.Length(), 0);
  EXPECT_TRUE(activities.Free().empty());
}

}  // namespace
}  // namespace mpa

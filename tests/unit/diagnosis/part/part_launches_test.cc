// SPDX-License-Identifier: Apache-2.0
// How long launches take on a rank.
#include <gtest/gtest.h>

#include "mpa/diagnosis/part/part.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

// Ten launches of kernels, of 10 ns each but for the last, and three of collectives, of 400 ns
// each.
StepPart StepWithCollectives() {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1);
  const auto launch = [&](TimeNs start, TimeNs dur, std::int64_t connection) {
    rank.trace.host_calls.Append({.start = start,
                                  .dur = dur,
                                  .name = rank.Text("Node@launch"),
                                  .track = main,
                                  .connection = connection});
  };
  rank.KernelAt(0, 20'000);
  for (int i = 0; i < 10; ++i) launch(1'000 * i, i == 9 ? 40 : 10, i);
  const std::int32_t group = rank.Group("dp");
  for (int i = 0; i < 3; ++i) {
    launch(11'000 + 1'000 * i, 400, 100 + i);
    rank.Collective(group, 12'000 + 1'000 * i, 12'500 + 1'000 * i,
                    "hcom_allReduce__1_" + std::to_string(i) + "_1");
    rank.trace.communications.connection.back() = 100 + i;
  }
  return MakeRankDiagnosis(rank.trace).steps.at(0);
}

TEST(PartLaunches, ThoseOfCollectivesAreAnotherKind) {
  const StepPart step = StepWithCollectives();
  EXPECT_EQ(step.launches, 10);
  EXPECT_EQ(step.launch_median, 10);
  EXPECT_EQ(step.launch_decile, 10) << "the ninth of ten";
  EXPECT_EQ(step.launch_time, 9 * 10 + 40);
}

}  // namespace
}  // namespace mpa

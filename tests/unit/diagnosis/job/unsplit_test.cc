// SPDX-License-Identifier: Apache-2.0
// Waiting and transfer of operations without tasks, from when the other ranks began. The times are
// worked out by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/part_builder.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/job/steps.h"

namespace mpa {
namespace {

// Two ranks with four steps of 13 ms. Each computes, rank 1 for 4 ms longer than rank 0, and then
// meets the other, which takes 3 ms from when rank 1 comes; a kernel hides the first millisecond of
// rank 0. The capture holds no tasks of the operation.
class Unsplit : public ::testing::Test {
 protected:
  Unsplit() {
    for (const TimeNs compute : {6 * kMs, 10 * kMs}) {
      PartBuilder builder;
      for (int i = 0; i < 4; ++i) {
        builder.Step().Kernel("MatMulV3", compute);
        const TimeNs begin = builder.Now();
        builder.Collective("hcom_allReduce__1_" + std::to_string(i), 13 * kMs - compute);
        StepPart& step = builder.Part().steps.back();
        const TimeNs exposed = compute == 6 * kMs ? 6 * kMs : 3 * kMs;
        const auto collective = static_cast<std::uint32_t>(builder.Part().operations.size() - 1);
        step.categories[static_cast<std::size_t>(TimeCategory::kTransfer)] = 0;
        step.categories[static_cast<std::size_t>(TimeCategory::kUnsplit)] = exposed;
        step.unsplit.push_back(
            {collective, begin + 13 * kMs - compute - exposed, begin + 13 * kMs - compute});
      }
      parts_.push_back(builder.Build());
    }
  }

  TimeNs Divided(std::size_t rank, TimeCategory category) {
    std::vector<DiagnosedRank> ranks;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      ranks.push_back({static_cast<std::int64_t>(i), &parts_[i]});
    const Job job = MakeJob(ranks, Thresholds());
    return CategoryDivider(job.ranks, job.operations)
        .Categories(rank, parts_[rank].steps[2])[static_cast<std::size_t>(category)];
  }

  std::vector<RankDiagnosis> parts_;
};

TEST_F(Unsplit, ARankWaitsUntilTheLastMemberBegins) {
  EXPECT_EQ(Divided(0, TimeCategory::kWaitPeer),
            3 * kMs);  // of the 4 ms that rank 1 is late one is hidden
  EXPECT_EQ(Divided(0, TimeCategory::kTransfer), 3 * kMs);
  EXPECT_EQ(Divided(0, TimeCategory::kUnsplit), 0);
  EXPECT_EQ(Divided(1, TimeCategory::kWaitPeer), 0);
  EXPECT_EQ(Divided(1, TimeCategory::kTransfer), 3 * kMs);
}

TEST_F(Unsplit, WithoutAllMembersNothingIsDivided) {
  parts_.pop_back();
  EXPECT_EQ(Divided(0, TimeCategory::kUnsplit), 6 * kMs);
  EXPECT_EQ(Divided(0, TimeCategory::kWaitPeer), 0);
}

TEST_F(Unsplit, OfABroadcastTheRootDoesNotWait) {
  for (RankDiagnosis& part : parts_) {
    part.names.emplace_back("broadcast");
    for (OperationPart& row : part.operations)
      row.kind = static_cast<NameId>(part.names.size() - 1);
  }
  EXPECT_EQ(Divided(0, TimeCategory::kUnsplit), 6 * kMs);
}

}  // namespace
}  // namespace mpa

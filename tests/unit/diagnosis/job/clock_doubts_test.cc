// SPDX-License-Identifier: Apache-2.0
// Ranks whose clocks contradict each other, from their collectives to the findings.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

// A rank of one step: a kernel, and collectives of groups of two.
class PairingRank {
 public:
  PairingRank(std::int64_t rank, TimeNs computes) {
    met_.trace.rank = rank;
    built_.Step().Kernel("MatMulV3", computes);
  }
  // Three of them; the first takes so long, the others 1 ms each.
  PairingRank& Meet(const std::string& group, TimeNs first) {
    const std::int32_t row = met_.Group(group);
    for (int i = 0; i < 3; ++i) {
      const std::string name = "hcom_allReduce__1_" + std::to_string(i) + "_1";
      const TimeNs begin = built_.Now();
      built_.Collective(name, i == 0 ? first : kMs, "allreduce", group);
      met_.Collective(row, begin, built_.Now(), name);
    }
    return *this;
  }
  RankDiagnosis Build() {
    RankDiagnosis part = built_.Build();
    part.collectives = CollectivesOfRank(met_.trace);
    return part;
  }

 private:
  PartBuilder built_;
  test::RankBuilder met_;
};

// Rank 1 computes 2 ms longer than the others. Ranks 0 and 1 meet, then 0 and 2, at last 1 and 2,
// where rank 2 leaves later than rank 1 by what its clock says.
Diagnosis WithDoubt(TimeNs doubt) {
  PairingRank first(0, 3 * kMs), second(1, 5 * kMs), third(2, 3 * kMs);
  first.Meet("a", 3 * kMs).Meet("b", kMs);          // until 8 ms, and 11
  second.Meet("a", kMs).Meet("c", 4 * kMs);         // until 8 ms, and 14
  third.Meet("b", 6 * kMs).Meet("c", kMs + doubt);  // until 11 ms, and 14 or later
  return DiagnoseJob({first.Build(), second.Build(), third.Build()});
}

TEST(ClockDoubts, ClocksThatAgreeLeaveNone) {
  const Diagnosis diagnosis = WithDoubt(0);
  EXPECT_TRUE(diagnosis.lateness.doubts.empty());
  const Finding* late = FindingWith(diagnosis, "rank.late_compute/r1");
  ASSERT_NE(late, nullptr);
  EXPECT_EQ(late->gain, 2 * kMs);
  EXPECT_EQ(late->confidence, Certainty::kMedium) << "one step";
}

TEST(ClockDoubts, ContradictionsMakeLateRanksLessSure) {
  const Diagnosis diagnosis = WithDoubt(300 * kUs);
  ASSERT_EQ(diagnosis.lateness.doubts.size(), 1u);
  EXPECT_EQ(diagnosis.lateness.doubts[0].first, 1);
  EXPECT_EQ(diagnosis.lateness.doubts[0].second, 2);
  EXPECT_EQ(diagnosis.lateness.doubts[0].residual, 300 * kUs);
  const Finding* late = FindingWith(diagnosis, "rank.late_compute/r1");
  ASSERT_NE(late, nullptr);
  EXPECT_EQ(late->confidence, Certainty::kLow);
}

TEST(ClockDoubts, NobodyIsLateByLess) {
  const Diagnosis diagnosis = WithDoubt(2'500 * kUs);
  ASSERT_EQ(diagnosis.lateness.doubts.size(), 1u);
  EXPECT_EQ(FindingWith(diagnosis, "rank.late_compute/r1"), nullptr);
}

}  // namespace
}  // namespace mpa

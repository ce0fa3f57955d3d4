// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/base/rank.h"
#include "mpa/capture/capture.h"
#include "support/files.h"

namespace mpa {
namespace {

class RankNumberTest : public ::testing::Test {
 protected:
  // The names of the captures below the directory.
  std::vector<std::string> NamesOfAll() const {
    std::vector<RankInput> ranks = Discover(dir_.path(), {.force = true}).ranks;
    NameRanks(ranks);
    std::vector<std::string> names;
    for (const RankInput& rank : ranks) names.push_back(RankName(rank.rank));
    return names;
  }
  void Write(const std::string& folder) const {
    dir_.Write(folder + "/ASCEND_PROFILER_OUTPUT/trace_view.json", R"([{"name":"a"}])");
  }

  const test::TempDir dir_;
};

TEST_F(RankNumberTest, ANumberOrALabel) {
  for (const char* folder :
       {"rank-2_20260102030405678_ascend_ms", "b_1_20260102030405678_ascend_pt",
        "b_1_20260102030405679_ascend_pt", "7_ascend_pt"}) {
    Write(folder);
  }
  EXPECT_EQ(NamesOfAll(), (std::vector<std::string>{"folder_7", "b_1_20260102030405678",
                                                    "b_1_20260102030405679", "2"}));
}

TEST(RankNames, LabelsAreBehindNumbersAndKeepTheirs) {
  const RankId first = RankOfLabel("first"), second = RankOfLabel("second");
  EXPECT_LT(kMaxRanks - 1, first);
  EXPECT_LT(first, second);
  EXPECT_EQ(RankOfLabel("first"), first);
  EXPECT_TRUE(SetRankLabel(first, "first"));
  EXPECT_FALSE(SetRankLabel(first, "third"));
  EXPECT_FALSE(SetRankLabel(second.Number() + 1, "first"));
  EXPECT_FALSE(SetRankLabel(3, "third"));
  EXPECT_EQ(RankNames(std::vector<RankId>{3, second, -1}, ", "), "3, second, unknown");
}

}  // namespace
}  // namespace mpa

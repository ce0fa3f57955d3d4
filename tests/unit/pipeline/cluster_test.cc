// SPDX-License-Identifier: Apache-2.0
// From a directory with captures of many ranks to the result of a recipe.
#include "mpa/pipeline/cluster.h"

#include <gtest/gtest.h>

#include "mpa/base/parallel.h"
#include "support/failures.h"
#include "support/files.h"

namespace mpa {
namespace {

using Texts = std::vector<std::string>;

// Counts the operators of each rank: "<rank>: <count>" on the screen.
Recipe CountOperators() {
  Recipe recipe;
  recipe.name = "count";
  recipe.needs = Tables::kHostOps;
  recipe.map = [](const RankTrace& trace, const RecipeArguments&) -> std::any {
    return trace.host_ops.Size();
  };
  recipe.reduce = [](const std::vector<RankPart>& parts, const RecipeArguments& arguments) {
    RecipeResult result;
    for (const RankPart& part : parts) {
      result.screen.push_back(std::to_string(part.rank) + ": " +
                              std::to_string(std::any_cast<std::size_t>(part.part)) +
                              (arguments.contains("loud") ? "!" : ""));
    }
    return result;
  };
  return recipe;
}

class ClusterTest : public ::testing::Test {
 protected:
  ~ClusterTest() override { SetJobs(0); }

  // A capture with so many operators, each in a step of its own.
  void WriteRank(const std::string& name, int rank, int operators) const {
    std::string events;
    for (int i = 0; i < operators; ++i) {
      events += std::string(i == 0 ? "" : ",") +
                R"({"ph":"X","cat":"cpu_op","name":"ProfilerStep#)" + std::to_string(i) +
                R"(","pid":1,"tid":2,"ts":)" + std::to_string(100 * i) + R"(,"dur":90})";
    }
    const std::string capture = name + "_ascend_pt/";
    dir_.Write(capture + "ASCEND_PROFILER_OUTPUT/trace_view.json", "[" + events + "]");
    dir_.Write(capture + "profiler_info_" + std::to_string(rank) + ".json", "{}");
  }
  ClusterRequest Request() const {
    ClusterRequest request;
    request.directory = dir_ / "";
    request.open.force = true;
    return request;
  }
  Texts Run(const ClusterRequest& request) {
    return RunRecipe(CountOperators(), request).result.screen;
  }

  const test::TempDir dir_;
};

TEST_F(ClusterTest, GivesThePartsInOrderOfRankWhateverTheirNames) {
  WriteRank("a", 10, 3);
  WriteRank("b", 2, 2);
  WriteRank("c", 1, 1);
  for (const int jobs : {1, 4}) {
    SetJobs(jobs);
    EXPECT_EQ(Run(Request()), (Texts{"1: 1", "2: 2", "10: 3"}));
  }
}

TEST_F(ClusterTest, ReadsTheChosenRanksOnlyAndMissesThoseThatAreNotThere) {
  WriteRank("a", 0, 1);
  WriteRank("b", 1, 2);
  ClusterRequest request = Request();
  request.ranks = {1, 7};
  const ClusterOutcome outcome = RunRecipe(CountOperators(), request);
  EXPECT_EQ(outcome.result.screen, Texts{"1: 2"});
  EXPECT_TRUE(outcome.partial);
  ASSERT_EQ(outcome.result.notes.size(), 1u);
  EXPECT_HAS_TEXT(outcome.result.notes[0], "rank 7 not found");
}

TEST_F(ClusterTest, LosesOnlyTheRankThatIsBroken) {
  WriteRank("a", 0, 1);
  WriteRank("b", 1, 2);
  dir_.Write("b_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json", "[nonsense]");
  const ClusterOutcome outcome = RunRecipe(CountOperators(), Request());
  EXPECT_EQ(outcome.result.screen, Texts{"0: 1"});
  EXPECT_TRUE(outcome.partial);
  ASSERT_FALSE(outcome.result.notes.empty());
  EXPECT_HAS_TEXT(outcome.result.notes[0], "b_ascend_pt");
}

TEST_F(ClusterTest, TakesTheLatestOfSeveralCapturesOfARank) {
  WriteRank("host_1_20260101120000000", 0, 1);
  WriteRank("host_1_20260301120000000", 0, 3);
  WriteRank("host_1_20260201120000000", 0, 2);
  const ClusterOutcome outcome = RunRecipe(CountOperators(), Request());
  EXPECT_EQ(outcome.result.screen, Texts{"0: 3"});
  EXPECT_FALSE(outcome.partial);
  EXPECT_EQ(outcome.result.notes.size(), 2u);
}

TEST_F(ClusterTest, NamesTheCaptureThatALaterOneOfTheRankReplaces) {
  WriteRank("one_1_20260101120000000", 0, 1);
  WriteRank("two_1_20260101120000000", 1, 1);
  WriteRank("two_1_20260201120000000", 1, 2);
  const ClusterOutcome outcome = RunRecipe(CountOperators(), Request());
  EXPECT_EQ(outcome.result.screen, (Texts{"0: 1", "1: 2"}));
  ASSERT_EQ(outcome.result.notes.size(), 1u);
  const std::string& note = outcome.result.notes[0];
  EXPECT_LT(note.find("two_1_20260101120000000"), note.find("is left out")) << note;
  EXPECT_EQ(note.find("one_1"), std::string::npos) << note;
}

TEST_F(ClusterTest, CutsEveryRankToTheStep) {
  WriteRank("a", 0, 4);
  ClusterRequest request = Request();
  request.step = 2;
  EXPECT_EQ(Run(request), Texts{"0: 1"});
}

TEST_F(ClusterTest, ReadsRanksThatAreLargerThanTheMemoryOneAfterTheOther) {
  for (int rank = 0; rank < 4; ++rank) WriteRank(std::to_string(rank), rank, rank);
  ClusterRequest request = Request();
  request.memory_bytes = 1;
  SetJobs(4);
  EXPECT_EQ(Run(request).size(), 4u);
}

TEST_F(ClusterTest, HandsTheRecipeItsOptions) {
  WriteRank("a", 0, 1);
  ClusterRequest request = Request();
  request.arguments["loud"] = "";
  EXPECT_EQ(Run(request), Texts{"0: 1!"});
}

TEST_F(ClusterTest, RefusesADirectoryWithoutCaptures) {
  const Error error = test::ErrorOf([&] { Run(Request()); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
}

}  // namespace
}  // namespace mpa

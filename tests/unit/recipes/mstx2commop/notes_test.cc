// SPDX-License-Identifier: Apache-2.0
// What the recipe says of marks that make no operator: a rank that has such marks has marks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/recipe/recipe.h"
#include "support/rank_builder.h"

namespace mpa::recipes::mstx2commop {
namespace {

// A rank with that mark, and a task of stream 5 behind it.
std::vector<std::string> NotesOf(std::string_view message) {
  const Recipe& recipe = *std::find_if(AllRecipes().begin(), AllRecipes().end(),
                                       [](const Recipe& any) { return any.name == "mstx2commop"; });
  test::RankBuilder rank;
  rank.Mstx("communication", message, 100, 100, rank.Thread(1));
  rank.Task("KERNEL_AIVEC", 120, 150, 5);
  Report report;
  recipe.reduce({{0, recipe.map(rank.trace, {})}}, {},
                {.documents = false, .screen = Detail::kNone}, report);
  return report.notes;
}

using Notes = std::vector<std::string>;

TEST(NotesOfMarks, ThereAreNoneWhereEveryMarkIsAnOperator) {
  EXPECT_EQ(NotesOf(R"({"streamId": "5", "count": 8, "dataType": "fp16", "groupName": "g",
                        "opName": "hcom_allReduce_"})"),
            Notes{});
}

TEST(NotesOfMarks, CountThoseThatNameNoOperatorOrHaveNoTask) {
  EXPECT_EQ(NotesOf(R"({"opName": "hcom_allReduce_"})"),
            (Notes{"marks left out because they name no communication operator: 1"}));
  EXPECT_EQ(NotesOf(R"({"streamId": "6", "count": 8, "dataType": "fp16", "groupName": "g",
                        "opName": "hcom_allReduce_"})"),
            (Notes{"communication marks left out because no device task belongs to them: 1; collect"
                   " with activities of the NPU"}));
}

TEST(NotesOfMarks, OtherMarksAreNoneOfCommunication) {
  EXPECT_EQ(NotesOf("forward"),
            (Notes{"1 of 1 ranks have no marks of communication (first: rank 0); collect with"
                   " mstx=True"}));
}

}  // namespace
}  // namespace mpa::recipes::mstx2commop

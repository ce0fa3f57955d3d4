// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/notes.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

using NoteTexts = std::vector<std::string>;

TEST(FoldNotes, MakesOneOfWhatRanksHaveInCommon) {
  EXPECT_EQ(FoldNotes({"rank 0: no steps", "rank 1: no steps", "rank unknown: no steps"}),
            NoteTexts{"3 ranks (0, 1, unknown): no steps"});
  EXPECT_EQ(FoldNotes({"rank 4: x", "rank 5: x", "rank 6: x", "rank 7: x", "rank 8: x"}),
            NoteTexts{"5 ranks (4, 5, 6, ...): x"});
}

TEST(FoldNotes, ShowsTheFirstOfThoseThatDifferInNumbersOrPaths) {
  EXPECT_EQ(FoldNotes({"rank 2: 17 operators", "rank 3: 4 operators"}),
            NoteTexts{"2 ranks (2, 3), first rank 2: 17 operators"});
  EXPECT_EQ(FoldNotes({"/job/rank0_ascend_pt: no memory_record.csv there",
                       "/job/rank1_ascend_pt: no memory_record.csv there"}),
            NoteTexts{"2 times, first /job/rank0_ascend_pt: no memory_record.csv there"});
}

// Chinese has no blank between a path and what is said of it.
TEST(FoldNotes, TellsApartWhatChineseSaysOfPaths) {
  const NoteTexts notes = {"/job/rank0_ascend_pt\uff1a\u4e2d\u65ad",
                           "/job/rank1_ascend_pt\uff1a\u622a\u65ad"};
  EXPECT_EQ(FoldNotes(notes), notes);
  EXPECT_EQ(FoldNotes({notes[0], "/job/rank7_ascend_pt\uff1a\u4e2d\u65ad"}),
            NoteTexts{"2 times, first " + notes[0]});
}

TEST(FoldNotes, FoldsThoseOfNoRank) {
  EXPECT_EQ(FoldNotes({"links of rank 3 are left out", "links of rank 15 are left out"}),
            NoteTexts{"2 times, first links of rank 3 are left out"});
  EXPECT_EQ(FoldNotes({"x", "x", "x"}), NoteTexts{"x (3 times)"});
}

TEST(FoldNotes, KeepsOtherNotesAndTheOrder) {
  const NoteTexts notes = {"step 1 is cut", "rank 0: no steps", "rank 0: no kernels",
                           "rank of 3: x"};
  EXPECT_EQ(FoldNotes(notes), notes);
  EXPECT_EQ(FoldNotes({"rank 0: a", "b", "rank 1: a", "c"}),
            (NoteTexts{"2 ranks (0, 1): a", "b", "c"}));
  EXPECT_TRUE(FoldNotes({}).empty());
}

}  // namespace
}  // namespace mpa

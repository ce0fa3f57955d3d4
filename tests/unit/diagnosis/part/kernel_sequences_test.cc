// SPDX-License-Identifier: Apache-2.0
// Expectations are worked out by hand from the kernels of each test; times are ns.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "mpa/diagnosis/part/analyzer_rows.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

// What the units of a vector kernel took.
struct Moved {
  TimeNs in = 0, out = 0, core = 0;
};

class KernelSequencesTest : public ::testing::Test {
 protected:
  void Kernel(std::string_view name, TimeNs start, TimeNs end, const Moved& moved = {},
              std::string_view core = "AI_VECTOR_CORE") {
    const std::size_t row = rank_.KernelAt(start, end, name);
    rank_.trace.kernels.core[row] = rank_.Text(core);
    rank_.trace.kernels.aiv_total.Stored()[row] = moved.core;
    rank_.trace.kernel_loads.Append({.aiv_mte2_time = moved.in, .aiv_mte3_time = moved.out});
  }

  // Kernels of 10 ns whose starts are `every` apart, one for each letter.
  void Kernels(std::string_view letters, TimeNs every, const Moved& moved = {}) {
    for (const char letter : letters) {
      Kernel(std::string(1, letter), now_, now_ + 10, moved);
      now_ += every;
    }
  }

  void Repeat(int times, std::string_view letters, TimeNs every, const Moved& moved = {}) {
    for (int i = 0; i < times; ++i) Kernels(letters, every, moved);
  }

  // "first-last xcount total/busy/moving host mte names", a line for each sequence.
  std::string Listed() const {
    std::string text;
    for (const KernelSequence& row : RepeatedSequences(rank_.trace).rows) {
      text += fmt::format("{}-{} x{} {}/{}/{}{}{} ", row.first, row.last, row.count, row.total,
                          row.busy, row.moving, row.host_bound ? " host" : "",
                          row.mte_bound ? " mte" : "");
      for (const std::string& name : row.names) text += name;
      text += "\n";
    }
    return text;
  }

  TimeNs now_ = 0;
  test::RankBuilder rank_;
};

// Each run of "abc" is 30 of 210 ns busy. Other letters stand between the runs, so that nothing
// longer repeats.
TEST_F(KernelSequencesTest, GapsMakeASequenceHostBound) {
  for (const char other : {'1', '2', '3', '4', '5', '6'}) Kernels(std::string("abc") + other, 100);
  EXPECT_EQ(Listed(), "0-2 x6 1260/180/-1 host abc\n");
}

TEST_F(KernelSequencesTest, FiveRunsAreTooFew) {
  for (const char other : {'1', '2', '3', '4', '5'}) Kernels(std::string("abc") + other, 100);
  EXPECT_EQ(Listed(), "");
}

TEST_F(KernelSequencesTest, TwoKernelsAreTooFew) {
  for (const char other : {'1', '2', '3', '4', '5', '6'}) Kernels(std::string("ab") + other, 100);
  EXPECT_EQ(Listed(), "");
}

TEST_F(KernelSequencesTest, BusyForFortyPercentIsNotHostBound) {
  const auto run = [&](char other, TimeNs gap) {
    Kernels("ab", 10 + gap);
    Kernels("c", 10);
    Kernels(std::string(1, other), 10);
  };
  for (const char other : {'1', '2', '3', '4', '5', '6'}) run(other, other % 2 == 0 ? 22 : 23);
  EXPECT_EQ(Listed(), "");  // 180 of 450 ns: three runs of 74 and three of 76
  run('7', 24);             // 210 of 528 ns
  EXPECT_EQ(Listed(), "0-2 x7 528/210/-1 host abc\n");
}

// 5 ns in and 4 out of 10 ns of the core: 90 %, although the kernels follow each other without
// gaps.
TEST_F(KernelSequencesTest, LoadsAndStoresMakeASequenceMteBound) {
  for (const char other : {'1', '2', '3', '4', '5', '6'}) {
    Kernels("abc", 10, {.in = 5, .out = 4, .core = 10});
    Kernels(std::string(1, other), 10);
  }
  EXPECT_EQ(Listed(), "0-2 x6 180/180/162 mte abc\n");
}

TEST_F(KernelSequencesTest, EightyPercentOfTheCoreAreNotMteBound) {
  for (const char other : {'1', '2', '3', '4', '5', '6'}) {
    Kernels("abc", 10, {.in = 5, .out = 3, .core = 10});
    Kernels(std::string(1, other), 10);
  }
  EXPECT_EQ(Listed(), "");
}

// Cube and vector core of a mixed kernel work for 10 ns at the same time; the cube core loads for 5
// and stores for 4, the vector core for less.
TEST_F(KernelSequencesTest, CoresOfMixedKernelsWorkAtTheSameTime) {
  for (const char other : {'1', '2', '3', '4', '5', '6'}) {
    for (const char letter : {'a', 'b', 'c'}) {
      const std::size_t row = rank_.KernelAt(now_, now_ + 10, std::string(1, letter));
      rank_.trace.kernels.aic_total.Stored()[row] = rank_.trace.kernels.aiv_total.Stored()[row] =
          10;
      rank_.trace.kernels.aic_mte2.Stored()[row] = 5;
      rank_.trace.kernel_loads.Append(
          {.aic_fixpipe_time = 4, .aiv_mte2_time = 2, .aiv_mte3_time = 1});
      now_ += 10;
    }
    Kernels(std::string(1, other), 10);
  }
  EXPECT_EQ(Listed(), "0-2 x6 180/180/162 mte abc\n");
}

// Bound are the runs together: three have gaps of 200 ns, four of none.
TEST_F(KernelSequencesTest, AllRunsDecideNotTheLast) {
  const std::string others = "1234567";
  for (std::size_t i = 0; i < others.size(); ++i) {
    Kernels("ab", i < 3 ? 210 : 10);
    Kernels("c", 10);
    Kernels(others.substr(i, 1), 10);
  }
  EXPECT_EQ(Listed(), "0-2 x7 1410/210/-1 host abc\n");  // 3 times 430, 4 times 30
}

// Sequences of one percent of the capture, or less, are left out when they only wait.
TEST_F(KernelSequencesTest, ShortWaitsDoNotMatter) {
  for (const char other : {'1', '2', '3', '4', '5', '6'}) Kernels(std::string("abc") + other, 100);
  Kernel("end", 125'990, 126'000);
  EXPECT_EQ(Listed(), "");  // 1260 ns
  rank_.trace.kernels.start.back() = 125'980;
  EXPECT_EQ(Listed(), "0-2 x6 1260/180/-1 host abc\n");  // of 125990
}

TEST_F(KernelSequencesTest, ShapesAreTold) {
  for (const char other : {'1', '2', '3', '4', '5', '6'}) Kernels(std::string("abc") + other, 100);
  rank_.trace.kernels.shapes[1] = rank_.Text("2,3");
  EXPECT_EQ(Listed(), "");
  for (std::size_t i = 1; i < rank_.trace.kernels.Size(); i += 4)
    rank_.trace.kernels.shapes[i] = rank_.Text("2,3");
  EXPECT_EQ(Listed(), "0-2 x6 1260/180/-1 host abc\n");
  rank_.trace.kernels.output_shapes.Stored()[1] = rank_.Text("3");
  EXPECT_EQ(Listed(), "");
}

// Ten kernels from a, b or c on ran six times and take equal times: the first takes its kernels,
// and the two that are left are too few.
TEST_F(KernelSequencesTest, TheLongestTakesTheKernelsOfOthers) {
  Repeat(6, "abcdefghijkl", 100);
  EXPECT_EQ(Listed(), "0-9 x6 5460/600/-1 host abcdefghij\n");
}

// Twelve runs of "abc" take more time than six of "abcd", which lie over six of them.
TEST_F(KernelSequencesTest, MoreRunsMayTakeMoreTimeThanLongerOnes) {
  for (const char* others : {"1A", "2B", "3C", "4D", "5E", "6F"}) {
    Kernels(std::string("abcd") + others[0] + "abc" + others[1], 100);
  }
  EXPECT_EQ(Listed(), "0-2 x12 2520/360/-1 host abc\n");
}

// Thirteen kernels leave three.
TEST_F(KernelSequencesTest, WhatIsLeftMayBeASequenceOfItsOwn) {
  Repeat(6, "abcdefghijklm", 100);
  EXPECT_EQ(Listed(),
            "0-9 x6 5460/600/-1 host abcdefghij\n"
            "10-12 x6 1260/180/-1 host klm\n");
}

// Of twenty equal kernels six threes do not overlap, but five fours do not suffice.
TEST_F(KernelSequencesTest, RunsDoNotOverlapThemselves) {
  Kernels(std::string(20, 'a'), 100);
  EXPECT_EQ(Listed(), "0-2 x6 1260/180/-1 host aaa\n");
}

TEST_F(KernelSequencesTest, CommunicationEndsSequences) {
  const auto run = [&](char other) {
    Kernels("abcd", 100);
    rank_.Collective(0, now_ - 150, now_ - 140);  // between c and d
    Kernels(std::string(1, other), 100);
  };
  for (const char other : {'1', '2', '3', '4', '5', '6'}) run(other);
  EXPECT_EQ(Listed(), "0-2 x6 1260/180/-1 host abc\n");
  // Where kernel_details.csv lists collectives, those count: here one between the first a and b.
  rank_.trace.listed_collectives.Append({.start = 50, .dur = 1});
  EXPECT_EQ(Listed(), "2-4 x6 1260/180/-1 host bcd\n");
}

// The fourth kernel waits for a collective that runs beside the first three: the gap is not the
// host's.
TEST_F(KernelSequencesTest, TheEndOfCommunicationEndsSequences) {
  const auto run = [&](char other) {
    rank_.Collective(0, now_, now_ + 900);
    Kernels("abc", 10);
    now_ += 900;
    Kernels(std::string("d") + other, 100);
  };
  for (const char other : {'1', '2', '3', '4', '5', '6'}) run(other);
  EXPECT_EQ(Listed(), "");
}

TEST_F(KernelSequencesTest, KernelsOnTheAiCpuEndSequences) {
  for (const char other : {'1', '2', '3', '4', '5', '6'}) {
    Kernels("ab", 100);
    Kernel("check", now_, now_ + 10, {}, "AI_CPU");
    now_ += 100;
    Kernels(std::string("cd") + other, 100);
  }
  EXPECT_EQ(Listed(), "");
}

// A step ends between b and c; without it "abcd" would repeat.
TEST_F(KernelSequencesTest, StepsEndSequences) {
  std::int32_t step = 0;
  for (const char other : {'1', '2', '3', '4', '5', '6'}) {
    Kernels("ab", 100);
    rank_.Step(step++, now_ - 500, now_);
    Kernels(std::string("cd") + other, 100);
  }
  EXPECT_EQ(Listed(), "");
}

// Databases list kernels in any order. The first position counts the collective before it.
TEST_F(KernelSequencesTest, TheOrderIsThatOfTheDevice) {
  Kernel("c", 1200, 1210);
  Kernel("b", 1100, 1110);
  rank_.Collective(0, 0, 10);
  now_ = 1000;
  Kernels("a", 300);
  for (const char other : {'1', '2', '3', '4', '5', '6'})
    Kernels(std::string(1, other) + "abc", 100);
  EXPECT_EQ(Listed(), "1-3 x7 1470/210/-1 host abc\n");
}

// A kernel of another stream runs beside the next sequence: that time is counted once.
TEST_F(KernelSequencesTest, NoTimeBelongsToTwoSequences) {
  for (const char other : {'1', '2', '3', '4', '5', '6'}) {
    Kernel("a", now_, now_ + 10, {9, 0, 10});
    Kernel("b", now_ + 10, now_ + 20, {9, 0, 10});
    Kernel("c", now_ + 20, now_ + 1000, {9, 0, 10});
    Kernel(std::string(1, other), now_ + 30, now_ + 40);
    now_ += 1000;
  }
  EXPECT_EQ(Listed(), "0-2 x6 180/6000/162 mte abc\n");
}

TEST_F(KernelSequencesTest, AllAreCounted) {
  Repeat(6, "abcdefghijklm", 100);
  const SequenceList list = RepeatedSequences(rank_.trace);
  EXPECT_EQ(list.count, 2);
  EXPECT_EQ(list.total, 5460 + 1260);
  EXPECT_EQ(list.busy, 600 + 180);
}

}  // namespace
}  // namespace mpa

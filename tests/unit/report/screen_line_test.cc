// SPDX-License-Identifier: Apache-2.0
// What lines state. The numbers of each are those that a reader sees in it.
#include "mpa/report/screen_line.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/report/screen_list.h"

namespace mpa {
namespace {

std::string Said(const std::vector<StatedNumber>& numbers) {
  std::string text;
  for (const StatedNumber& number : numbers) {
    if (!text.empty()) text += "; ";
    if (!number.name.empty()) text += number.name + " ";
    text += Fixed(number.value, 2);
    if (!number.unit.empty()) text += " " + number.unit;
    if (const auto* rank = std::get_if<std::int64_t>(&number.rank))
      text += " of " + std::to_string(*rank);
    if (const auto* label = std::get_if<std::string>(&number.rank)) text += " of " + *label;
  }
  return text;
}

TEST(ScreenLine, NumbersOfTextsHaveUnitsAndRanks) {
  EXPECT_EQ(Said(NumbersIn("  rank 6 (not captured) arrived 75.13 ms after the second-to-last")),
            "75.13 ms of 6");
  EXPECT_EQ(Said(NumbersIn("late ranks in 4 collectives:")), "4.00");
  EXPECT_EQ(Said(NumbersIn("25.7 ms on rank 0, 12.2 ms on rank 1")),
            "25.70 ms of 0; 12.20 ms of 1");
  EXPECT_EQ(Said(NumbersIn("idle: min 1.0 % (rank 3), median 2.5 %, max 7 % (rank 4)")),
            "1.00 % of 3; 2.50 %; 7.00 % of 4");
  EXPECT_EQ(Said(NumbersIn("stands out: rank 2, b: 30 ns instead of 10 ns (+200.0 %)")),
            "30.00 ns of 2; 10.00 ns; 200.00 % of 2");
  EXPECT_EQ(Said(NumbersIn("  step 4 is left out here: warm-up")), "step 4.00");
  EXPECT_EQ(Said(NumbersIn("change: -4.5 ms in 12/3 runs")), "-4.50 ms; 12.00; 3.00");
}

TEST(ScreenLine, NamesShapesAndRanksAreNoNumbers) {
  EXPECT_EQ(Said(NumbersIn("hcom_allReduce__210_0_1 MatMulV2 fp16 [128, 64] 2,3;4 p50")), "4.00");
  EXPECT_EQ(Said(NumbersIn("ranks 4, 6 and 9 wait; ranks 0-3 do not")), "");
  EXPECT_EQ(OnlyRankIn("last: rank 6 (not captured)"), Cell(std::int64_t{6}));
  EXPECT_EQ(OnlyRankIn("ranks 4, 6 (not captured)"), Cell());
  EXPECT_EQ(OnlyRankIn("no late rank"), Cell());
}

TEST(ScreenLine, ListsKnowTheirNumbersByColumns) {
  const ScreenList list(
      2, {ScreenText("ms in a step", 14), ScreenNumber("count", 6), ScreenNumber("max", 8, 1),
          ScreenText("", 8), ScreenPercent("share", 8)});
  EXPECT_EQ(Said(list.Heading().Numbers()), "");
  EXPECT_EQ(Said(list.Line("MatMul 7", 3, 2.25, "(5)", 12.5).Numbers()),
            "count 3.00; max 2.20 ms of 5; share 12.50 %");
  EXPECT_EQ(Said(list.Line("none", NoNumber::kUnknown, 1.0, "(a)", NoNumber::kUnknown).Numbers()),
            "max 1.00 ms of a");
  const ScreenList ranks(0, {ScreenNumber("rank", 6), ScreenMs("total ms", 9)});
  EXPECT_EQ(Said(ranks.Line(3, 1'500'000).Numbers()), "total ms 1.50 ms of 3");
}

TEST(ScreenLine, LeadsWithWhatWasMeasured) {
  const auto leading = [](const char* text) {
    const std::vector<StatedNumber> numbers = NumbersIn(text);
    const StatedNumber* first = LeadingOf(numbers);
    return first == nullptr ? "" : Said({*first});
  };
  EXPECT_EQ(leading("rank 6 came last in 3, which took 99.70 ms"), "99.70 ms of 6");
  EXPECT_EQ(leading("step 3: 12 kernels, 40 % of them slow"), "12.00");
  EXPECT_EQ(leading("step 3 is left out"), "step 3.00");
  EXPECT_EQ(leading("no step is long"), "");
}

TEST(ScreenLine, TheVerdictIsTheFirstSentence) {
  std::vector<std::string> lines = {
      "rank 3 holds up the others: it computes 7.53 ms a step, they 5.01 (+50 %, mostly",
      "  vector); they wait 2.02 ms for it", "  rank  ms"};
  EXPECT_EQ(TakeVerdicts(lines),
            (std::vector<std::string>{"rank 3 holds up the others: it computes 7.53 ms a step, they"
                                      " 5.01 (+50 %, mostly vector); they wait 2.02 ms for it"}));
  EXPECT_EQ(lines, (std::vector<std::string>{"  rank  ms"}));
  EXPECT_TRUE(TakeVerdicts(lines).empty());
  EXPECT_EQ(lines.size(), 1u);
}

TEST(ScreenLine, TheHeadingOfAListIsNoPartOfTheVerdict) {
  std::vector<std::string> lines = {
      "slow link: rank 1 to 3 (HCCS) 7.6 GB/s, the others 11.8; costs 0.012 ms a step",
      "  ms in a step           min     median        max  (rank)"};
  EXPECT_EQ(TakeVerdicts(lines),
            (std::vector<std::string>{
                "slow link: rank 1 to 3 (HCCS) 7.6 GB/s, the others 11.8; costs 0.012 ms a step"}));
  EXPECT_EQ(lines.size(), 1u);
}

TEST(ScreenLine, AVerdictThatEndsInAColonHasWhatIsBelowIt) {
  std::vector<std::string> wrapped = {
      "the device is free 8.4 % of the time: min 7.8 %, max 8.7 % (rank 1); 82 % of it:",
      "  data loader", "causes, by their share"};
  EXPECT_EQ(TakeVerdicts(wrapped),
            (std::vector<std::string>{"the device is free 8.4 % of the time: min 7.8 %, max 8.7 %"
                                      " (rank 1); 82 % of it: data loader"}));
  EXPECT_EQ(wrapped, (std::vector<std::string>{"causes, by their share"}));
  std::vector<std::string> short_one = {"the longest, of 3 ranks:", "  replay: 0.8 ms", "  more"};
  EXPECT_EQ(TakeVerdicts(short_one),
            (std::vector<std::string>{"the longest, of 3 ranks: replay: 0.8 ms"}));
}

TEST(ScreenLine, EachGroupOfCapturesHasAVerdict) {
  std::vector<std::string> lines = {"level0:", "no rank is late", "  1 rank",
                                    "",        "level1:",         "  ms in a step",
                                    "",        "level2:",         "rank 2 is late"};
  EXPECT_EQ(TakeVerdicts(lines),
            (std::vector<std::string>{"level0: no rank is late", "level2: rank 2 is late"}));
  EXPECT_EQ(lines, (std::vector<std::string>{"level0:", "  1 rank", "", "level1:", "  ms in a step",
                                             "", "level2:"}));
}

TEST(ScreenLine, SentencesGoOnBelow) {
  const std::string words(50, 'x');
  ScreenLines lines;
  AddSentence(words + " " + words, lines);
  EXPECT_EQ(TextsOf(lines), (std::vector<std::string>{words, "  " + words}));
  std::vector<std::string> texts = TextsOf(lines);
  EXPECT_EQ(TakeVerdicts(texts), (std::vector<std::string>{words + " " + words}));
}

}  // namespace
}  // namespace mpa

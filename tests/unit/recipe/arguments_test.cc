// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/arguments.h"

#include <gtest/gtest.h>

#include "mpa/base/error.h"
#include "support/failures.h"

namespace mpa {
namespace {

enum class Size : std::uint8_t { kSmall, kLarge };
constexpr std::string_view kSizes[] = {"small", "large"};

double HalfOf(const std::string& text) {
  if (text.size() != 4) Fail(ErrorKind::kUsage, "give four letters");
  return 0.5;
}

constexpr Option<std::int64_t> kCount{"count", "N", "How many", 10};
constexpr Option<double> kPart{"part", "X", "How much", 0.25};
constexpr Option<Size> kSize{
    .name = "size", .type_name = "NAME", .help = "How large", .choices = kSizes};
constexpr Option<std::optional<std::int64_t>> kCores{"cores", "N", "Cores", "", "as captured"};
constexpr Option<double> kHalf{.name = "half", .help = "Which", .usual = 1, .read = HalfOf};

TEST(RecipeArguments, HaveTheUsualValuesUnlessOthersAreGiven) {
  RecipeArguments arguments;
  EXPECT_EQ(arguments[kCount], 10);
  EXPECT_EQ(arguments[kPart], 0.25);
  EXPECT_EQ(arguments[kSize], Size::kSmall);
  EXPECT_EQ(arguments[kCores], std::nullopt);
  EXPECT_EQ(arguments[kHalf], 1);
  arguments.Set(kCount, "3");
  arguments.Set(kPart, "1e3");
  arguments.Set(kSize, "large");
  arguments.Set(kCores, "24");
  arguments.Set(kHalf, "text");
  EXPECT_EQ(arguments[kCount], 3);
  EXPECT_EQ(arguments[kPart], 1000);
  EXPECT_EQ(arguments[kSize], Size::kLarge);
  EXPECT_EQ(arguments[kCores], 24);
  EXPECT_EQ(arguments[kHalf], 0.5);
}

// Such texts were accepted, and then counted as not given.
TEST(RecipeArguments, TakeNumbersAsTheyAreAccepted) {
  RecipeArguments arguments;
  for (const char* text : {"+3", " 3", "3.0"}) {
    arguments.Set(kCount, text);
    EXPECT_EQ(arguments[kCount], 3) << text;
  }
}

TEST(RecipeArguments, RefuseWhatAnOptionDoesNotTake) {
  const auto problem = [](const RecipeOption& option, const std::string& text) {
    RecipeArguments arguments;
    return std::string(test::ErrorOf([&] { arguments.Set(option, text); }).what());
  };
  EXPECT_EQ(problem(kCount, "0"), "--count 0: give a whole number above 0");
  EXPECT_EQ(problem(kPart, "inf"), "--part inf: give a number above 0");
  EXPECT_EQ(problem(kSize, "huge"), "--size huge: give one of small, large");
  EXPECT_EQ(problem(kHalf, "one"), "--half one: give four letters");
}

TEST(RecipeOptions, SayWhatHoldsWithoutThem) {
  EXPECT_EQ(RecipeOption(kCount).help, "How many [default: 10]");
  EXPECT_EQ(RecipeOption(kPart).help, "How much [default: 0.25]");
  EXPECT_EQ(RecipeOption(kSize).help, "How large [default: small]");
  EXPECT_EQ(RecipeOption(kCores).help, "Cores [default: as captured]");
  EXPECT_EQ(RecipeOption(Switch("loud", "With a mark")).help, "With a mark");
}

}  // namespace
}  // namespace mpa

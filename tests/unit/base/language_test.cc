// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/language.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "mpa/base/error.h"

namespace mpa {
namespace {

// Sets what the environment says of languages, and puts everything back.
class LanguageTest : public testing::Test {
 protected:
  LanguageTest() { Clear(); }
  ~LanguageTest() override {
    Clear();
    SetLanguage(Language::kEnglish);
  }
  static void Clear() {
    for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) unsetenv(name);
  }
  static Language Of(const char* name, const char* value) {
    Clear();
    setenv(name, value, 1);
    return LanguageOfEnvironment().language;
  }
};

TEST_F(LanguageTest, FollowsTheEnvironment) {
  EXPECT_EQ(LanguageOfEnvironment().language, Language::kEnglish);
  EXPECT_EQ(Of("LANG", "zh_CN.UTF-8"), Language::kChinese);
  EXPECT_EQ(Of("LANG", "zh_CN.utf8"), Language::kChinese);
  EXPECT_EQ(Of("LANG", "zh_CN"), Language::kChinese);
  EXPECT_EQ(Of("LC_MESSAGES", "zh_TW.UTF-8@x"), Language::kChinese);
  EXPECT_EQ(Of("LANG", "de_DE.UTF-8"), Language::kEnglish);
  setenv("LANG", "zh_CN.UTF-8", 1);
  setenv("LC_ALL", "C.UTF-8", 1);  // comes first, as for every program
  EXPECT_EQ(LanguageOfEnvironment().language, Language::kEnglish);
}

TEST_F(LanguageTest, NamesAnEncodingItDoesNotWrite) {
  EXPECT_EQ(Of("LANG", "zh_CN.GBK"), Language::kEnglish);
  EXPECT_EQ(LanguageOfEnvironment().unwritable, "LANG=zh_CN.GBK");
  EXPECT_EQ(Of("LANG", "en_US.ISO-8859-1"), Language::kEnglish);
  EXPECT_EQ(LanguageOfEnvironment().unwritable, "");
}

TEST_F(LanguageTest, SaysTextsOfTheTable) {
  ASSERT_FALSE(TextTable().empty());
  for (const auto& [english, chinese] : TextTable()) {
    SetLanguage(Language::kEnglish);
    EXPECT_EQ(Translated(english), english);
    SetLanguage(Language::kChinese);
    EXPECT_EQ(Translated(english), chinese);
  }
  EXPECT_EQ(Translated("a text that nobody says"), "a text that nobody says");
}

TEST_F(LanguageTest, FillsFormsInTheOrderOfTheLanguage) {
  EXPECT_EQ(
      mpa::Say("{} is not UTF-8; texts are in English (set LANG=zh_CN.UTF-8, or give --language cn)",
          "LANG=zh_CN.GBK")
          .substr(0, 14),
      "LANG=zh_CN.GBK");
  SetLanguage(Language::kChinese);
  EXPECT_EQ(mpa::Say("step {} not found; available steps: {}", 7, "1, 2"),
            "未找到 step 7；可用的 step：1, 2");
  try {
    Fail(ErrorKind::kInput, "step {} not found; available steps: {}", 7, "1, 2");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "未找到 step 7；可用的 step：1, 2");
  }
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/error.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/failures.h"

namespace mpa {
namespace {

TEST(Error, NamesThePlacesFromTheOutsideIn) {
  const Error error = test::ErrorOf([] {
    InContext("rank 3", [] {
      InContext("kernel_details.csv:812",
                [] { Fail(ErrorKind::kCorrupt, "bad duration '{}'", "x"); });
    });
  });
  EXPECT_STREQ(error.what(), "rank 3: kernel_details.csv:812: bad duration 'x'");
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
}

TEST(InContext, HandsBackTheResultOfTheBody) {
  EXPECT_EQ(InContext("anywhere", [] { return 42; }), 42);
}

TEST(InContext, LetsOtherExceptionsThroughUnchanged) {
  try {
    InContext("rank 3", [] { throw std::runtime_error("foreign"); });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "foreign");
  }
}

TEST(ExitCode, TellsScriptsWhoIsToBlame) {
  EXPECT_EQ(ExitCode(ErrorKind::kUsage), 2);
  EXPECT_EQ(ExitCode(ErrorKind::kInput), 3);
  EXPECT_EQ(ExitCode(ErrorKind::kCorrupt), 3);
  EXPECT_EQ(ExitCode(ErrorKind::kOutput), 6);
  EXPECT_EQ(ExitCode(ErrorKind::kResource), 7);
  EXPECT_EQ(ExitCode(ErrorKind::kInternal), 70);
  EXPECT_EQ(kExitPartial, 5);
}

}  // namespace
}  // namespace mpa

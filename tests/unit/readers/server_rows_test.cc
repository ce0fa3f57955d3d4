// SPDX-License-Identifier: Apache-2.0
#include "readers/server_rows.h"

#include <gtest/gtest.h>

#include "readers/res_list.h"
#include "support/files.h"

namespace mpa::readers {
namespace {

TEST(ServerTimes, TheMagnitudeOfANumberSaysItsUnit) {
  constexpr TimeNs kTime = 1'755'158'760'123'456'000;
  EXPECT_EQ(TimeOfNumber("1755158760123456000"), kTime);
  EXPECT_EQ(TimeOfNumber("1755158760123456.0"), kTime);
  EXPECT_EQ(TimeOfNumber("1755158760123.456"), kTime);
  EXPECT_EQ(TimeOfNumber("1755158760.123456"), kTime);
  EXPECT_EQ(TimeOfNumber("12.5"), std::nullopt);
  EXPECT_EQ(TimeOfNumber(""), std::nullopt);
  EXPECT_EQ(TimeOfNumber("1e300"), std::nullopt);
}

TEST(ServerTimes, DatesHaveAnyDigitsOfASecond) {
  constexpr TimeNs kSecond = 1'755'187'560'000'000'000;  // 2025-08-14 16:06:00 UTC
  EXPECT_EQ(TimeOfDate("2025-08-14 16:06:00"), kSecond);
  EXPECT_EQ(TimeOfDate("2025-08-14 16:06:00:123456"), kSecond + 123'456'000);
  EXPECT_EQ(TimeOfDate("2025-08-14 16:06:00.123"), kSecond + 123'000'000);
  EXPECT_EQ(TimeOfDate("2025-02-30 16:06:00"), std::nullopt);
  EXPECT_EQ(TimeOfDate("2025-08-14 16:06"), std::nullopt);
  EXPECT_EQ(TimeOfDate("2025-08-14 16:06:00:"), std::nullopt);
  EXPECT_EQ(TimeOfDate("soon"), std::nullopt);
}

TEST(ServerRows, HeadersSayTheUnitOfDurations) {
  const test::TempDir dir;
  const auto read = [&](const char* text) {
    dir.Write("request.csv", text);
    const auto rows = RowsOfFile(dir.path() / "request.csv");
    const DurationColumn dur(*rows, {"execution_time"});
    Issues issues;
    EXPECT_TRUE(rows->Next(issues));
    return dur.Read(*rows);
  };
  EXPECT_EQ(read("a,execution_time(ms)\n1,2.5\n"), 2'500'000);
  EXPECT_EQ(read("a,execution_time(microsecond)\n1,2.5\n"), 2'500);
  EXPECT_EQ(read("start_time(microsecond),execution_time\n1,2.5\n"), 2'500);
  EXPECT_EQ(read("a,execution_time\n1,2.5\n"), 2'500'000);
  EXPECT_EQ(read("a,execution_time(ms)\n1,N/A\n"), -1);
  EXPECT_EQ(read("a,execution_time(ms)\n1,-2\n"), -1);
}

TEST(ResList, TypesOrElseIterationsTellPrefill) {
  const auto found = RequestsIn(
      "[{'rid': 'a', 'iter': 0, 'num_scheduled_tokens': 12}, {'rid': \"b\", 'iter': 4},"
      " {'rid': 7, 'iter': 3, 'type': 0, 'num_scheduled_tokens=': 5}]");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].id, "a");
  EXPECT_TRUE(found[0].is_prefill);
  EXPECT_EQ(found[0].tokens, 12);
  EXPECT_EQ(found[1].id, "b");
  EXPECT_FALSE(found[1].is_prefill);
  EXPECT_EQ(found[1].tokens, -1);
  EXPECT_EQ(found[2].id, "7");
  EXPECT_TRUE(found[2].is_prefill);
  EXPECT_EQ(found[2].tokens, 5);
}

TEST(ResList, BrokenListsEnd) {
  EXPECT_TRUE(RequestsIn("").empty());
  EXPECT_TRUE(RequestsIn("[{'rid': 'a").empty());
  EXPECT_EQ(RequestsIn("}}}[{}]").size(), 1u);
  EXPECT_TRUE(RequestsIn("{{{{'rid': 'a'}").empty());
  EXPECT_EQ(RequestsIn("[{'rid': {'rid': 'inner'}, 'iter': 1}]").size(), 1u);
}

}  // namespace
}  // namespace mpa::readers

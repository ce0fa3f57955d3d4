// SPDX-License-Identifier: Apache-2.0
// The first screen of compare: both captures and where their time went, in 80 columns.
#include <gtest/gtest.h>

#include <algorithm>

#include "mpa/base/utf8.h"
#include "mpa/writers/writers.h"
#include "support/comparing.h"
#include "support/failures.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;
constexpr TimeNs kScreenMs = 1'000'000;

// 4 ms of a cube and 2 ms of a vector kernel, 3 ms of communication, 1 ms of nothing, 10 ms copies.
RankBuilder ScreenRank(TimeNs cube, TimeNs communication) {
  RankBuilder rank;
  rank.trace.kernels.Append({.start = 0,
                             .dur = cube,
                             .name = rank.Text("mm"),
                             .op_type = rank.Text("MatMulV2"),
                             .core = rank.Text("AI_CORE")});
  const TimeNs then = cube + 10 * kScreenMs;
  rank.trace.kernels.Append({.start = then,
                             .dur = 2 * kScreenMs,
                             .name = rank.Text("add"),
                             .op_type = rank.Text("Add"),
                             .core = rank.Text("AI_VECTOR_CORE")});
  const TimeNs last = then + 2 * kScreenMs;
  const std::int32_t group = rank.Group("g0", "dp");
  rank.trace.comm_groups.ranks[0] = 8;
  rank.Collective(group, last, last + communication);
  rank.CommTask(group, 0, "Notify_Wait", last, last + kScreenMs);
  return rank;
}

std::string ScreenText(const RankBuilder& base, const RankBuilder& comparison,
                       std::size_t width = 80) {
  CompareOptions options;
  options.screen_width = width;
  const Report report = test::Compare("profiling", base.trace, comparison.trace, options);
  return FormatTable(report.screens.at(0));
}

TEST(OverallScreen, ShowsTheCapturesAndThePartsOfTheTime) {
  EXPECT_EQ(ScreenText(ScreenRank(4 * kScreenMs, 3 * kScreenMs),
                       ScreenRank(5 * kScreenMs, 6 * kScreenMs)),
            "Base:       old (NPU)\n"
            "Comparison: new (NPU)\n"
            "\n"
            "Time (ms)                            Base  Comparison        Diff    Diff %\n"
            "Computing                           6.000       7.000      +1.000     +16.7\n"
            "  Matmul                            4.000       5.000      +1.000     +25.0\n"
            "  Vector                            2.000       2.000       0.000       0.0\n"
            "Exposed communication               3.000       6.000      +3.000    +100.0\n"
            "  dp (data parallel, 8 ranks)       3.000       6.000      +3.000    +100.0\n"
            "    wait                            1.000       1.000       0.000       0.0\n"
            "    transmit                        2.000       5.000      +3.000    +150.0\n"
            "Free between tasks                 10.000      10.000       0.000       0.0\n"
            "  idle                             10.000      10.000       0.000       0.0\n"
            "End to end                         19.000      23.000      +4.000     +21.1\n"
            "\n");
}

TEST(OverallScreen, SaysWhatOneSideDoesNotTell) {
  RankBuilder level0 = ScreenRank(4 * kScreenMs, 3 * kScreenMs);
  for (StringId& core : level0.trace.kernels.core) core = StringId::kEmpty;
  level0.trace.comm_tasks = {};
  RankBuilder level1 = ScreenRank(4 * kScreenMs, 3 * kScreenMs);
  level1.trace.memory_samples.Append({.reserved_bytes = 3'000'000'000});
  const std::string text = ScreenText(level0, level1);
  for (const char* row :
       {"  Matmul                              N/A       4.000         N/A       N/A",
        "    wait                              N/A       1.000         N/A       N/A",
        "Peak memory reserved (GB)             N/A       3.000         N/A       N/A"}) {
    EXPECT_NE(text.find(row), std::string::npos) << row << "\n" << text;
  }
}

// Groups of all names, each with an exposed collective of 1 ms behind the other.
RankBuilder ManyGroups(int count) {
  RankBuilder rank;
  rank.KernelAt(0, kScreenMs);
  for (int i = 0; i < count; ++i) {
    const std::int32_t group = rank.Group("g" + std::to_string(i));
    const TimeNs start = (i + 1) * kScreenMs;
    rank.Collective(group, start, start + kScreenMs + i);
    rank.CommTask(group, 0, "Notify_Wait", start, start + kScreenMs / 2);
  }
  return rank;
}

TEST(OverallScreen, LeavesOutTheSmallestRowsWhereThereAreTooMany) {
  const RankBuilder rank = ManyGroups(40);  // 40 x 3 rows, one for their time at once, and 4 others
  const std::string text = ScreenText(rank, rank);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3 + 1 + 24 + 1 + 1) << text;
  EXPECT_EQ(text.find("group g0 "), std::string::npos) << text;
  EXPECT_NE(text.find("  group g39 "), std::string::npos) << text;
  EXPECT_NE(text.find("End to end "), std::string::npos) << text;
  EXPECT_NE(text.find(" more in OverallMetrics)\n"), std::string::npos) << text;
}

TEST(OverallScreen, FitsItsWidthWhateverTheNames) {
  RankBuilder rank = ScreenRank(kScreenMs, kScreenMs);
  rank.trace.comm_groups.process_group[0] = rank.Text(std::string(300, 'x'));
  for (const std::size_t width : {80u, 120u}) {
    const std::string text = ScreenText(rank, rank, width);
    std::size_t longest = 0;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      longest = std::max(longest, CountCharacters(text.substr(at, end - at)));
    }
    EXPECT_EQ(longest, width) << text;
  }
}

// The base's step goes on for 1 ms behind its last task, the other for 2 ms.
TEST(OverallScreen, PartsAddUpToTheStep) {
  RankBuilder base = ScreenRank(4 * kScreenMs, 3 * kScreenMs);
  RankBuilder comparison = ScreenRank(5 * kScreenMs, 6 * kScreenMs);
  base.Step(3, 0, 20 * kScreenMs);
  comparison.Step(3, 0, 25 * kScreenMs);
  EXPECT_HAS_TEXT(
      ScreenText(base, comparison),
      "Free between tasks                    10.000      10.000       0.000       0.0\n"
      "  idle                                10.000      10.000       0.000       0.0\n"
      "End to end                            19.000      23.000      +4.000     +21.1\n"
      "Before first and after last task       1.000       2.000      +1.000    +100.0\n"
      "Step                                  20.000      25.000      +5.000     +25.0\n");
}

TEST(OverallScreen, JudgesNothingWithoutDeviceWork) {
  RankBuilder host;
  host.Step(1, 0, kScreenMs);
  EXPECT_EQ(ScreenText(host, ScreenRank(4 * kScreenMs, 3 * kScreenMs)),
            "Base:       old (NPU)\n"
            "Comparison: new (NPU)\n"
            "Nothing is judged: no device work was recorded in the base.\n"
            "On the host: base 1 step, median 1.000 ms\n"
            "\n\n\n");
  RankBuilder slower;
  slower.Step(1, 0, kScreenMs);
  slower.Step(2, kScreenMs, 4 * kScreenMs);
  slower.Step(3, 4 * kScreenMs, 6 * kScreenMs);
  EXPECT_HAS_TEXT(ScreenText(host, slower),
                  "Nothing is judged: no device work was recorded in the captures.\n"
                  "On the host: base 1 step, median 1.000 ms\n"
                  "On the host: comparison 3 steps, median 2.000 ms (+100.0 %)\n");
}

}  // namespace
}  // namespace mpa

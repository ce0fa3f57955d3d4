// SPDX-License-Identifier: Apache-2.0
// The overall comparison as the Python tool lays it out (--compat).
#include <gtest/gtest.h>

#include "support/comparing.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;
using Texts = std::vector<std::string>;
constexpr TimeNs kCompatMs = 1'000'000;

// A kernel of 2 ms and an exposed collective of 3 ms, of which no tasks were recorded.
RankBuilder Level0() {
  RankBuilder rank;
  rank.KernelAt(0, 2 * kCompatMs);
  rank.Collective(rank.Group("g"), 2 * kCompatMs, 5 * kCompatMs);
  return rank;
}

RankBuilder Level1() {
  RankBuilder rank = Level0();
  rank.trace.kernels.core[0] = rank.Text("AI_CORE");
  rank.trace.kernels.op_type[0] = rank.Text("MatMul");
  rank.CommTask(0, 0, "Memcpy", 2 * kCompatMs, 5 * kCompatMs);
  return rank;
}

Report Overall(const RankBuilder& base, const RankBuilder& comparison, bool compat) {
  CompareOptions options;
  options.compat = compat;
  options.wide_screen = true;
  return test::Compare("profiling", base.trace, comparison.trace, options);
}

// Label and base cells of every row.
Texts CompatRows(const RankBuilder& base, const RankBuilder& comparison, bool compat) {
  const Report report = Overall(base, comparison, compat);
  return report.sheets.empty() ? Texts() : test::Lines(report.sheets[0], 0, 4);
}

TEST(OverallCompat, SaysZeroWhereACaptureDoesNotTell) {
  EXPECT_EQ(CompatRows(Level0(), Level0(), /*compat=*/true),
            (Texts{"Computing Time 2000000 0.4 0", "\tOther 2000000 0.4 /",
                   "Uncovered Communication Time 3000000 0.6 /", "\tg 3000000 0.6 /",
                   "\t\tTransmit 3000000 0.6 /", "E2E Time 5000000 1 /"}));
  EXPECT_EQ(CompatRows(Level0(), Level0(), /*compat=*/false),
            (Texts{"Computing Time 2000000 0.4 N/A", "Uncovered Communication Time 3000000 0.6 /",
                   "\tg 3000000 0.6 /", "E2E Time 5000000 1 /"}));
}

TEST(OverallCompat, HasNoRowOtherWhereItIsZero) {
  const auto has_other = [](bool compat) {
    const Texts rows = CompatRows(Level1(), Level1(), compat);
    return std::find(rows.begin(), rows.end(), "\tOther 0 0 /") != rows.end();
  };
  EXPECT_FALSE(has_other(true));
  EXPECT_TRUE(has_other(false));
}

TEST(OverallCompat, HasCategoriesOnTheScreenWhereBothSidesTellThem) {
  const auto first_headers = [](const RankBuilder& base, bool compat) {
    const Texts headers = Overall(base, Level1(), compat).screens.at(0).headers;
    return Texts(headers.begin(), headers.begin() + 3);
  };
  EXPECT_EQ(first_headers(Level0(), true), (Texts{"", "Other Time", "Computing Time"}));
  EXPECT_EQ(first_headers(Level0(), false), (Texts{"", "Cube Time(Num)", "Vector Time(Num)"}));
  EXPECT_EQ(first_headers(Level1(), true), (Texts{"", "Cube Time(Num)", "Vector Time(Num)"}));
}

TEST(OverallCompat, HasTheWordsOfThePythonToolForNoWaiting) {
  const auto waits = [](bool compat) {
    const ScreenTable screen = Overall(Level1(), Level0(), compat).screens.at(0);
    const auto column = std::find(screen.headers.begin(), screen.headers.end(),
                                  "Uncovered Communication Time(Wait Time)") -
                        screen.headers.begin();
    return Texts{screen.rows[0].at(static_cast<std::size_t>(column)),
                 screen.rows[1].at(static_cast<std::size_t>(column))};
  };
  EXPECT_EQ(waits(true), (Texts{" 0.003s( / )", " 0.003s(0.000s)"}));
  EXPECT_EQ(waits(false), (Texts{" 0.003s(0.000s)", " 0.003s( / )"}));
}

TEST(OverallCompat, CallsNoProfileMinimal) {
  RankBuilder rank = Level0();
  rank.trace.minimal_profiling = true;
  EXPECT_EQ(Overall(rank, rank, true).screens.at(0).headers.back(),
            "E2E Time(Not minimal profiling)");
  EXPECT_EQ(Overall(rank, rank, false).screens.at(0).headers.back(), "E2E Time");
}

}  // namespace
}  // namespace mpa

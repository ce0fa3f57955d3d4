// SPDX-License-Identifier: Apache-2.0
// The sheets KernelCompare and KernelTypeCompare.
#include <gtest/gtest.h>

#include "support/comparing.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::Lines;
using test::RankBuilder;
using Texts = std::vector<std::string>;

class KernelCompareTest : public ::testing::Test {
 protected:
  static void Kernel(RankBuilder& rank, std::string_view type, std::string_view shapes, TimeNs dur,
                     std::string_view core = "") {
    rank.trace.kernels.Append({.dur = dur,
                               .op_type = rank.Text(type),
                               .core = rank.Text(core),
                               .shapes = rank.Text(shapes)});
  }
  static void Statistic(RankBuilder& rank, std::string_view type, std::string_view core,
                        std::int64_t count, TimeNs total, TimeNs min, TimeNs max) {
    rank.trace.kernel_statistics.Append({.op_type = rank.Text(type),
                                         .core = rank.Text(core),
                                         .count = count,
                                         .total = total,
                                         .min = min,
                                         .max = max});
  }

  Report Compare(bool kernel_types) const {
    CompareOptions options;
    options.kernel_types = kernel_types;
    options.one_step = one_step_;
    return test::Compare("kernel", base_.trace, comparison_.trace, options);
  }
  // Cells [first, last) of every row.
  Texts Rows(std::size_t first, std::size_t last, bool kernel_types = false) {
    report_ = Compare(kernel_types);
    EXPECT_EQ(report_.sheets.size(), 1u);
    if (report_.sheets.empty()) return {};
    EXPECT_EQ(report_.sheets[0].name, kernel_types ? "KernelTypeCompare" : "KernelCompare");
    return Lines(report_.sheets[0], first, last);
  }
  Texts TypeRows(std::size_t first, std::size_t last) { return Rows(first, last, true); }

  // The notes that come with no sheet at all.
  Texts NotesWithoutSheet(bool kernel_types = false) {
    const Report report = Compare(kernel_types);
    EXPECT_TRUE(report.sheets.empty());
    return report.notes;
  }

  RankBuilder base_, comparison_;
  bool one_step_ = false;
  Report report_;
};

TEST_F(KernelCompareTest, TellsCallsAndDurationsOfBothSides) {
  Kernel(base_, "MatMul", "8,8", 1000);
  Kernel(base_, "MatMul", "8,8", 3000);
  Kernel(comparison_, "MatMul", "8,8", 5000);
  EXPECT_EQ(Rows(0, 15), Texts{"1 MatMul 8,8 4 2 3 1 2 5 5 5 5 1 1.25 2.5"});
  ASSERT_EQ(report_.sheets[0].columns.size(), 15u);
  ASSERT_EQ(report_.sheets[0].banners.size(), 2u);
  EXPECT_EQ(report_.sheets[0].banners[0].first_column, 3u);
  EXPECT_EQ(report_.sheets[0].banners[1].last_column, 12u);
  EXPECT_TRUE(report_.notes.empty());
}

TEST_F(KernelCompareTest, KeepsTypesTogetherInTheOrderOfTheirFirstKernels) {
  Kernel(base_, "MatMul", "8,8", 1000);
  Kernel(base_, "Add", "4", 1000);
  Kernel(base_, "MatMul", "4,4", 1000);
  Kernel(comparison_, "Cast", "4", 1000);
  Kernel(comparison_, "Add", "9", 1000);
  Kernel(comparison_, "Add", "4", 1000);
  EXPECT_EQ(Rows(0, 3), (Texts{"1 MatMul 8,8", "2 MatMul 4,4", "3 Add 4", "4 Cast 4", "5 Add 9"}));
}

TEST_F(KernelCompareTest, LeavesBlankWhatASideWithoutTheKernelDoesNotHave) {
  Kernel(base_, "Add", "4", 1000);
  Kernel(comparison_, "Mul", "4", 2000);
  EXPECT_EQ(Rows(1, 15),
            (Texts{"Add 4 1 1 1 1 1 0 0 - - - 0 0", "Mul 4 0 0 - - - 2 2 2 2 1 inf inf"}));
}

TEST_F(KernelCompareTest, RoundsTimesAndMakesAveragesAndRatiosOfRoundedOnes) {
  Kernel(base_, "Add", "4", 4);  // 0.004 us each: 0.008 is shown as 0.01, and halved from there
  Kernel(base_, "Add", "4", 4);
  Kernel(comparison_, "Add", "4", 1005);  // the double below 1.005
  Kernel(comparison_, "Add", "4", 2015);  // 3.02; the double above 2.015
  EXPECT_EQ(Rows(3, 15), Texts{"0.01 0.01 0 0 2 3.02 1.51 2.02 1 2 302 151"});
}

TEST_F(KernelCompareTest, TellsTypesAndShapesApartThatReadTheSameTogether) {
  Kernel(base_, "Add", "1,2", 1000);
  Kernel(comparison_, "Add1", ",2", 1000);
  EXPECT_EQ(Rows(1, 3), (Texts{"Add 1,2", "Add1 ,2"}));
}

TEST_F(KernelCompareTest, ListsKernelsWithoutTypeOrShapesAmongOthers) {
  Kernel(base_, "Add", "", 1000);
  Kernel(base_, "", "4", 1000);
  Kernel(comparison_, "Add", "", 1000);
  EXPECT_EQ(Rows(1, 3), (Texts{"Add N/A", "N/A 4"}));
}

TEST_F(KernelCompareTest, SaysThatKernelsWithoutTypesCannotBeCompared) {
  Kernel(base_, "Add", "4", 1000);
  Kernel(comparison_, "", "", 1000);
  EXPECT_EQ(NotesWithoutSheet(),
            Texts{"KernelCompare: left out, because the kernels of new have no type; collect with "
                  "profiler_level Level1 or higher"});
}

TEST_F(KernelCompareTest, SaysWhichSidesHaveNoNpuKernels) {
  base_.trace.device = DeviceKind::kGpu;
  Kernel(base_, "", "", 1000);
  EXPECT_EQ(NotesWithoutSheet(),
            (Texts{"KernelCompare: left out, because old is a GPU trace; kernels are compared "
                   "between NPU captures only",
                   "KernelCompare: left out, because new has no compute kernels; in a text capture "
                   "they are in kernel_details.csv, beside the trace"}));
}

TEST_F(KernelCompareTest, SumsKernelsByTypeAndCoreWithoutRounding) {
  Kernel(base_, "MatMul", "8,8", 1001, "AI_CORE");
  Kernel(base_, "MatMul", "4,4", 2004, "AI_CORE");
  Kernel(base_, "MatMul", "8,8", 1000, "MIX_AIC");
  Kernel(comparison_, "MatMul", "8,8", 6010, "AI_CORE");
  EXPECT_EQ(TypeRows(0, 15),
            (Texts{"1 MatMul AI_CORE 3.005 1.5025 2.004 1.001 2 6.01 6.01 6.01 6.01 1 2 4",
                   "2 MatMul MIX_AIC 1 1 1 1 1 0 0 0 0 0 0 0"}));
}

TEST_F(KernelCompareTest, ListsTypesThatGrewMostFirst) {
  for (const char* type : {"Same", "Slower", "AlsoSame", "Faster"}) {
    Kernel(base_, type, "", 1000, "AI_CORE");
  }
  Kernel(comparison_, "Added", "", 10, "");
  Kernel(comparison_, "Faster", "", 500, "AI_CORE");
  Kernel(comparison_, "AlsoSame", "", 1000, "AI_CORE");
  Kernel(comparison_, "Same", "", 1000, "AI_CORE");
  Kernel(comparison_, "Slower", "", 1500, "AI_CORE");
  EXPECT_EQ(TypeRows(0, 3), (Texts{"1 Added N/A", "2 Slower AI_CORE", "3 Same AI_CORE",
                                   "4 AlsoSame AI_CORE", "5 Faster AI_CORE"}));
  EXPECT_EQ(TypeRows(13, 14), (Texts{"inf", "1.5", "1", "1", "0.5"}));
}

TEST_F(KernelCompareTest, SumsTheKernelsEvenWhereTheProfilerSummedThemItself) {
  Kernel(base_, "Add", "4", 1000, "AI_VECTOR_CORE");
  Kernel(comparison_, "Add", "4", 1000, "AI_VECTOR_CORE");
  Statistic(comparison_, "Add", "AI_VECTOR_CORE", 7, 7000, 1000, 1000);
  EXPECT_EQ(TypeRows(8, 15), Texts{"1 1 1 1 1 1 1"});
  EXPECT_TRUE(report_.notes.empty());
}

TEST_F(KernelCompareTest, TakesTheProfilersSumsWhereThereAreNoKernels) {
  Kernel(base_, "Add", "4", 1000, "AI_VECTOR_CORE");
  Statistic(comparison_, "Add", "AI_VECTOR_CORE", 4, 6000, 1000, 3000);
  EXPECT_EQ(TypeRows(1, 15), Texts{"Add AI_VECTOR_CORE 1 1 1 1 1 6 1.5 3 1 4 6 1.5"});
  EXPECT_EQ(report_.notes,
            Texts{"KernelTypeCompare: new has no kernels with a type; op_statistic.csv stands in"});
}

TEST_F(KernelCompareTest, DoesNotTakeSumsOfTheWholeRunForAStep) {
  Statistic(base_, "Add", "AI_VECTOR_CORE", 4, 6000, 1000, 3000);
  Statistic(comparison_, "Add", "AI_VECTOR_CORE", 4, 6000, 1000, 3000);
  one_step_ = true;
  EXPECT_EQ(NotesWithoutSheet(/*kernel_types=*/true).size(), 2u);
}

TEST_F(KernelCompareTest, ShowsTheTypesOfOneSideBesideZeros) {
  base_.trace.device = DeviceKind::kGpu;
  Kernel(comparison_, "Add", "4", 1000, "AI_VECTOR_CORE");
  EXPECT_EQ(TypeRows(1, 15), Texts{"Add AI_VECTOR_CORE 0 0 0 0 0 1 1 1 1 1 inf inf"});
  EXPECT_EQ(report_.notes, Texts{"KernelTypeCompare: one side is empty, because old is a GPU "
                                 "trace; kernels are compared between NPU captures only"});
}

TEST_F(KernelCompareTest, SaysOfBothSidesThatTheirKernelsHaveNoType) {
  Kernel(base_, "", "", 1000, "KERNEL_AICORE");
  Kernel(comparison_, "", "", 1000, "KERNEL_AICORE");
  EXPECT_EQ(NotesWithoutSheet(/*kernel_types=*/true).size(), 2u);
}

}  // namespace
}  // namespace mpa

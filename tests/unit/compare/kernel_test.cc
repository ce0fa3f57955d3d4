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
    CompareOptions options = options_;
    options.kernel_types = kernel_types;
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
  CompareOptions options_;
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

TEST_F(KernelCompareTest, ListsWhatChangedMostFirst) {
  Kernel(base_, "MatMul", "8,8", 1000);
  Kernel(base_, "Add", "4", 1000);
  Kernel(base_, "MatMul", "4,4", 1000);
  Kernel(comparison_, "Cast", "4", 1000);
  Kernel(comparison_, "Add", "9", 1000);
  Kernel(comparison_, "Add", "4", 1000);
  EXPECT_EQ(Rows(0, 3), (Texts{"1 MatMul 8,8", "2 MatMul 4,4", "3 Cast 4", "4 Add 9", "5 Add 4"}));
  options_.compat = true;  // types together in the order of their first kernels
  EXPECT_EQ(Rows(0, 3), (Texts{"1 MatMul 8,8", "2 MatMul 4,4", "3 Add 4", "4 Cast 4", "5 Add 9"}));
}

TEST_F(KernelCompareTest, LeavesBlankWhatASideWithoutTheKernelDoesNotHave) {
  Kernel(base_, "Add", "4", 1000);
  Kernel(comparison_, "Mul", "4", 2000);
  EXPECT_EQ(Rows(1, 15),
            (Texts{"Mul 4 0 0 - - - 2 2 2 2 1 inf inf", "Add 4 1 1 1 1 1 0 0 - - - 0 0"}));
}

TEST_F(KernelCompareTest, MakesAveragesAndRatiosOfExactTimes) {
  Kernel(base_, "Add", "4", 4);
  Kernel(base_, "Add", "4", 4);
  Kernel(comparison_, "Add", "4", 1005);
  Kernel(comparison_, "Add", "4", 2015);
  EXPECT_EQ(Rows(3, 15), Texts{"0.008 0.004 0.004 0.004 2 3.02 1.51 2.015 1.005 2 377.5 377.5"});
}

TEST_F(KernelCompareTest, KeepsTwoDecimalsOfTimesAndFourOfRatiosForPeople) {
  Kernel(base_, "Add", "4", 1000);
  Kernel(comparison_, "Add", "4", 1000);
  Rows(0, 15);
  const std::vector<Column>& columns = report_.sheets[0].columns;
  for (const std::size_t time : {3, 4, 5, 6, 8, 9, 10, 11}) EXPECT_EQ(columns[time].decimals, 2);
  for (const std::size_t ratio : {13, 14}) EXPECT_EQ(columns[ratio].decimals, 4);
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
  EXPECT_EQ(Rows(1, 3), (Texts{"N/A 4", "Add N/A"}));
}

TEST_F(KernelCompareTest, JoinsWhatIsMissingWithWhatIsSaidToBeMissing) {
  Kernel(base_, "Add", "", 1000);
  Kernel(base_, "Mul", "4", 1000);
  Kernel(base_, "Add", "N/A", 2000);
  Kernel(comparison_, "Add", "N/A", 6000);
  EXPECT_EQ(Rows(1, 15),
            (Texts{"Add N/A 3 1.5 2 1 2 6 6 6 6 1 2 4", "Mul 4 1 1 1 1 1 0 0 - - - 0 0"}));
}

TEST_F(KernelCompareTest, KeepsTheSheetWhereKernelsHaveNoType) {
  Kernel(base_, "Add", "4", 1000);
  Kernel(comparison_, "", "", 1000);
  Kernel(comparison_, "N/A", "N/A", 1000);
  EXPECT_EQ(Rows(1, 8), (Texts{"N/A N/A 0 0 - - -", "Add 4 1 1 1 1 1"}));
  EXPECT_EQ(report_.notes,
            Texts{"KernelCompare: the kernels of new have no type, they are summed as N/A; collect"
                  " with profiler_level Level1 or higher"});
}

TEST_F(KernelCompareTest, ListsCollectivesOnlyForReadersOfThePythonTool) {
  Kernel(base_, "Add", "4", 1000);
  Kernel(comparison_, "Add", "4", 1000);
  RankTrace& trace = base_.trace;
  trace.listed_collectives.Append(
      {.start = -1, .dur = 5000, .op_type = trace.strings.Intern("hcom_allReduce_")});
  EXPECT_EQ(Rows(1, 4), Texts{"Add 4 1"});
  options_.compat = true;
  EXPECT_EQ(Rows(1, 4), (Texts{"hcom_allReduce_ N/A 5", "Add 4 1"}));
}

TEST_F(KernelCompareTest, SaysWhichSidesHaveNoNpuKernels) {
  base_.trace.device = DeviceKind::kGpu;
  Kernel(base_, "", "", 1000);
  EXPECT_EQ(NotesWithoutSheet(),
            (Texts{"KernelCompare: left out, because old is a GPU trace; kernels are compared"
                   " between NPU captures only",
                   "KernelCompare: left out, because new has no compute kernels; in a text capture"
                   " they are in kernel_details.csv, beside the trace"}));
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
  EXPECT_EQ(TypeRows(13, 14), (Texts{"1.5", "0.5", "inf", "1", "1"})) << "+0.5, -0.5, +0.01, 0, 0";
  options_.compat = true;  // by the ratio
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
            Texts{"KernelTypeCompare: new has no kernels with a type; op_statistic.csv is used"
                  " instead"});
}

TEST_F(KernelCompareTest, ShowsTheTypesOfOneSideBesideZeros) {
  base_.trace.device = DeviceKind::kGpu;
  Kernel(comparison_, "Add", "4", 1000, "AI_VECTOR_CORE");
  EXPECT_EQ(TypeRows(1, 15), Texts{"Add AI_VECTOR_CORE 0 0 0 0 0 1 1 1 1 1 inf inf"});
  EXPECT_EQ(report_.notes, Texts{"KernelTypeCompare: one side is empty, because old is a GPU"
                                 " trace; kernels are compared between NPU captures only"});
}

TEST_F(KernelCompareTest, SumsKernelsWithoutTypeByTheirCores) {
  Kernel(base_, "", "", 1000, "KERNEL_AICORE");
  Kernel(comparison_, "N/A", "", 3000, "KERNEL_AICORE");
  EXPECT_EQ(TypeRows(1, 15), Texts{"N/A KERNEL_AICORE 1 1 1 1 1 3 3 3 3 1 3 3"});
}

}  // namespace
}  // namespace mpa

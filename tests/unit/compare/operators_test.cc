// SPDX-License-Identifier: Apache-2.0
// The sheets of operators, modules, their memory and API times: what belongs to which operator.
#include <gtest/gtest.h>

#include "support/comparing.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using Texts = std::vector<std::string>;
constexpr TimeNs kOperatorMs = 1'000'000;

// Times are in ms.
class OperatorsTest : public ::testing::Test {
 protected:
  void Op(std::string_view name, TimeNs start, TimeNs end, std::int32_t thread) {
    rank_.Op(name, start * kOperatorMs, end * kOperatorMs, thread);
  }
  // A kernel that is launched at `launched`.
  void Kernel(TimeNs launched, std::int32_t thread, TimeNs start, TimeNs end) {
    rank_.Launch(++link_, launched * kOperatorMs, thread);
    rank_.trace.kernels.Append({.start = start * kOperatorMs,
                                .dur = (end - start) * kOperatorMs,
                                .name = rank_.Text("kernel"),
                                .link = link_});
  }
  void Allocation(std::string_view name, std::int64_t kilobytes, TimeNs allocated,
                  TimeNs released) {
    rank_.Allocation(name, kilobytes * 1024, allocated * kOperatorMs, released * kOperatorMs);
  }

  // Cells [first, last) of the rows of a sheet about the rank and the same rank.
  Texts Rows(std::string_view comparison, std::string_view sheet, std::size_t first,
             std::size_t last) {
    for (const Sheet& made : test::Compare(comparison, rank_.trace, rank_.trace, options_).sheets) {
      if (made.name == sheet) return test::Lines(made, first, last);
    }
    ADD_FAILURE() << "no sheet " << sheet;
    return {};
  }
  // Name, total, self and average time in ms, calls.
  Texts Api() { return Rows("api", "ApiCompare", 1, 6); }
  // Name, device time in ms, number.
  Texts Devices() { return Rows("operator", "OperatorCompareStatistic", 1, 4); }
  // Name, time in ms, size in MB, number.
  Texts Memory() { return Rows("memory", "MemoryCompareStatistic", 1, 5); }

  test::RankBuilder rank_;
  CompareOptions options_;
  std::int32_t main_ = rank_.Thread(1), backward_ = rank_.Thread(2), queue_ = rank_.Thread(3);

 private:
  std::int64_t link_ = 0;
};

TEST_F(OperatorsTest, OfTwoThreadsAtOnceDoNotNestIntoEachOther) {
  Op("aten::sum", 0, 100, main_);
  Op("MmBackward", 10, 90, backward_);
  Op("aten::copy_", 20, 50, main_);
  Op("aten::mm", 30, 40, backward_);
  EXPECT_EQ(Api(), (Texts{"aten::sum 100 70 100 1", "MmBackward 80 70 80 1",
                          "aten::copy_ 30 30 30 1", "aten::mm 10 10 10 1"}));
}

TEST_F(OperatorsTest, ThatStartTogetherNestByTheirLength) {
  Op("aten::true_divide", 10, 20, main_);  // the inner one first in the file
  Op("aten::div", 10, 25, main_);
  EXPECT_EQ(Api(), (Texts{"aten::div 15 5 15 1", "aten::true_divide 10 10 10 1"}));
}

// 100 us in all, of which 60 and 20 are of calls within.
TEST_F(OperatorsTest, WithinOthersOfTheirNameCountOnce) {
  Op("aten::to", 0, 100, main_);
  Op("aten::_to_copy", 10, 90, main_);
  Op("aten::to", 20, 80, main_);
  Op("aten::to", 30, 50, main_);
  EXPECT_EQ(Api(), (Texts{"aten::to 100 80 60 3", "aten::_to_copy 80 20 80 1"}));
}

TEST_F(OperatorsTest, ThatStandInOneRowCountOnceWithinEachOther) {
  Op("aten::conv2d", 0, 100, main_);
  Op("aten::_conv", 10, 90, main_);
  Op("aten::_conv", 200, 230, main_);
  options_.op_names = {{"aten::conv2d", "aten::_conv"}};
  EXPECT_EQ(Api(), (Texts{"aten::conv2d = aten::_conv 130 130 70 3"}));
}

TEST_F(OperatorsTest, CountAgainWithinOthersAsTheReferenceDoes) {
  Op("aten::to", 0, 100, main_);
  Op("aten::to", 20, 80, main_);
  Op("aten::to", 30, 50, main_);
  options_.compat = true;
  EXPECT_EQ(Api(), (Texts{"aten::to 180 100 60 3"}));
}

TEST_F(OperatorsTest, ThatTouchDoNotNest) {
  Op("aten::mm", 10, 20, main_);
  Op("aten::add", 20, 50, main_);  // longer than what it would be within
  Kernel(20, main_, 60, 63);
  EXPECT_EQ(Api(), (Texts{"aten::mm 10 10 10 1", "aten::add 30 30 30 1"}));
  EXPECT_EQ(Devices(), (Texts{"aten::mm 0 1", "aten::add 3 1"}));
}

TEST_F(OperatorsTest, OfAModuleThatTouchDoNotNest) {
  rank_.Call("nn.Module: A_0", 0, 30 * kOperatorMs, main_);
  rank_.Call("nn.Module: B_0", 30 * kOperatorMs, 90 * kOperatorMs, main_);
  Op("aten::mm", 10, 30, main_);
  Op("aten::add", 35, 40, main_);
  Op("aten::mul", 40, 50, main_);
  Kernel(40, main_, 60, 63);
  EXPECT_EQ(Rows("operator", "ModuleCompareStatistic", 3, 9),
            (Texts{"/ A_0 [ TOTAL ] - 0 1 0", "/ A_0 aten::mm  0 1 -", "/ B_0 [ TOTAL ] - 3 1 3",
                   "/ B_0 aten::add  0 1 -",
                   "/ B_0 aten::mul kernel, [number: 1], [duration_ms: 3.000]\n 3 1 -"}));
}

TEST_F(OperatorsTest, ThatStartTogetherOnTwoThreadsKeepTheirOwnKernels) {
  Op("aten::add", 10, 20, main_);
  Op("aten::mm", 10, 20, backward_);
  Kernel(10, backward_, 30, 37);
  Kernel(10, main_, 40, 42);
  EXPECT_EQ(Devices(), (Texts{"aten::add 2 1", "aten::mm 7 1"}));
}

TEST_F(OperatorsTest, HaveTheKernelsOfAllOperatorsWithin) {
  Op("ProfilerStep#1", 0, 100, main_);
  Op("aten::linear", 10, 40, main_);
  Op("aten::addmm", 15, 35, main_);
  for (const TimeNs start : {50, 60, 70}) Kernel(15, main_, start, start + 5);
  Kernel(10, main_, 80, 81);
  EXPECT_EQ(Devices(), Texts{"aten::linear 16 1"});
}

TEST_F(OperatorsTest, OfAModuleThatLaunchSeveralKernelsCountOnce) {
  rank_.Call("nn.Module: Net_0", 0, 100 * kOperatorMs, main_);
  Op("aten::addmm", 10, 40, main_);
  for (const TimeNs start : {50, 60, 70}) Kernel(10, main_, start, start + 5);
  // Name of the operator, kernels, own time in ms, number, time with modules within.
  EXPECT_EQ(Rows("operator", "ModuleCompareStatistic", 4, 9),
            (Texts{"[ TOTAL ] - 15 1 15",
                   "aten::addmm kernel, [number: 3], [duration_ms: 15.000]\n 15 1 -"}));
  EXPECT_EQ(Api(), Texts{"aten::addmm 30 30 30 1"});
}

TEST_F(OperatorsTest, HaveTheMemoryThatTheirQueuedWorkAllocates) {
  Op("aten::mm", 10, 20, main_);
  rank_.Queued(15 * kOperatorMs, main_, 30 * kOperatorMs, 40 * kOperatorMs, queue_);
  Op("aten::add", 30, 50, main_);  // runs while the work is done
  // In order of release, which is not the order of allocation.
  Allocation("cann::MatMul", 1024, 35, 45);
  Allocation("cann::workspace", 512, 33, 50);
  Allocation("aten::mm", 2048, 12, 60);
  EXPECT_EQ(Memory(), (Texts{"aten::mm 75 3.5 1", "aten::add 0 0 1"}));
  EXPECT_EQ(Rows("memory", "MemoryCompare", 4, 5).at(0),
            "aten::mm, (12000.000, 60000.000), [duration: 48000.0], [size: 2048.0]\n"
            "cann::MatMul, (35000.000, 45000.000), [duration: 10000.0], [size: 1024.0]\n"
            "cann::workspace, (33000.000, 50000.000), [duration: 17000.0], [size: 512.0]\n");
}

TEST_F(OperatorsTest, HaveTheMemoryOfKernelsWhosePrefixTheExporterDropped) {
  Op("aten::mm", 10, 20, main_);
  rank_.Queued(15 * kOperatorMs, main_, 30 * kOperatorMs, 40 * kOperatorMs, queue_);
  Op("aten::add", 30, 50, main_);
  Allocation("trans_TransData_0", 1024, 35, 45);
  EXPECT_EQ(Memory(), (Texts{"aten::mm 10 1 1", "aten::add 0 0 1"}));
}

TEST_F(OperatorsTest, HaveTheMemoryThatOperatorsOfAnotherNameAllocateInTheirTime) {
  Op("aten::mm", 10, 20, main_);
  rank_.Queued(15 * kOperatorMs, main_, 30 * kOperatorMs, 40 * kOperatorMs, queue_);
  Op("aten::add", 30, 50, main_);
  Allocation("aten::renamed", 1024, 35, 45);  // while queued work is done
  Allocation("workspace", 2048, 45, 55);      // while none is
  EXPECT_EQ(Memory(), (Texts{"aten::mm 0 0 1", "aten::add 20 3 1"}));
}

TEST_F(OperatorsTest, OfOneThreadDoNotHaveTheMemoryOfAnother) {
  Op("aten::sum", 10, 50, main_);
  Op("aten::mm", 15, 45, backward_);
  Op("aten::copy_", 20, 40, main_);
  Allocation("aten::mm", 2048, 30, 60);
  Allocation("aten::copy_", 1024, 31, 61);
  EXPECT_EQ(Memory(), (Texts{"aten::sum 30 1 1", "aten::mm 30 2 1"}));
}

TEST_F(OperatorsTest, HaveMemoryThatWasNeverReleasedWithoutATime) {
  Op("aten::mm", 10, 20, main_);
  rank_.Allocation("aten::mm", 1024 * 1024, 12 * kOperatorMs);
  EXPECT_EQ(Memory(), Texts{"aten::mm 0 1 1"});
  // Only the details.
  EXPECT_EQ(Rows("memory", "MemoryCompare", 4, 5),
            Texts{"aten::mm, (12000.000, 0), [duration: 0.0], [size: 1024.0]\n"});
}

TEST_F(OperatorsTest, DoNotHaveMemoryOfBeforeTheCollectionWhichHasNoTime) {
  Op("aten::mm", -10, 20, main_);
  rank_.Allocation("aten::mm", 1024 * 1024, 0);
  rank_.Allocation("aten::mm", 1024 * 1024, -1);
  EXPECT_EQ(Memory(), Texts{"aten::mm 0 0 1"});
  EXPECT_TRUE(test::Compare("memory", rank_.trace, rank_.trace).notes.empty());
}

TEST_F(OperatorsTest, DoNotHaveMemoryThatIsAllocatedBesideThemAndANoteCountsIt) {
  test::RankBuilder base;
  for (test::RankBuilder* rank : {&base, &rank_}) {
    rank->Op("aten::mm", 10 * kOperatorMs, 20 * kOperatorMs, rank->Thread(1));
    rank->Allocation("aten::mm", 1024 * 1024, 12 * kOperatorMs, 60 * kOperatorMs);
    rank->Allocation("aten::mm", 1024 * 1024, 30 * kOperatorMs, 60 * kOperatorMs);
  }
  Allocation("aten::mm", 1024, 40, 60);
  const Report report = test::Compare("memory", base.trace, rank_.trace);
  EXPECT_EQ(report.notes,
            (Texts{"MemoryCompare, MemoryCompareStatistic: 1 allocations of old were made while no"
                   " recorded operator ran; they are left out",
                   "MemoryCompare, MemoryCompareStatistic: 2 allocations of new were made while no"
                   " recorded operator ran; they are left out"}));
  EXPECT_EQ(Memory(), Texts{"aten::mm 48 1 1"});
}

// Two captures whose groups come in another order.
TEST(GroupOverlapRows, AreTheSameWhicheverGroupIsNamedFirst) {
  const auto rank_with = [](std::string_view first, std::string_view second) {
    test::RankBuilder rank;
    rank.Collective(rank.Group(first), 0, 100);
    rank.Collective(rank.Group(second), 60, 160);
    return rank;
  };
  const test::RankBuilder base = rank_with("dp", "tp");
  const test::RankBuilder comparison = rank_with("tp", "dp");
  const Report report = test::Compare("profiling", base.trace, comparison.trace);
  ASSERT_EQ(report.sheets.size(), 1u);
  Texts found;
  for (const std::string& line : test::Lines(report.sheets[0], 0, 1)) {
    if (line.find(" & ") != std::string::npos) found.push_back(line);
  }
  EXPECT_EQ(found, Texts{"\t\tdp & tp"});
}

}  // namespace
}  // namespace mpa

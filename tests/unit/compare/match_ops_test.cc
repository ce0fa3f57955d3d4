// SPDX-License-Identifier: Apache-2.0
// Which operators of two captures stand in one row.
#include <gtest/gtest.h>

#include "support/comparing.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::Lines;
using test::RankBuilder;
using Texts = std::vector<std::string>;

// A rank whose operators run one after the other on one thread, each 10 ns long.
class OpRow {
 public:
  explicit OpRow(const Texts& names) {
    for (const std::string& name : names) Add(name);
  }
  // An operator with a kernel of `dur` ns.
  void Add(const std::string& name, TimeNs dur = 1, std::string_view shapes = "") {
    rank.trace.host_ops.Append({.start = next_,
                                .dur = 10,
                                .name = rank.Text(name),
                                .track = thread_,
                                .shapes = rank.Text(shapes)});
    rank.LaunchedKernel(next_, thread_, dur);
    next_ += 20;
  }
  // The same on a thread of its own, which is that of the backward pass.
  void AddBackward(const std::string& name) {
    if (rank.trace.backward_tid == -1) {
      rank.trace.backward_tid = 2;
      backward_ = rank.Thread(2);
    }
    rank.Op(name, next_, next_ + 10, backward_);
    next_ += 20;
  }

  RankBuilder rank;

 private:
  std::int32_t thread_ = rank.Thread(1), backward_ = -1;
  TimeNs next_ = 100;
};

// "base comparison" names of the rows of OperatorCompare.
Texts Pairs(const OpRow& base, const OpRow& comparison, const CompareOptions& options = {}) {
  const Report report = test::Compare("operator", base.rank.trace, comparison.rank.trace, options);
  for (const Sheet& sheet : report.sheets) {
    if (sheet.name != "OperatorCompare") continue;
    const Texts left = Lines(sheet, 1, 2);
    const Texts right = Lines(sheet, 6, 7);
    Texts pairs;
    for (std::size_t i = 0; i < left.size(); ++i) pairs.push_back(left[i] + " " + right[i]);
    return pairs;
  }
  return {};
}

TEST(MatchedOperators, StandInOneRowAndTheOthersAloneBeforeThem) {
  EXPECT_EQ(Pairs(OpRow({"a", "x", "b", "c"}), OpRow({"a", "y", "z", "b", "c"})),
            (Texts{"a a", "x -", "- y", "- z", "b b", "c c"}));
}

TEST(MatchedOperators, MatchByTheNamesOfTheMapOnBothSides) {
  CompareOptions options;
  options.op_names = {{"aten::conv2d", "conv"}, {"cudnn_conv", "conv"}};
  EXPECT_EQ(Pairs(OpRow({"aten::conv2d", "b"}), OpRow({"cudnn_conv", "b"}), options),
            (Texts{"aten::conv2d cudnn_conv", "b b"}));
}

TEST(MatchedOperators, MatchByTheirShapesIfAsked) {
  OpRow base({});
  base.Add("mm", 1, "2,3;\r\n3,4");
  OpRow comparison({});
  comparison.Add("mm", 1, "2,3;\r\n3,5");
  comparison.Add("mm", 1, "2,3;\r\n3,4");
  EXPECT_EQ(Pairs(base, comparison), (Texts{"mm mm", "- mm"}));
  CompareOptions options;
  options.match_shapes = true;
  EXPECT_EQ(Pairs(base, comparison, options), (Texts{"- mm", "mm mm"}));
}

TEST(MatchedOperators, FindTheShapesOfAGpuEqualToThoseOfAnNpu) {
  OpRow npu({});
  npu.Add("mm", 1, "2,3;\r\n;\r\n3,4");
  OpRow gpu({});
  gpu.rank.trace.device = DeviceKind::kGpu;
  gpu.Add("mm", 1, "[[2, 3], [], [3, 4]]");
  CompareOptions options;
  options.match_shapes = true;
  EXPECT_EQ(Pairs(npu, gpu, options), Texts{"mm mm"});
}

TEST(MatchedOperators, MatchForwardWithForwardAndBackwardWithBackward) {
  OpRow base({"a", "b"});
  base.AddBackward("b");
  OpRow comparison({"a"});
  comparison.AddBackward("b");
  // By names alone the block "a b" would tie the backward "b" to a forward one.
  EXPECT_EQ(Pairs(base, comparison), (Texts{"a a", "b -", "b b"}));
}

TEST(MatchedOperators, LeaveTheFirstPassAloneWhereTheSidesBeginDifferently) {
  OpRow base({"b"});
  base.AddBackward("c");
  base.Add("d");
  OpRow comparison({});
  comparison.AddBackward("a");
  comparison.Add("b");
  // The base has more passes: its first is alone, the others go by their position.
  EXPECT_EQ(Pairs(base, comparison), (Texts{"b -", "c -", "- a", "d -", "- b"}));
}

TEST(MatchedOperators, AreNotMatchedWithoutDetails) {
  CompareOptions options;
  options.details = false;
  const OpRow ops({"a", "b", "a"});
  const Report report = test::Compare("operator", ops.rank.trace, ops.rank.trace, options);
  ASSERT_EQ(report.sheets.size(), 1u);
  EXPECT_EQ(Lines(report.sheets[0], 0, 8),
            (Texts{"1 a 2e-06 2 2e-06 2 0 1", "2 b 1e-06 1 1e-06 1 0 1"}));
}

// outer(inner1, inner2) with kernels launched by the inner operators.
RankBuilder Nested(const Texts& inner, int kernels_of_each) {
  RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  const auto count = static_cast<TimeNs>(inner.size());
  rank.Op("outer", 0, 100 * count, thread);
  for (TimeNs i = 0; i < count; ++i) {
    rank.Op(inner[static_cast<std::size_t>(i)], 100 * i, 100 * i + 90, thread);
    for (int k = 0; k < kernels_of_each; ++k) rank.LaunchedKernel(100 * i + k, thread, 1);
  }
  return rank;
}

TEST(OpenedOperators, AreReplacedByThePairsOfTheirChildren) {
  CompareOptions options;
  options.max_kernels = 4;
  const RankBuilder few = Nested({"a", "b"}, 2);   // 4 kernels: stays closed
  const RankBuilder many = Nested({"a", "c"}, 3);  // 6 kernels
  const auto names = [&](const RankTrace& base, const RankTrace& comparison) {
    const Report report = test::Compare("operator", base, comparison, options);
    Texts pairs = Lines(report.sheets.at(1), 1, 2);
    const Texts right = Lines(report.sheets.at(1), 6, 7);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] += " " + right[i];
    return pairs;
  };
  EXPECT_EQ(names(few.trace, few.trace), Texts{"outer outer"});
  EXPECT_EQ(names(few.trace, many.trace), (Texts{"a a", "b -", "- c"}));
}

}  // namespace
}  // namespace mpa

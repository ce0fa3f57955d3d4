// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/diagnose.h"

#include <gtest/gtest.h>

#include <string_view>

#include "support/rank_builder.h"

namespace mpa {
namespace {

TEST(Diagnose, TakesACaptureWithoutStepsAsOne) {
  RankTrace trace;
  trace.kernels.Append({.start = 1'000'000, .dur = 300'000, .stream = 2});
  trace.kernels.Append({.start = 1'500'000, .dur = 200'000, .stream = 2});
  const RankDiagnosis part = MakeRankDiagnosis(trace);
  const Diagnosis diagnosis = Diagnose({{0, &part}});
  EXPECT_EQ(diagnosis.step, 700'000);  // from the first kernel to the end of the last
  EXPECT_TRUE(diagnosis.steps.empty());
  ASSERT_EQ(diagnosis.accounting.size(), 1U);
  EXPECT_EQ(diagnosis.accounting[0].window, 700'000);
}

TEST(Diagnose, RanksThatNeverMetMayBeHoursApart) {
  const auto rank_at = [](TimeNs begin) {
    RankTrace trace;
    trace.kernels.Append({.start = begin, .dur = 300'000, .stream = 2});
    trace.kernels.Append({.start = begin + 500'000, .dur = 200'000, .stream = 2});
    return MakeRankDiagnosis(trace);
  };
  const RankDiagnosis first = rank_at(7'200'000'000'000), second = rank_at(1'000'000);
  EXPECT_EQ(Diagnose({{0, &first}, {1, &second}}).step, 700'000);
}

TEST(Diagnose, TakesACaptureOfNothing) {
  const RankTrace trace;
  const RankDiagnosis part = MakeRankDiagnosis(trace);
  const Diagnosis diagnosis = Diagnose({{0, &part}});
  EXPECT_EQ(diagnosis.step, 0);
  ASSERT_EQ(diagnosis.findings.size(), 1u);
  EXPECT_EQ(diagnosis.findings[0].id, "capture.missing") << "one rank has no peers";
}

TEST(Diagnose, KnowsCompiledFunctionsAndGraphs) {
  const auto runs_compiled = [](std::string_view op, std::string_view call,
                                std::string_view kernel) {
    test::RankBuilder rank;
    rank.KernelAt(0, 1'000);
    rank.trace.kernels.name.back() = rank.Text(kernel);
    rank.trace.host_ops.Append({.start = 0, .dur = 10, .name = rank.Text(op)});
    rank.trace.host_calls.Append({.start = 0, .dur = 10, .name = rank.Text(call)});
    return MakeRankDiagnosis(rank.trace).is_compiled;
  };
  EXPECT_FALSE(runs_compiled("aten::add", "Node@launch", "Add_1"));
  EXPECT_FALSE(runs_compiled("aten::triton", "Node@launch", "_matmul_ogs_triton_1"));
  EXPECT_TRUE(runs_compiled("Torch-Compiled Region: 0/0", "Node@launch", "Add_1"));
  EXPECT_TRUE(runs_compiled("CompiledFunctionBackward", "Node@launch", "Add_1"));
  EXPECT_TRUE(runs_compiled("aten::add", "Node@launch", "triton_poi_fused_add_0"));
  EXPECT_TRUE(runs_compiled("aten::add", "AscendCL@aclmdlRIExecuteAsync", "Add_1"));
  EXPECT_TRUE(runs_compiled("cudaGraphLaunch", "Node@launch", "Add_1"));
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/diagnose.h"

#include <gtest/gtest.h>

#include <string_view>

#include "mpa/diagnosis/report/outputs.h"
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

// The host waits for the device 0.3 ms before the first kernel: the window is the work.
TEST(Diagnose, WithoutStepsTheTimeBeforeTheFirstWorkIsNotOfTheStep) {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1);
  rank.trace.device = DeviceKind::kGpu;
  rank.Op("cudaDeviceSynchronize", 100'000, 200'000, main);
  rank.Launch(71, 450'000, main);
  rank.Launch(72, 460'000, main);
  rank.trace.kernels.Append({.start = 500'000, .dur = 300'000, .stream = 7, .link = 71});
  rank.trace.kernels.Append({.start = 1'000'000, .dur = 200'000, .stream = 7, .link = 72});
  rank.Op("cudaDeviceSynchronize", 1'100'000, 1'210'000, main);
  const RankDiagnosis part = MakeRankDiagnosis(rank.trace);
  const Diagnosis diagnosis = Diagnose({{0, &part}});
  EXPECT_EQ(diagnosis.step, 700'000);
  ASSERT_EQ(diagnosis.accounting.size(), 1U);
  EXPECT_EQ(diagnosis.accounting[0].window, 700'000);
}

// A step of the host alone says nothing of the device.
TEST(Diagnose, JudgesNothingWithoutDeviceWork) {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1);
  rank.Step(1, 0, 1'000'000);
  rank.Op("aten::mm", 100'000, 900'000, main);
  const RankDiagnosis part = MakeRankDiagnosis(rank.trace);
  const Diagnosis diagnosis = Diagnose({{0, &part}});
  EXPECT_EQ(diagnosis.step, 0);
  EXPECT_TRUE(diagnosis.findings.empty());
  EXPECT_TRUE(diagnosis.accounting.empty());
  EXPECT_TRUE(diagnosis.passed_checks.empty()) << "nothing was looked at";
  EXPECT_EQ(DiagnosisScreen(diagnosis, 5),
            (std::vector<std::string>{"1 rank: no device work was recorded, so nothing is judged",
                                      "  on the host of rank 0: 1 step, median 1.000 ms",
                                      "    operator calls 80 %",
                                      "    -> capture with activities=[CPU, NPU]"}));
}

TEST(Diagnose, LeavesOutRanksWithoutDeviceWork) {
  test::RankBuilder host, device;
  host.Step(1, 0, 1'000'000);
  device.Step(1, 0, 1'000'000);
  device.KernelAt(100'000, 900'000);
  const RankDiagnosis without = MakeRankDiagnosis(host.trace);
  const RankDiagnosis with = MakeRankDiagnosis(device.trace);
  const Diagnosis diagnosis = Diagnose({{0, &without}, {1, &with}});
  EXPECT_EQ(diagnosis.ranks_without_work, std::vector<RankId>{0});
  EXPECT_EQ(diagnosis.step, 1'000'000);
  ASSERT_EQ(diagnosis.accounting.size(), 1U);
  EXPECT_EQ(diagnosis.accounting[0].rank, 1);
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

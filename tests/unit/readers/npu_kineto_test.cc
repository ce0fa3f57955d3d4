// SPDX-License-Identifier: Apache-2.0
// What traces of torch_npu's plug-in do not say.
#include "readers/npu_kineto.h"

#include <gtest/gtest.h>

#include "support/failures.h"

namespace mpa::readers {
namespace {

// A trace whose host ran these operators and whose device holds no collective.
RankTrace WithOperators(const std::vector<std::string>& names) {
  RankTrace trace;
  for (const std::string& name : names) {
    trace.host_ops.Append({.start = 0, .dur = 10, .name = trace.strings.Intern(name)});
  }
  return trace;
}

TEST(NpuKineto, NamesOperatorsOfCollectivesThatTheDeviceLacks) {
  RankTrace trace = WithOperators({"aten::add", "c10d::allreduce_", "c10d::broadcast_"});
  FinishNpuTrace("trace.json", false, trace);
  const std::vector<std::string> lines = trace.issues.Lines();
  ASSERT_EQ(lines.size(), 1u) << "the first of them is enough";
  EXPECT_HAS_TEXT(lines[0], "the trace holds no collectives of the device");
  EXPECT_HAS_TEXT(lines[0], "trace.json: c10d::allreduce_");
}

TEST(NpuKineto, MissesNoCollectivesWhereNoOperatorCommunicates) {
  RankTrace trace = WithOperators({"aten::add", "aten::mul"});
  FinishNpuTrace("trace.json", false, trace);
  EXPECT_TRUE(trace.issues.Empty());
}

// A hash has 16 digits or more.
TEST(NpuKineto, TakesTheTypeOutOfTheNameOfAKernel) {
  EXPECT_EQ(OperatorTypeIn("aclnnMatmul_MatMulCommon_MatMulV2"), "MatMulV2");
  EXPECT_EQ(OperatorTypeIn("MatMulV2_0123456789abcdef_1"), "MatMulV2");
  EXPECT_EQ(OperatorTypeIn("MatMulV2_0123456789abcdef0123_1"), "MatMulV2");
  EXPECT_EQ(OperatorTypeIn("MatMulV2_0123456789abcde_1"), "MatMulV2_0123456789abcde_1");
  EXPECT_EQ(OperatorTypeIn("Cast_0123456789abcdeg"), "Cast_0123456789abcdeg");
}

}  // namespace
}  // namespace mpa::readers

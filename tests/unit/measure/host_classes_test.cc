// SPDX-License-Identifier: Apache-2.0
#include "measure/host_classes.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

TEST(HostClasses, CallsForCollectives) {
  for (const char* name : {"c10d::allreduce_", "HcclAllreduce", "nccl:all_reduce"}) EXPECT_EQ(ClassOfOp(name), Leaf::kDispatchComm) << name;
  EXPECT_EQ(ClassOfOp("aten::add"), Leaf::kDispatchOp);
  EXPECT_EQ(ClassOfCall("AscendCL@hcom_allReduce_"), Leaf::kDispatchComm);
  EXPECT_EQ(ClassOfCall("Node@launch"), Leaf::kDispatchCann);
}

}  // namespace
}  // namespace mpa

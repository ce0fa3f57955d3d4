// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/measure/leaf.h"

namespace mpa {
namespace {

TEST(HostClasses, CallsForCollectives) {
  for (const char* name : {"c10d::allreduce_", "HcclAllreduce", "nccl:all_reduce"})
    EXPECT_EQ(ClassOfOp(name), Leaf::kDispatchComm) << name;
  EXPECT_EQ(ClassOfOp("aten::add"), Leaf::kDispatchOp);
  EXPECT_EQ(ClassOfCall("AscendCL@hcom_allReduce_"), Leaf::kDispatchComm);
  EXPECT_EQ(ClassOfCall("Node@launch"), Leaf::kDispatchCann);
}

TEST(HostClasses, CallsOfCudaAmongOperators) {
  EXPECT_EQ(ClassOfOp("cudaMalloc"), Leaf::kMemory);
  EXPECT_EQ(ClassOfOp("cudaFree"), Leaf::kMemory);
  EXPECT_EQ(ClassOfOp("cuMemMap"), Leaf::kMemory);
  EXPECT_EQ(ClassOfOp("cudaStreamSynchronize"), Leaf::kExplicitSync);
  EXPECT_EQ(ClassOfOp("cudaMemcpy"), Leaf::kHostCopy);
  EXPECT_EQ(ClassOfOp("cuModuleLoadData"), Leaf::kCompile);
  for (const char* name : {"cudaLaunchKernel", "cudaMemcpyAsync", "cumsum", "cuda", "cu"})
    EXPECT_EQ(ClassOfOp(name), Leaf::kDispatchOp) << name;
}

}  // namespace
}  // namespace mpa

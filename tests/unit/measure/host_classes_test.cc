// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/measure/time_category.h"

namespace mpa {
namespace {

TEST(HostClasses, CallsForCollectives) {
  for (const char* name : {"c10d::allreduce_", "HcclAllreduce", "nccl:all_reduce"})
    EXPECT_EQ(ClassOfOp(name), TimeCategory::kDispatchComm) << name;
  EXPECT_EQ(ClassOfOp("aten::add"), TimeCategory::kDispatchOp);
  EXPECT_EQ(ClassOfCall("AscendCL@hcom_allReduce_"), TimeCategory::kDispatchComm);
  EXPECT_EQ(ClassOfCall("Node@launch"), TimeCategory::kDispatchCann);
}

TEST(HostClasses, CallsOfCudaAmongOperators) {
  EXPECT_EQ(ClassOfOp("cudaMalloc"), TimeCategory::kMemory);
  EXPECT_EQ(ClassOfOp("cudaFree"), TimeCategory::kMemory);
  EXPECT_EQ(ClassOfOp("cuMemMap"), TimeCategory::kMemory);
  EXPECT_EQ(ClassOfOp("cudaStreamSynchronize"), TimeCategory::kExplicitSync);
  EXPECT_EQ(ClassOfOp("cudaMemcpy"), TimeCategory::kHostCopy);
  EXPECT_EQ(ClassOfOp("cuModuleLoadData"), TimeCategory::kCompile);
  for (const char* name : {"cudaLaunchKernel", "cudaMemcpyAsync", "cumsum", "cuda", "cu"})
    EXPECT_EQ(ClassOfOp(name), TimeCategory::kDispatchOp) << name;
}

}  // namespace
}  // namespace mpa

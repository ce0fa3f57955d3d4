// SPDX-License-Identifier: Apache-2.0
#include "measure/compute_leaf.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

// As the least profiling records kernels: by name alone.
TEST(ComputeLeaf, NamesEndWithTheTypeAndACounter) {
  EXPECT_EQ(ComputeLeaves::OfName("aclnnMm_MatMulV3Common_MatMulV3"), Leaf::kMatmul);
  EXPECT_EQ(ComputeLeaves::OfName("aclnnInplaceCopy_TransposeAiCore_Transpose"), Leaf::kFormat);
  EXPECT_EQ(ComputeLeaves::OfName("trans_TransData_17"), Leaf::kFormat);
  EXPECT_EQ(ComputeLeaves::OfName("Conv2D1"), Leaf::kConvolution);
  EXPECT_EQ(ComputeLeaves::OfName("aclnnAdd_AddAiCore_Add"), Leaf::kVector);
  EXPECT_EQ(ComputeLeaves::OfName("17"), Leaf::kVector);
  EXPECT_EQ(ComputeLeaves::OfName("_"), Leaf::kVector);
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Which names are one kind of collective.
#include "mpa/measure/collectives.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

TEST(CollectiveKind, IsTheSecondWordOfHcclNames) {
  EXPECT_EQ(CollectiveKind("hcom_allReduce__271_0_1"), "allreduce");
  EXPECT_EQ(CollectiveKind("hcom_allReduce_"), "allreduce");
  EXPECT_EQ(CollectiveKind("hcom_batchSendRecv_"), "batchsendrecv");
  EXPECT_EQ(CollectiveKind("hcom_alltoallv_"), "alltoallv");
  EXPECT_EQ(CollectiveKind("hcom_receive_"), "receive");
}

TEST(CollectiveKind, IsTheWordBehindKernelInNcclNames) {
  EXPECT_EQ(CollectiveKind("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"), "allreduce");
  EXPECT_EQ(CollectiveKind("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"), "allreduce");
  EXPECT_EQ(CollectiveKind("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"), "sendrecv");
  EXPECT_EQ(CollectiveKind("nccldevkernel_reducescatter"), "reducescatter");
  EXPECT_EQ(CollectiveKind("ncclKernel_Broadcast_RING_LL_Sum_int8_t"), "broadcast");
}

TEST(CollectiveKind, IsFoundInTheNamesOfOldNccl) {
  EXPECT_EQ(CollectiveKind("ncclAllReduceRingLLKernel_sum_f32(ncclColl)"), "allreduce");
  EXPECT_EQ(CollectiveKind("ncclReduceScatterRingLLKernel_sum_f32(ncclColl)"), "reducescatter");
  EXPECT_EQ(CollectiveKind("ncclReduceRingLLKernel_sum_f32(ncclColl)"), "reduce");
}

TEST(CollectiveKind, IsTheFirstWordOfOtherNames) {
  EXPECT_EQ(CollectiveKind("kernel_aivec"), "kernel");
  EXPECT_EQ(CollectiveKind("void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>"), "allreduce");
  EXPECT_EQ(CollectiveKind("void c10d::multimem_all_reduce_kernel<float, 16>"), "allreduce");
  EXPECT_EQ(CollectiveKind("oneccl_reduce_scatter_pcie"), "reducescatter");
  EXPECT_EQ(CollectiveKind("void deep_ep::internode_ll::combine<true, 7168>"), "combine");
  EXPECT_EQ(CollectiveKind("mscclKernel_Sum_half_Simple_false"), "mscclkernel") << "runs any";
  EXPECT_EQ(CollectiveKind("Receive_x_1"), "receive");
  EXPECT_EQ(CollectiveKind("SoftmaxReduce_x_1"), "softmaxreduce") << "of no such library";
  EXPECT_EQ(CollectiveKind("ncclKernel"), "ncclkernel");
}

TEST(CollectiveKind, IsTheWholeNameWithoutUnderscore) {
  EXPECT_EQ(CollectiveKind("Barrier"), "barrier");
  EXPECT_EQ(CollectiveKind("hcom"), "hcom");
  EXPECT_EQ(CollectiveKind("hcom_"), "hcom_");
  EXPECT_EQ(CollectiveKind("_x"), "_x");
}

}  // namespace
}  // namespace mpa

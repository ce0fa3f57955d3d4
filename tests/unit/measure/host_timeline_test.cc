// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/host_timeline.h"

#include <gtest/gtest.h>

#include <map>

#include "support/rank_builder.h"

namespace mpa {
namespace {

// A scalar is read from 0 to 100; from 20 to 90 the operator makes a call. The time by class.
std::map<TimeCategory, TimeNs> ReadWith(std::string_view call,
                                        DeviceKind device = DeviceKind::kGpu) {
  test::RankBuilder rank(device);
  const std::int32_t main = rank.Thread(1);
  rank.Op("aten::_local_scalar_dense", 0, 100, main);
  rank.Op(call, 20, 90, main);
  std::map<TimeCategory, TimeNs> times;
  HostTimeline(rank.trace)
      .Walk(
          main, 0, 100,
          [&](const HostPiece& piece) { times[piece.category] += piece.end - piece.begin; },
          [](TimeNs, TimeNs) {});
  return times;
}

TEST(HostTimeline, OfAGpuTellsTheCallsOfTheRuntime) {
  using Times = std::map<TimeCategory, TimeNs>;
  EXPECT_EQ(ReadWith("cudaStreamSynchronize"), (Times{{TimeCategory::kScalarSync, 100}}))
      << "it waits within the read";
  EXPECT_EQ(ReadWith("cudaMemcpy"), (Times{{TimeCategory::kScalarSync, 100}}));
  EXPECT_EQ(ReadWith("cudaLaunchKernel"), (Times{{TimeCategory::kDispatchOp, 100}}));
  EXPECT_EQ(ReadWith("cudaMalloc"),
            (Times{{TimeCategory::kMemory, 70}, {TimeCategory::kDispatchOp, 30}}));
  EXPECT_EQ(ReadWith("cuModuleLoadData"),
            (Times{{TimeCategory::kCompile, 70}, {TimeCategory::kDispatchOp, 30}}));
}

TEST(HostTimeline, OperatorsOfOtherDevicesAreNoCalls) {
  using Times = std::map<TimeCategory, TimeNs>;
  EXPECT_EQ(ReadWith("aten::add", DeviceKind::kNpu), (Times{{TimeCategory::kDispatchOp, 100}}));
}

}  // namespace
}  // namespace mpa

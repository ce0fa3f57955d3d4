// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/host_timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <vector>

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

TEST(HostTimeline, TellsTheSameOfTheTimesThatAreAskedFor) {
  test::RankBuilder rank(DeviceKind::kNpu);
  const std::int32_t main = rank.Thread(1);
  rank.Op("aten::add", 0, 100, main);
  rank.Op("aten::empty", 20, 90, main);
  rank.Op("aten::mul", 200, 300, main);
  using Told = std::vector<std::tuple<TimeNs, TimeNs, std::int32_t>>;
  const auto told = [&](const HostTimeline& timeline, TimeNs begin, TimeNs end) {
    Told pieces;
    timeline.Walk(
        main, begin, end,
        [&](const HostPiece& piece) { pieces.emplace_back(piece.begin, piece.end, piece.row); },
        [&](TimeNs from, TimeNs to) { pieces.emplace_back(from, to, -1); });
    return pieces;
  };
  const HostTimeline all(rank.trace), some(rank.trace, Intervals{{10, 50}, {95, 120}});
  EXPECT_EQ(told(all, 0, 250),
            (Told{{0, 20, 0}, {20, 90, 1}, {90, 100, 0}, {100, 200, -1}, {200, 250, 2}}));
  EXPECT_EQ(told(some, 10, 50), (Told{{10, 20, 0}, {20, 50, 1}}));
  EXPECT_EQ(told(some, 95, 120), (Told{{95, 100, 0}, {100, 120, -1}}));
  EXPECT_EQ(some.Span(), all.Span());
  EXPECT_EQ(told(some, 200, 250), (Told{{200, 250, -1}})) << "nobody asks for it";
}

}  // namespace
}  // namespace mpa

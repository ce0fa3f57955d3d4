// SPDX-License-Identifier: Apache-2.0
#include "gate/requests.h"

#include <gtest/gtest.h>

#include "mpa/base/error.h"

namespace mpa::gate {
namespace {

// Requests of 1, 2, ... ms.
RunSummary RunOf(std::int64_t requests, std::int64_t factor = 1) {
  constexpr std::int64_t kMs = 1'000'000;
  RunSummary run;
  std::vector<std::int64_t>& times = run.samples[RequestMetric(RequestTime::kFirstToken, 50)];
  for (std::int64_t i = 1; i <= requests; ++i) times.push_back(i * factor * kMs);
  return run;
}

TEST(GateRequests, NamesHaveTheTimeAndThePercentile) {
  const Metric metric = ParseMetric("ttft_p99");
  EXPECT_EQ(metric.kind, MetricKind::kRequest);
  EXPECT_EQ(NameOf(metric), "ttft_p99");
  EXPECT_EQ(PercentileOf(metric), 99);
  EXPECT_EQ(NameOf(WithPercentile(metric, 50)), "ttft_p50");
  EXPECT_EQ(ParseMetric("e2e").kind, MetricKind::kE2e);
  EXPECT_EQ(ParseMetric("e2e_p90").kind, MetricKind::kRequest);
  for (const char* wrong : {"ttft", "ttft_p95", "queue_p", "tpot"})
    EXPECT_THROW(ParseMetric(wrong), Error) << wrong;
}

TEST(GateRequests, AValueIsAPercentileOfAllRequests) {
  const RunSummary run = RunOf(101);
  EXPECT_EQ(ValueOfRequests(run, ParseMetric("ttft_p50")), std::vector<std::int64_t>{51'000'000});
  EXPECT_EQ(ValueOfRequests(run, ParseMetric("ttft_p90")), std::vector<std::int64_t>{91'000'000});
  EXPECT_TRUE(ValueOfRequests(run, ParseMetric("tpot_p50")).empty());
}

TEST(GateRequests, NoiseIsHowFarTheRequestsLeaveThePercentileOpen) {
  // 100 requests count as 25, so the share of 0.5 is known to 0.1: from the 41st to the 60th.
  const double of_one = 9.5 / 50.5;
  EXPECT_NEAR(NoiseOfRequests({RunOf(100)}, {RunOf(100)}, ParseMetric("ttft_p50")),
              of_one * 1.41421356, 1e-6);
  EXPECT_LT(NoiseOfRequests({RunOf(10'000)}, {RunOf(10'000)}, ParseMetric("ttft_p50")), 0.03);
}

TEST(GateRequests, InstancesCountTogether) {
  RankSummary first, second;
  first.samples = RunOf(3).samples;
  second.samples = RunOf(4).samples;
  const RunSummary run = ReduceRanks({first, second}, RankStat::kWorst);
  EXPECT_EQ(FewestRequests({run}, ParseMetric("ttft_p99")), 7u);
}

}  // namespace
}  // namespace mpa::gate

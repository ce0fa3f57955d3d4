// SPDX-License-Identifier: Apache-2.0
// Links that are slow although no faster one shows it, and small operations with their hosts. The
// gains are worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

// `ranks` ranks reduce once a step, and send `bytes` to each other in `time`; ranks 0 and 1 in 20
// ms.
Diagnosis WithLinks(std::int32_t ranks, std::int64_t bytes, TimeNs time) {
  std::vector<RankDiagnosis> parts;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    PartBuilder builder;
    for (std::uint32_t step = 0; step < 3; ++step) {
      builder.Step()
          .Kernel("MatMulV3", 10 * kMs)
          .Collective("hcom_allReduce__1_" + std::to_string(step), 20 * kMs);
      for (std::int32_t peer = 0; peer < ranks; ++peer) {
        if (peer == rank) continue;
        const bool is_first = rank < 2 && peer < 2;
        builder.Part().transfers.push_back({.operation = step,
                                            .peer = peer,
                                            .transport = builder.NameOf("SDMA"),
                                            .bytes = bytes,
                                            .time = is_first ? 20 * kMs : time,
                                            .count = 1});
      }
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

const FoundCause* SlowLink(const Diagnosis& diagnosis) {
  for (const FoundCause& finding : diagnosis.findings) {
    if (finding.Is(kLinkSlow)) return &finding;
  }
  return nullptr;
}

TEST(LinkCauses, TheOnlyLinkIsSlowByWhatSuchLinksMove) {
  const Diagnosis diagnosis = WithLinks(2, 90 * kMillion, 0);  // 4.5 GB/s; 5 ms at 18 GB/s
  const FoundCause* found = SlowLink(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->key, "link.slow/0-1");
  EXPECT_EQ(found->gain, 15 * kMs);
  EXPECT_EQ(found->confidence, Certainty::kMedium) << "what the link can move is not recorded";
  EXPECT_EQ(MetricIn(*found, "bandwidth_of_links"), 18);
  EXPECT_EQ(SlowLink(WithLinks(2, 144 * kMillion, 0)), nullptr) << "7.2 GB/s, 40 %";
}

TEST(LinkCauses, SmallTransfersDoNotShowTheBandwidth) {
  EXPECT_EQ(SlowLink(WithLinks(2, 1'048'575, 0)), nullptr);
}

TEST(LinkCauses, OtherLinksShowWhatIsUsual) {
  const Diagnosis diagnosis = WithLinks(3, 90 * kMillion, 10 * kMs);  // 9 GB/s
  const FoundCause* found = SlowLink(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 10 * kMs) << "as long as the others, whatever such links move elsewhere";
  EXPECT_EQ(found->confidence, Certainty::kHigh);
  EXPECT_EQ(MetricIn(*found, "bandwidth_of_others"), 9);
}

// Four operations of 1 MB in each of three steps, for each of which the host works 100 us. They
// take 300 us, 100 us of it for the data, as one of 100 MB shows that takes 10 ms.
TEST(LinkCauses, SmallOperationsCostTheirHosts) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    for (int i = 0; i < 5; ++i) {
      const bool large = i == 4;
      if (!large) {
        builder.Host(Leaf::kDispatchComm, 100 * kUs);
        builder.Part().graph.nodes[builder.Last()].kind = NodeKind::kLaunch;
      }
      const auto number = static_cast<std::uint32_t>(builder.Part().operations.size());
      builder.Collective("hcom_allReduce__1_" + std::to_string(number),
                         large ? 10 * kMs : 300 * kUs);
      builder.Part().transfers.push_back({.operation = number,
                                          .peer = 1,
                                          .transport = builder.NameOf("SDMA"),
                                          .bytes = large ? 100 * kMillion : kMillion,
                                          .time = large ? 10 * kMs : 100 * kUs,
                                          .count = 1});
    }
    builder.Kernel("MatMulV3", kMs);
  }
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
  const auto found = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                  [](const FoundCause& finding) { return finding.Is(kCommSmall); });
  ASSERT_NE(found, diagnosis.findings.end());
  // The four operations of a step have 4 MB, which fit into one: three of four are not issued.
  EXPECT_NEAR(static_cast<double>(found->alone), 4 * (200e3 + 100e3 * 3 / 4), 10);
}

}  // namespace
}  // namespace mpa

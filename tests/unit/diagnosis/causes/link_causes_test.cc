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
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

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
        builder.Transfer(peer, bytes, is_first ? 20 * kMs : time);
      }
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

const Finding* SlowLink(const Diagnosis& diagnosis) {
  for (const Finding& finding : diagnosis.findings) {
    if (finding.Is(kLinkSlow)) return &finding;
  }
  return nullptr;
}

TEST(LinkCauses, TheOnlyLinkIsSlowByWhatSuchLinksMove) {
  const Diagnosis diagnosis = WithLinks(2, 90 * kMb, 0);  // 4.5 GB/s; 5 ms at 18 GB/s
  const Finding* found = SlowLink(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->key, "link.slow/0-1");
  EXPECT_EQ(found->gain, 15 * kMs);
  EXPECT_EQ(found->confidence, Certainty::kMedium) << "what the link can move is not recorded";
  EXPECT_EQ(MetricIn(*found, "bandwidth_of_links"), 18);
  EXPECT_EQ(SlowLink(WithLinks(2, 144 * kMb, 0)), nullptr) << "7.2 GB/s, 40 %";
}

MPA_REFUTES(LinkCauses, SmallTransfersDoNotShowTheBandwidth, "link.slow");
TEST(LinkCauses, SmallTransfersDoNotShowTheBandwidth) {
  EXPECT_EQ(SlowLink(WithLinks(2, 1'048'575, 0)), nullptr);
}

TEST(LinkCauses, OtherLinksShowWhatIsUsual) {
  const Diagnosis diagnosis = WithLinks(3, 90 * kMb, 10 * kMs);  // 9 GB/s
  const Finding* found = SlowLink(diagnosis);
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
        builder.Host(TimeCategory::kDispatchComm, 100 * kUs);
        builder.Part().graph.nodes[builder.Last()].kind = NodeKind::kLaunch;
      }
      const auto number = static_cast<std::uint32_t>(builder.Part().operations.size());
      builder.Collective("hcom_allReduce__1_" + std::to_string(number),
                         large ? 10 * kMs : 300 * kUs);
      builder.Transfer(1, large ? 100 * kMb : kMb, large ? 10 * kMs : 100 * kUs);
    }
    builder.Kernel("MatMulV3", kMs);
  }
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
  const auto found = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                  [](const Finding& finding) { return finding.Is(kCommSmall); });
  ASSERT_NE(found, diagnosis.findings.end());
  // The four operations of a step have 4 MB, which fit into one: three of four are not issued.
  EXPECT_NEAR(static_cast<double>(found->alone), 4 * (200e3 + 100e3 * 3 / 4), 10);
}

// Two ranks of two hosts reduce once a step for 10 ms, in which `bytes` go through the port in 8
// ms.
Diagnosis WithPorts(std::int64_t bytes) {
  std::vector<RankDiagnosis> parts;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    PartBuilder builder;
    for (std::uint32_t step = 0; step < 3; ++step) {
      builder.Step()
          .Kernel("MatMulV3", 10 * kMs)
          .Collective("hcom_allReduce__1_" + std::to_string(step), 10 * kMs);
      builder.Part().operations.back().port_bytes = bytes;
      builder.Part().operations.back().port_time = 8 * kMs;
      builder.Transfer(1 - rank, bytes, 8 * kMs, "RDMA");
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(LinkCauses, ANetworkThatIsSlowEverywhere) {
  const Diagnosis diagnosis = WithPorts(25 * kMb);  // 3.125 GB/s; 2 ms at 12.5
  const Finding* found = FindingWith(diagnosis, "link.slow/ports");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 6 * kMs);
  EXPECT_EQ(found->ranks, (std::vector<RankId>{0, 1})) << "either may be the slow one";
  EXPECT_EQ(found->confidence, Certainty::kMedium);
  EXPECT_EQ(MetricIn(*found, "bandwidth"), 3.125);
  EXPECT_NE(FindingWith(WithPorts(69 * kMb), "link.slow/ports"), nullptr)
      << "8.625 GB/s, 69 % of the port";
  EXPECT_EQ(FindingWith(WithPorts(70 * kMb), "link.slow/ports"), nullptr) << "70 % of the port";
  EXPECT_EQ(FindingWith(WithPorts(1'048'575), "link.slow/ports"), nullptr) << "too little to tell";
}

// Two groups called "tp" of two ranks each, with `count` operations of 1 ms; those of the first
// group take `slow`.
Diagnosis TwoGroups(int count, TimeNs slow) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 4; ++rank) {
    const bool is_first = rank < 2;
    PartBuilder builder;
    for (int step = 0; step < count; ++step) {
      builder.Step().Kernel("MatMulV3", 10 * kMs);
      builder.Collective("hcom_allReduce__1_" + std::to_string(step), is_first ? slow : kMs,
                         "allreduce", is_first ? "a" : "b");
    }
    builder.Part().collectives.groups = {{"a", "tp", {0, 1}}, {"b", "tp", {2, 3}}};
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(LinkCauses, ASlowGroupShowsWithoutPeers) {
  const Diagnosis diagnosis = TwoGroups(5, 3 * kMs);
  const Finding* found = FindingWith(diagnosis, "link.slow/r0+1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * kMs);
  EXPECT_EQ(found->ranks, (std::vector<RankId>{0, 1}));
  EXPECT_EQ(MetricIn(*found, "slower_than_peers"), 3);
  EXPECT_EQ(FindingWith(TwoGroups(4, 3 * kMs), "link.slow/r0+1"), nullptr)
      << "four operations are no habit";
  EXPECT_EQ(FindingWith(TwoGroups(5, 1'400 * kUs), "link.slow/r0+1"), nullptr)
      << "0.71 of the speed";
}

}  // namespace
}  // namespace mpa

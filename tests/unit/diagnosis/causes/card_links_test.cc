// SPDX-License-Identifier: Apache-2.0
// Links between cards of a host that are slow although no faster one shows it. The gains are worked
// out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

constexpr std::int64_t kCardMessage = 36'000'000;  // 2 ms at 18 GB/s
constexpr TimeNs kCardOperation = 9 * kMs;

// What a rank moved to or from another one in a step.
struct CardTraffic {
  std::int64_t bytes = kCardMessage;
  TimeNs time = 0;
  std::string_view transport = "SDMA";
};

// Ranks of one host compute for 10 ms in each of three steps and reduce for 9 ms. `traffic` says
// what two of them move to each other, all of it at once.
template <typename Traffic>
Diagnosis OfCards(std::int32_t ranks, Traffic traffic, const Thresholds& thresholds = {}) {
  std::vector<RankDiagnosis> parts;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    PartBuilder builder;
    for (std::uint32_t step = 0; step < 3; ++step) {
      builder.Step()
          .Kernel("MatMulV3", 10 * kMs)
          .Collective("hcom_allReduce__1_" + std::to_string(step), kCardOperation);
      for (std::int32_t peer = 0; peer < ranks; ++peer) {
        if (peer == rank) continue;
        for (const CardTraffic& moved : traffic(std::min(rank, peer), std::max(rank, peer))) {
          builder.Transfer(peer, moved.bytes, moved.time, moved.transport);
        }
      }
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts, thresholds);
}

// Every link moves a message in this time.
auto AllLinksTake(TimeNs time) {
  return [time](std::int32_t, std::int32_t) {
    return std::vector<CardTraffic>{{kCardMessage, time}};
  };
}

// Links of two cards that are on the list take 9 ms, all others 2.
auto SlowAmong(std::vector<std::pair<std::int32_t, std::int32_t>> slow) {
  return [slow = std::move(slow)](std::int32_t low, std::int32_t high) {
    const bool is_slow = std::find(slow.begin(), slow.end(), std::pair(low, high)) != slow.end();
    return std::vector<CardTraffic>{{kCardMessage, is_slow ? kCardOperation : 2 * kMs}};
  };
}

bool NamesALink(const Diagnosis& diagnosis) {
  return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const Finding& finding) { return finding.Is(kLinkSlow); });
}

TEST(CardLinks, AllOfAHostAreSlow) {
  const Diagnosis diagnosis = OfCards(3, AllLinksTake(9 * kMs));
  const Finding* found = FindingWith(diagnosis, "link.slow/r0+1+2");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 7 * kMs) << "36 MB at 18 GB/s";
  EXPECT_EQ(found->ranks, (std::vector<RankId>{0, 1, 2}));
  EXPECT_EQ(found->confidence, Certainty::kMedium) << "their speed is not recorded";
  EXPECT_EQ(MetricIn(*found, "bandwidth"), 4);
  EXPECT_EQ(MetricIn(*found, "bandwidth_of_links"), 18);
  EXPECT_EQ(MetricIn(*found, "bandwidth_of_others"), -1) << "there are no faster ones";
}

TEST(CardLinks, FarFromWhatTheyMoveElsewhereIsBelowFourTenths) {
  EXPECT_TRUE(NamesALink(OfCards(3, AllLinksTake(5'100 * kUs)))) << "7.06 GB/s";
  EXPECT_FALSE(NamesALink(OfCards(3, AllLinksTake(5'000 * kUs)))) << "7.2 GB/s";
}

TEST(CardLinks, FasterLinksShowWhatIsUsual) {
  const Diagnosis one = OfCards(3, SlowAmong({{0, 1}}));
  const Finding* found = FindingWith(one, "link.slow/0-1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 7 * kMs);
  EXPECT_EQ(found->confidence, Certainty::kHigh);
  EXPECT_EQ(MetricIn(*found, "bandwidth_of_others"), 18);
  EXPECT_EQ(MetricIn(*found, "bandwidth_of_links"), -1);
  const Diagnosis most = OfCards(3, SlowAmong({{0, 1}, {1, 2}}));
  found = FindingWith(most, "link.slow/r0+1+2");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->confidence, Certainty::kHigh);
  EXPECT_EQ(MetricIn(*found, "bandwidth_of_others"), 18) << "of three links one is enough";
  // Links at 9 and at 12 GB/s are usual for each other, however fast such links are elsewhere.
  const auto little = [](std::int32_t low, std::int32_t high) {
    return std::vector<CardTraffic>{{kCardMessage, low + high == 1 ? 4 * kMs : 3 * kMs}};
  };
  EXPECT_FALSE(NamesALink(OfCards(3, little)));
}

TEST(CardLinks, OneFastLinkAmongSixDoesNotShowWhatIsUsual) {
  const Diagnosis diagnosis = OfCards(4, SlowAmong({{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}}));
  const Finding* found = FindingWith(diagnosis, "link.slow/r0+1+2+3");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 7 * kMs);
  EXPECT_EQ(MetricIn(*found, "bandwidth_of_links"), 18);
}

// 1 MB takes 4 ms, at 0.25 GB/s: in many tasks, say, each with its latency.
constexpr CardTraffic kSmallTraffic{1'000'000, 4 * kMs};

TEST(CardLinks, SmallTransfersAreSlowByTheirLatency) {
  EXPECT_FALSE(NamesALink(OfCards(3, [](std::int32_t, std::int32_t) {
    return std::vector<CardTraffic>{kSmallTraffic};
  }))) << "nothing is large";
  // 37 MB in 6 ms are 6.2 GB/s, but the large one alone shows 18.
  const auto mixed = [](std::int32_t, std::int32_t) {
    return std::vector<CardTraffic>{kSmallTraffic, {kCardMessage, 2 * kMs}};
  };
  EXPECT_FALSE(NamesALink(OfCards(3, mixed))) << "the large ones are well";
  const auto slow = [](std::int32_t, std::int32_t) {
    return std::vector<CardTraffic>{kSmallTraffic, {kCardMessage, kCardOperation}};
  };
  EXPECT_TRUE(NamesALink(OfCards(3, slow)));
}

TEST(CardLinks, PortsSayNothingOfThem) {
  EXPECT_FALSE(NamesALink(OfCards(3, [](std::int32_t, std::int32_t) {
    return std::vector<CardTraffic>{{kCardMessage, 9 * kMs, "RDMA"}};
  }))) << "how much went through ports is not recorded";
  const auto beside = [](std::int32_t, std::int32_t) {
    return std::vector<CardTraffic>{kSmallTraffic, {2'000'000, 500 * kUs, "RDMA"}};
  };
  EXPECT_FALSE(NamesALink(OfCards(3, beside))) << "what is large went through ports";
}

TEST(CardLinks, RulesSayWhatSuchLinksMove) {
  Thresholds thresholds;
  SetRule("link.slow", "card_gbs", 8, thresholds);  // 40 % are 3.2 GB/s
  EXPECT_FALSE(NamesALink(OfCards(3, AllLinksTake(9 * kMs), thresholds)));
  thresholds = {};
  SetRule("link.slow", "card_share", 0.2, thresholds);  // 3.6 GB/s
  EXPECT_FALSE(NamesALink(OfCards(3, AllLinksTake(9 * kMs), thresholds)));
  SetRule("link.slow", "card_gbs", 36, thresholds);  // 7.2 GB/s; 1 ms for 36 MB
  const Diagnosis diagnosis = OfCards(3, AllLinksTake(9 * kMs), thresholds);
  const Finding* found = FindingWith(diagnosis, "link.slow/r0+1+2");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 8 * kMs);
}

}  // namespace
}  // namespace mpa

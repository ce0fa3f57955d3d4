// SPDX-License-Identifier: Apache-2.0
// Links that can move no more while the step waits for them.
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/part/counter_facts.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

constexpr Interval kSteps{0, 400 * kMs};
constexpr double kGigabytes = 1e9;

// Twenty samples of 20 ms: a kernel runs in each even one, a collective in each odd one.
class LinkOfSteps {
 public:
  explicit LinkOfSteps(double limit = -1, std::string_view group = "HCCS") {
    rank_.trace.counters.Append({.group = rank_.Text(group),
                                 .name = rank_.Text("tx"),
                                 .unit = rank_.Text("B/s"),
                                 .kind = CounterKind::kRate,
                                 .limit = limit});
  }

  // In GB/s, beside the kernels and in the collectives, these in turn.
  LinkOfSteps& Moves(double beside, const std::vector<double>& in_collectives) {
    const std::int32_t group = rank_.Group("dp");
    for (int i = 0; i < 20; ++i) {
      const TimeNs start = i * 20 * kMs, end = start + 20 * kMs;
      const auto turn = static_cast<std::size_t>(i / 2) % in_collectives.size();
      if (i % 2 == 0) {
        rank_.KernelAt(start, end);
      } else {
        rank_.Collective(group, start, end);
      }
      Sample(start, i % 2 == 0 ? beside : in_collectives[turn]);
    }
    return *this;
  }
  void Sample(TimeNs start, double rate) {
    rank_.trace.counter_samples.Append(
        {.start = start, .dur = 20 * kMs, .counter = 0, .value = rate * kGigabytes});
  }
  std::vector<FullLink> Full() const { return FullLinksOf(rank_.trace, kSteps); }

 private:
  test::RankBuilder rank_;
};

TEST(FullLinks, OfAKnownLimit) {
  const std::vector<FullLink> full = LinkOfSteps(25e9, "RoCE").Moves(1, {24, 20}).Full();
  ASSERT_EQ(full.size(), 1u);
  EXPECT_EQ(full[0].name, "RoCE tx");
  EXPECT_EQ(full[0].limit, 25e9);
  EXPECT_DOUBLE_EQ(full[0].rate, 24e9) << "20 is no nine tenths of 25";
  EXPECT_EQ(full[0].time, 100 * kMs);
  EXPECT_EQ(full[0].exposed, 100 * kMs);
  EXPECT_EQ(full[0].longest, 20 * kMs);
  EXPECT_EQ(full[0].start, 20 * kMs);
}

TEST(FullLinks, AtTheMostThatTheyEverMoved) {
  const std::vector<FullLink> full = LinkOfSteps().Moves(2, {50, 49.5}).Full();
  ASSERT_EQ(full.size(), 1u);
  EXPECT_EQ(full[0].limit, -1);
  EXPECT_DOUBLE_EQ(full[0].rate, 49.75e9);
  EXPECT_EQ(full[0].exposed, 200 * kMs);
}

MPA_REFUTES(FullLinks, WhatSpeaksAgainstThem, "comm.full_link");
TEST(FullLinks, WhatSpeaksAgainstThem) {
  const auto is_full = [](LinkOfSteps& link) { return !link.Full().empty(); };
  EXPECT_TRUE(is_full(LinkOfSteps().Moves(2, {50})));
  EXPECT_FALSE(is_full(LinkOfSteps().Moves(2, {50, 40}))) << "the rate varies";
  EXPECT_FALSE(is_full(LinkOfSteps().Moves(30, {50}))) << "it moves much when nothing waits";
  EXPECT_FALSE(is_full(LinkOfSteps().Moves(2, {0})));
  EXPECT_FALSE(is_full(LinkOfSteps().Moves(0, {0}))) << "nothing passes at all";
  LinkOfSteps moved_more;
  moved_more.Moves(2, {50}).Sample(400 * kMs, 60);
  EXPECT_FALSE(is_full(moved_more)) << "after the steps";
  EXPECT_FALSE(is_full(LinkOfSteps(100e9, "RoCE").Moves(2, {50}))) << "half of its limit";
  EXPECT_FALSE(is_full(LinkOfSteps(-1, "HBM").Moves(2, {50}))) << "no link";
  EXPECT_TRUE(FullLinksOf(test::RankBuilder().trace, kSteps).empty());
}

RankDiagnosis PartWithLink(const FullLink& link) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) builder.Step().Kernel("MatMulV3", kMs);
  builder.Part().full_links = {link};
  builder.Part().counts_links = true;
  return builder.Build();
}

TEST(FullLinks, OfTheJobAreNamedByWhatIsKnownOfThem) {
  const FullLink flat{.name = "HCCS tx", .rate = 50e9, .time = 400'000, .exposed = 300'000};
  FullLink port = flat;
  port.limit = 60e9;
  const Diagnosis diagnosis = DiagnoseJob({PartWithLink(port), PartWithLink(flat)});
  const Finding* found = FindingWith(diagnosis, "comm.full_link");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, std::vector<RankId>{0});
  EXPECT_EQ(MetricIn(*found, "full_rate"), 50);
  EXPECT_EQ(MetricIn(*found, "full_limit"), 60);
  EXPECT_EQ(MetricIn(*found, "full_exposed"), 300'000);
  const Finding* at_most = FindingWith(diagnosis, "comm.full_link/flat");
  ASSERT_NE(at_most, nullptr);
  EXPECT_EQ(at_most->ranks, std::vector<RankId>{1});
  EXPECT_EQ(at_most->confidence, Certainty::kLow);
  EXPECT_EQ(at_most->gain, 0);
  FullLink brief = flat;
  brief.exposed = 80'000;
  EXPECT_EQ(FindingWith(DiagnoseJob({PartWithLink(brief)}), "comm.full_link/flat"), nullptr)
      << "less than 3 % of 3 ms";
}

}  // namespace
}  // namespace mpa

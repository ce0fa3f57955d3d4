// SPDX-License-Identifier: Apache-2.0
// Functions whose caches miss. The gains are worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

constexpr std::int64_t kWork = 10'000'000;  // instructions of a call

struct Called {
  TimeNs time = 10 * kMs;
  std::int64_t misses = 10'000, cycles = 20'000'000, instructions = kWork;
};
constexpr Called kUsual;
// 110,000 misses more than 10,000, each of at most 300 ns, and twice the cycles for the same work.
constexpr Called kMissing{20 * kMs, 120'000, 40'000'000};

// The host works for 30 ms before a kernel of each step, in a function; twice a step.
RankDiagnosis Calling(const std::vector<Called>& calls) {
  PartBuilder builder;
  FunctionFacts& functions = builder.Part().functions;
  std::uint32_t number = 0;
  for (std::size_t step = 0; step < calls.size() / 2; ++step) {
    builder.Step();
    for (int i = 0; i < 2; ++i) {
      const Called& call = calls[number];
      builder.Kernel("MatMulV3", kMs);
      builder.Host(TimeCategory::kPython, call.time);
      functions.calls.push_back({.name = builder.NameOf("forward"),
                                 .cycles = call.cycles,
                                 .instructions = call.instructions,
                                 .misses = call.misses,
                                 .start = builder.Now() - call.time,
                                 .dur = call.time});
      functions.times.push_back(
          {static_cast<std::uint32_t>(builder.Part().graph.edges.size() - 1), number++, call.time});
      builder.Kernel("MatMulV3", kMs);
    }
  }
  functions.recorded = true;
  return builder.Build();
}

std::vector<Called> All(const Called& call) { return std::vector<Called>(8, call); }

TEST(CacheCauses, ARankWhoseCachesMissIsNamed) {
  const Diagnosis diagnosis =
      DiagnoseJob({Calling(All(kUsual)), Calling(All(kUsual)), Calling(All(kMissing))});
  ASSERT_FALSE(diagnosis.findings.empty());
  const Finding& found = diagnosis.findings[0];
  EXPECT_EQ(found.key, "host.cache_misses");
  EXPECT_EQ(found.ranks, std::vector<RankId>{2});
  EXPECT_EQ(MetricIn(found, "time_per_step"), 20 * kMs);
  EXPECT_EQ(MetricIn(found, "cache_misses_of_usual"), 12);
  EXPECT_EQ(MetricIn(found, "cache_misses_per_step"), 240'000);
  ASSERT_FALSE(found.evidence.empty());
  EXPECT_EQ(found.evidence[0].name, "forward");
  EXPECT_EQ(found.evidence[0].table, "function_counts");
  EXPECT_EQ(found.evidence[0].time, 20 * kMs);
  EXPECT_EQ(found.evidence[0].calls, 2);
  EXPECT_EQ(FindingWith(diagnosis, "rank.late_host/r2"), nullptr);
}

// Of one rank that misses in half of its steps.
TEST(CacheCauses, TimesOfARankAreCompared) {
  std::vector<Called> calls = All(kUsual);
  for (std::size_t i = 4; i < calls.size(); ++i) calls[i] = kMissing;
  const Diagnosis diagnosis = DiagnoseJob({Calling(calls)});
  const Finding* found = FindingWith(diagnosis, "host.cache_misses");
  ASSERT_NE(found, nullptr);
  EXPECT_GT(found->gain, 0);
}

// 40,000 misses take at most 12 ms, whatever else the call did.
TEST(CacheCauses, SoManyMissesTakeNoMore) {
  Called call{30 * kMs, 50'000, 60'000'000};
  const Diagnosis diagnosis = DiagnoseJob({Calling(All(kUsual)), Calling(All(call))});
  const Finding* found = FindingWith(diagnosis, "host.cache_misses");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(MetricIn(*found, "time_per_step"), 24 * kMs);
}

MPA_REFUTES(CacheCauses, SlowCallsWithoutThatCause, "host.cache_misses");
TEST(CacheCauses, SlowCallsWithoutThatCause) {
  const Called refuted[] = {
      {20 * kMs, 10'000, 40'000'000},             // as few misses
      {20 * kMs, 120'000, 20'000'000},            // the core did not run: as many cycles
      {20 * kMs, 20'000, 40'000'000, 2 * kWork},  // twice the work, and its misses
      {10 * kMs, 120'000, 20'000'000},            // it takes no longer
      {20 * kMs, 19'000, 40'000'000},             // less than twice the misses
  };
  for (const Called& call : refuted) {
    const Diagnosis diagnosis =
        DiagnoseJob({Calling(All(kUsual)), Calling(All(call)), Calling(All(kUsual))});
    EXPECT_EQ(FindingWith(diagnosis, "host.cache_misses"), nullptr) << call.misses;
  }
}

TEST(CacheCauses, WithoutCountsNothingIsJudged) {
  RankDiagnosis part = Calling(All(kUsual));
  const auto passes = [](const Diagnosis& diagnosis) {
    return std::ranges::find(diagnosis.passed_checks, &kHostCacheMisses) !=
           diagnosis.passed_checks.end();
  };
  EXPECT_TRUE(passes(DiagnoseJob({part})));
  part.functions = {};
  EXPECT_FALSE(passes(DiagnoseJob({part})));
}

}  // namespace
}  // namespace mpa

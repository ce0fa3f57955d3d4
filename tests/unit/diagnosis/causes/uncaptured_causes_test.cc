// SPDX-License-Identifier: Apache-2.0
// Late ranks that were not captured. The gains are worked out by hand.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {
namespace {

// Ranks 0 and 1 meet once a step in a group of their own. Each of them also waits for others that
// were not captured: for 4 ms, in an operation of 5 ms.
Diagnosis WaitForUncaptured(const std::vector<RankId>& others_of_0,
                            const std::vector<RankId>& others_of_1,
                            const AbsentRanks& absent = {}) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 2; ++rank) {
    const std::string own = rank == 0 ? "a" : "b";
    PartBuilder builder;
    RankCollectives& met = builder.Part().collectives;
    met.rank = rank;
    met.runs.texts = {own, "allReduce"};
    met.own_rank_of_group = {0, -1};
    for (int step = 0; step < 3; ++step) {
      builder.Step().Kernel("MatMulV3", 10 * kMs);
      const TimeNs start = builder.Now();
      const std::string name = "hcom_allReduce__1_" + std::to_string(step);
      met.runs.texts.push_back(name);
      met.own_rank_of_group.push_back(-1);
      met.runs.rows.push_back(
          {.group = 0,
           .name = static_cast<std::uint32_t>(met.runs.texts.size() - 1),
           .type = 1,
           .data_type = 1,
           .start = start,
           .dur = 5 * kMs,
           .operation = static_cast<std::int32_t>(builder.Part().operations.size())});
      met.last.push_back({.known = true, .time = start + 4 * kMs});
      met.seen.emplace_back();
      builder.Collective(name, 5 * kMs, "allreduce", own)
          .Collective("both_" + std::to_string(step), kMs, "allreduce", "t");
    }
    met.groups = {{"a", "dp", {0}}, {"b", "dp", {1}}, {"t", "tp", {0, 1}}};
    for (const RankId other : others_of_0) met.groups[0].ranks.push_back(other);
    for (const RankId other : others_of_1) met.groups[1].ranks.push_back(other);
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts, {}, false, absent);
}

TEST(UncapturedCauses, TheOnlyOtherMemberIsTheLateOne) {
  const Diagnosis diagnosis = WaitForUncaptured({4}, {5});
  // Each of them alone would win nothing: the ranks meet behind.
  const Finding* found = FindingWith(diagnosis, "rank.late/r4+5");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, (std::vector<RankId>{4, 5}));
  EXPECT_EQ(found->gain, 4 * kMs);
  const Diagnosis several = WaitForUncaptured({4, 6}, {5, 7});
  found = FindingWith(several, "rank.late/unknown");
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->ranks.empty());
  EXPECT_EQ(found->gain, 4 * kMs);
}

TEST(UncapturedCauses, AdviceFitsTheStateOfTheRank) {
  const std::pair<RankState, std::string> kAdvice[] = {
      {RankState::kLeftOut, "analyse that rank, too (--rank_list)"},
      {RankState::kDamaged,
       "copy or parse the capture of that rank again; 'msprof-analyze check' says what is wrong"},
      {RankState::kPartMissing, "run the shard of that rank, then merge again"},
      {RankState::kNotCaptured, "capture that rank and its node"}};
  for (const auto& [state, advice] : kAdvice) {
    AbsentRanks absent;
    absent.Add(4, state);
    absent.Add(5, state);
    const Diagnosis diagnosis = WaitForUncaptured({4}, {5}, absent);
    const Finding* found = FindingWith(diagnosis, "rank.late/r4+5");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(AdviceOf(*found), advice);
    EXPECT_EQ(TitleOf(*found),
              "collectives wait for ranks 4, 5 (" + std::string(NameOf(state)) + ")");
  }
  AbsentRanks mixed;
  mixed.Add(4, RankState::kDamaged);
  const Diagnosis diagnosis = WaitForUncaptured({4}, {5}, mixed);
  const Finding* found = FindingWith(diagnosis, "rank.late/r4+5");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(TitleOf(*found),
            "collectives wait for ranks 4, 5 (rank 4 damaged, rank 5 not captured)");
  EXPECT_EQ(AdviceOf(*found),
            "copy or parse the capture of that rank again; 'msprof-analyze check' says what is"
            " wrong; capture that rank and its node");
}

// Rank 0 of four meets the others `count` times in each of three steps of 10 ms, for twice `late`.
// Rank 1 comes with it, and so late come the ranks that `others` tells of the number of the
// meeting, each by `further` after the one before.
template <typename Others>
Diagnosis SeesOthersComeLate(int count, TimeNs late, Others others, TimeNs further = 0) {
  PartBuilder builder;
  RankCollectives& met = builder.Part().collectives;
  met.rank = 0;
  met.runs.texts = {"a", "allReduce"};
  met.own_rank_of_group = {0, -1};
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", 10 * kMs);
    for (int i = 0; i < count; ++i) {
      const auto number = static_cast<std::int32_t>(builder.Part().operations.size());
      const std::string name = "hcom_allReduce__1_" + std::to_string(number);
      met.runs.texts.push_back(name);
      met.own_rank_of_group.push_back(-1);
      met.runs.rows.push_back({.group = 0,
                               .name = static_cast<std::uint32_t>(met.runs.texts.size() - 1),
                               .type = 1,
                               .data_type = 1,
                               .start = builder.Now(),
                               .dur = 2 * late,
                               .operation = number});
      met.last.push_back({});
      auto& seen = met.seen.emplace_back();
      const std::vector<std::int32_t> of_meeting = others(number);
      for (std::int32_t peer = 1; peer < 4; ++peer) {
        const auto place = std::find(of_meeting.begin(), of_meeting.end(), peer);
        const bool is_late = place != of_meeting.end();
        const TimeNs behind = is_late ? late + further * (place - of_meeting.begin()) : 0;
        seen.push_back(
            {.operation = number, .peer = peer, .time = builder.Now() + behind, .waited = is_late});
      }
      builder.Collective(name, 2 * late, "allreduce", "a");
    }
  }
  met.groups = {{"a", "tp", {0, 1, 2, 3}}};
  return DiagnoseJob({builder.Build()});
}

TEST(UncapturedCauses, SeveralThatComeTogetherAreLateTogether) {
  const Diagnosis diagnosis = SeesOthersComeLate(1, 4 * kMs, [](std::int32_t) {
    return std::vector<std::int32_t>{2, 3};
  });
  const Finding* found = FindingWith(diagnosis, "rank.late/r2+3");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, (std::vector<RankId>{2, 3}));
  EXPECT_EQ(found->gain, 4 * kMs);
  const Diagnosis most = SeesOthersComeLate(1, 4 * kMs, [](std::int32_t) {
    return std::vector<std::int32_t>{1, 2, 3};
  });
  for (const Finding& finding : most.findings)
    EXPECT_FALSE(finding.Is(kRankLate)) << "rank 0 is early";
}

// Rank 2 comes 4 ms late, and rank 3 3 ms after it: two causes, although they cost about the same.
TEST(UncapturedCauses, TheSecondLateRankHasACostOfItsOwn) {
  const Diagnosis diagnosis = SeesOthersComeLate(
      1, 4 * kMs,
      [](std::int32_t) {
        return std::vector<std::int32_t>{2, 3};
      },
      3 * kMs);
  const Finding* last = FindingWith(diagnosis, "rank.late/r3");
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->gain, 3 * kMs);
  EXPECT_EQ(MetricIn(*last, "late_by"), 3e6);
  const Finding* second = FindingWith(diagnosis, "rank.late/r2");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->gain, 4 * kMs);
  EXPECT_EQ(second->alone, 0) << "hidden behind rank 3";
  EXPECT_EQ(MetricIn(*second, "late_by_before_last"), 4e6);
  EXPECT_EQ(diagnosis.step - diagnosis.step_after_fixes, 7 * kMs);
}

MPA_REFUTES(UncapturedCauses, LittleLatenessAddsUpWhereItIsAHabit, "rank.late");
TEST(UncapturedCauses, LittleLatenessAddsUpWhereItIsAHabit) {
  const Diagnosis diagnosis =
      SeesOthersComeLate(10, 40 * kUs, [](std::int32_t) { return std::vector<std::int32_t>{2}; });
  const Finding* found = FindingWith(diagnosis, "rank.late/r2");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 10 * 40 * kUs);
  const Diagnosis turns = SeesOthersComeLate(
      10, 40 * kUs, [](std::int32_t number) { return std::vector<std::int32_t>{2 + number % 2}; });
  for (const Finding& finding : turns.findings)
    EXPECT_FALSE(finding.Is(kRankLate)) << "each in half of the operations";
}

TEST(UncapturedCauses, LatenessIsSeenInItsSteps) {
  const auto second = [](std::int32_t number) {
    return number == 1 ? std::vector<std::int32_t>{2} : std::vector<std::int32_t>{};
  };
  const Diagnosis diagnosis = SeesOthersComeLate(1, 3 * kMs, second);
  const Finding* found = FindingWith(diagnosis, "rank.late/r2");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs) << "3 ms in one of three steps";
  EXPECT_EQ(found->steps, std::vector<std::int32_t>{11});
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Launches that stall. The gains are worked out by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"

namespace mpa {
namespace {

// Ten launches of 10 us in each step, `stalls` of them of `stall`.
Diagnosis WithStalls(int stalls, TimeNs stall, bool has_calls,
                     TimeCategory category = TimeCategory::kDispatchCann) {
  RankDiagnosis part = ThreeSteps([&](PartBuilder& step) {
    for (int i = 0; i < 10; ++i)
      step.Host(category, i < stalls ? stall : 10 * kUs).Kernel("MatMulV3", 100 * kUs);
  });
  part.has_calls = has_calls;
  return DiagnoseJob({part});
}

TEST(LaunchCauses, LaunchesThatStall) {
  const Diagnosis diagnosis = WithStalls(2, 210 * kUs, false);
  const Finding* found = FindingWith(diagnosis, "host.launch_bound/stalls");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 400 * kUs);  // twice what is beyond the median
  EXPECT_EQ(found->kind, FindingKind::kFault);
  EXPECT_EQ(MetricIn(*found, "calls_per_step"), 2);
  EXPECT_EQ(FindingWith(WithStalls(2, 199 * kUs, false), "host.launch_bound/stalls"), nullptr)
      << "below 20 times the median";
  EXPECT_EQ(FindingWith(WithStalls(2, 210 * kUs, true), "host.launch_bound/stalls"), nullptr)
      << "the calls tell why";
}

TEST(LaunchCauses, OperatorsThatStall) {
  const Diagnosis diagnosis = WithStalls(3, 210 * kUs, false, TimeCategory::kDispatchOp);
  const Finding* found = FindingWith(diagnosis, "host.launch_bound/stalls");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 600 * kUs);
  EXPECT_EQ(MetricIn(*found, "time_per_step"), 600 * kUs);
}

// The reads of a scalar that end with the stalls tell why the host stood still.
TEST(LaunchCauses, CallsThatWaitForTheDeviceDoNotStall) {
  const auto is_found = [](TimeNs read) {
    RankDiagnosis part = ThreeSteps([&](PartBuilder& step) {
      for (int i = 0; i < 10; ++i) {
        step.Host(TimeCategory::kDispatchOp, i == 0 ? 210 * kUs : 10 * kUs);
        if (i == 0 && read > 0) {
          BlockedPart call;
          call.edge = step.Part().shares.back().edge;
          call.category = TimeCategory::kScalarSync;
          call.name = step.NameOf("aclrtSynchronizeStream");
          call.step = static_cast<std::int32_t>(step.Part().steps.size()) - 1;
          call.start = step.Now() - read;
          call.dur = read;
          step.Part().blocked.push_back(call);
        }
        step.Kernel("MatMulV3", 100 * kUs);
      }
    });
    part.has_calls = false;
    return FindingWith(DiagnoseJob({part}), "host.launch_bound/stalls") != nullptr;
  };
  EXPECT_TRUE(is_found(0));
  EXPECT_FALSE(is_found(200 * kUs));
}

// The longest of the calls in a stall tells whether it is one that stands still.
TEST(LaunchCauses, ManyShortCallsDoNotStandStill) {
  const auto is_found = [](TimeNs longest) {
    RankDiagnosis part = ThreeSteps([&](PartBuilder& step) {
      for (int i = 0; i < 10; ++i) {
        step.Host(TimeCategory::kDispatchOp, i == 0 ? 210 * kUs : 10 * kUs);
        HostPlace place;
        place.share = static_cast<std::uint32_t>(step.Part().shares.size() - 1);
        place.name = step.NameOf("aten::view");
        place.count = i == 0 ? 20 : 1;
        place.time = i == 0 ? 210 * kUs : 10 * kUs;
        place.longest = i == 0 ? longest : 10 * kUs;
        step.Part().places.push_back(place);
        step.Kernel("MatMulV3", 100 * kUs);
      }
    });
    part.has_calls = false;
    return FindingWith(DiagnoseJob({part}), "host.launch_bound/stalls") != nullptr;
  };
  EXPECT_TRUE(is_found(105 * kUs)) << "half of it";
  EXPECT_FALSE(is_found(104 * kUs));
}

// Four ranks that meet at the end of a step. Launches of 10 us, of which one on the first
// `stalling` ranks takes 2 ms.
Diagnosis StallsOnRanks(std::size_t stalling) {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const bool stalls = rank < stalling;
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step();
      for (int i = 0; i < 10; ++i)
        builder.Host(TimeCategory::kDispatchOp, stalls && i == 5 ? 2 * kMs : 10 * kUs)
            .Kernel("MatMulV3", 100 * kUs);
      builder.Collective("hcom_allReduce__1_" + std::to_string(step),
                         kMs + (stalls ? 0 : 1'990 * kUs));
    }
    builder.Part().has_calls = false;
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(LaunchCauses, StallsOfOneRankMakeItLate) {
  const Diagnosis one = StallsOnRanks(1);
  EXPECT_EQ(FindingWith(one, "host.launch_bound/stalls"), nullptr);
  const Finding* late = FindingWith(one, "rank.late_host/r0");
  ASSERT_NE(late, nullptr);
  EXPECT_NEAR(static_cast<double>(late->gain), 1'990e3, 10);
  const Diagnosis every = StallsOnRanks(4);
  const Finding* all = FindingWith(every, "host.launch_bound/stalls");
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(all->gain, 1'990 * kUs);
}

// Twenty operators of 10 us in each of three steps, and before one of them something that takes
// 30 ms more: of this class, with this name.
RankDiagnosis WithOneGap(TimeCategory category, std::string_view name, TimeNs usual = 10 * kUs) {
  RankDiagnosis part = ThreeSteps([&](PartBuilder& step) {
    for (int i = 0; i < 20; ++i) {
      const auto place = [&](std::string_view of, TimeNs time) {
        step.Part().places.push_back(
            {.share = static_cast<std::uint32_t>(step.Part().shares.size() - 1),
             .name = step.NameOf(of),
             .count = 1,
             .time = time,
             .longest = time});
      };
      const bool is_same = category == TimeCategory::kDispatchOp;
      if (i == 12 && !is_same) {
        step.Host(category, 30 * kMs);
        place(name, 30 * kMs);
      }
      const TimeNs own = i == 12 && is_same ? 30 * kMs + 10 * kUs : usual;
      step.Host(TimeCategory::kDispatchOp, own);
      place(is_same && i == 12 ? name : "aten::mul", own);
      step.Kernel("Mul", 100 * kUs, TimeCategory::kVector);
    }
  });
  part.has_calls = true;
  return part;
}

TEST(LaunchCauses, AGapHasOnePriceWhateverFillsIt) {
  struct Case {
    TimeCategory category;
    const char *name, *key;
  };
  for (const Case& of :
       std::vector<Case>{{TimeCategory::kDispatchOp, "aten::eq", "host.launch_bound/stalls"},
                         {TimeCategory::kPython, "train.py(4): normalize", "host.python"},
                         {TimeCategory::kHostIdle, "", "host.unrecorded"},
                         {TimeCategory::kExplicitSync, "aclrtSynchronizeDevice", "host.sync"},
                         {TimeCategory::kDataLoader, "enumerate(DataLoader)", "host.dataloader"},
                         {TimeCategory::kHostCopy, "aten::copy_", "host.h2d"},
                         {TimeCategory::kGarbage, "garbage collection", "host.gc"}}) {
    const Diagnosis diagnosis = DiagnoseJob({WithOneGap(of.category, of.name)});
    const Finding* found = FindingWith(diagnosis, of.key);
    ASSERT_NE(found, nullptr) << of.key;
    EXPECT_EQ(found->gain, 30 * kMs) << of.key;
    EXPECT_EQ(found->kind, FindingKind::kFault) << of.key;
    EXPECT_EQ(diagnosis.findings.front().key, of.key);
  }
}

TEST(LaunchCauses, AnOperatorThatStandsStillIsNamedThoughCallsAreRecorded) {
  const Diagnosis diagnosis = DiagnoseJob({WithOneGap(TimeCategory::kDispatchOp, "aten::eq")});
  const Finding* found = FindingWith(diagnosis, "host.launch_bound/stalls");
  ASSERT_NE(found, nullptr);
  ASSERT_FALSE(found->evidence.empty());
  EXPECT_EQ(found->evidence.front().name, "aten::eq");
}

// What the same operator always takes is not a stall.
TEST(LaunchCauses, OperatorsThatAlwaysTakeLongDoNotStandStill) {
  const auto diagnose = [](TimeNs other) {
    RankDiagnosis part = ThreeSteps([&](PartBuilder& step) {
      for (int i = 0; i < 40; ++i) {
        const TimeNs time = i == 5 ? 10 * kMs : i == 9 || i == 20 ? other : 10 * kUs;
        step.Host(TimeCategory::kDispatchOp, time);
        step.Part().places.push_back(
            {.share = static_cast<std::uint32_t>(step.Part().shares.size() - 1),
             .name = step.NameOf(i == 5 || i == 9 || i == 20 ? "aten::unique" : "aten::mul"),
             .count = 1,
             .time = time,
             .longest = time});
        step.Kernel("Mul", 100 * kUs, TimeCategory::kVector);
      }
    });
    part.has_calls = true;
    return FindingWith(DiagnoseJob({part}), "host.launch_bound/stalls") != nullptr;
  };
  EXPECT_FALSE(diagnose(9 * kMs));
  EXPECT_TRUE(diagnose(kMs));
}

// Two ranks of one step cannot be compared, so nothing else tells of the stall.
TEST(LaunchCauses, AStallOfOneOfTwoRanksInOneStepNamesTheRank) {
  std::vector<RankDiagnosis> parts;
  for (const bool stalls : {true, false}) {
    PartBuilder builder;
    builder.Step();
    for (int i = 0; i < 20; ++i)
      builder.Host(TimeCategory::kDispatchOp, stalls && i == 5 ? 20 * kMs : 10 * kUs)
          .Kernel("MatMulV3", 100 * kUs);
    builder.Collective("hcom_allReduce__1_0", kMs + (stalls ? 0 : 20 * kMs - 10 * kUs));
    builder.Part().has_calls = false;
    parts.push_back(builder.Build());
  }
  const Diagnosis diagnosis = DiagnoseJob(parts);
  const Finding* found = FindingWith(diagnosis, "host.launch_bound/stalls");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, std::vector<RankId>{0});
  EXPECT_EQ(found->gain, 20 * kMs - 10 * kUs);
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// The lines below the screen table.
#include <gtest/gtest.h>

#include "mpa/base/utf8.h"
#include "support/comparing.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;
using Texts = std::vector<std::string>;

constexpr TimeNs kStoryMs = 1'000'000;

Texts Story(const RankBuilder& base, const RankBuilder& comparison,
            const CompareOptions& options = {}) {
  return test::Compare("profiling", base.trace, comparison.trace, options).story;
}

struct TimedKernel {
  std::string name;  // "": a gap
  TimeNs dur = 0;
  std::string core{};
};

// A run of kernels, each right behind the one before.
RankBuilder KernelRun(const std::vector<TimedKernel>& kernels,
                      DeviceKind device = DeviceKind::kNpu) {
  RankBuilder rank(device);
  TimeNs at = 0;
  for (const auto& [name, dur, core] : kernels) {
    if (!name.empty()) {
      const bool npu = device == DeviceKind::kNpu;
      rank.trace.kernels.Append({.start = at,
                                 .dur = dur,
                                 .name = rank.Text(npu ? "k_" + name : name),
                                 .op_type = rank.Text(npu ? name : ""),
                                 .core = rank.Text(core)});
    }
    at += dur;
  }
  return rank;
}

// So many kernels of 1 ms with names of their own.
std::vector<TimedKernel> ManyKernels(int count, TimeNs dur, const std::string& core = "") {
  std::vector<TimedKernel> kernels;
  for (int i = 0; i < count; ++i) kernels.push_back({"K" + std::to_string(i), dur, core});
  return kernels;
}

TEST(Story, NamesKernelsAndGapsTogetherWhereFewAreEnough) {
  const RankBuilder base =
      KernelRun({{"MatMul", 10 * kStoryMs}, {"", 5 * kStoryMs}, {"Add", 2 * kStoryMs}});
  const RankBuilder comparison =
      KernelRun({{"MatMul", 13 * kStoryMs}, {"", 4 * kStoryMs}, {"Add", 2 * kStoryMs}});
  EXPECT_EQ(Story(base, comparison),  // 17 ms against 19
            (Texts{"end to end: +2.000 ms (+11.8 %)", "  +3.000 ms MatMul (1 kernel, +30.0 %)",
                   "  -1.000 ms free time (not recorded), -20.0 %"}));
}

TEST(Story, GoesUpALevelWhereFewNamesAreNotEnough) {
  const RankBuilder base = KernelRun({{"MatMul", 10 * kStoryMs},
                                      {"", 5 * kStoryMs},
                                      {"Add", 2 * kStoryMs},
                                      {"Mul", kStoryMs},
                                      {"Cast", kStoryMs}});
  const RankBuilder comparison = KernelRun({{"MatMul", 13 * kStoryMs},
                                            {"", 4 * kStoryMs},
                                            {"Add", 4 * kStoryMs},
                                            {"Mul", kStoryMs / 2},
                                            {"Exp", kStoryMs / 2}});
  // 19 ms against 22; MatMul, Add and Cast make 4 of the 3.
  EXPECT_EQ(
      Story(base, comparison),
      (Texts{"end to end: +3.000 ms (+15.8 %)", "  +4.000 ms computing (+28.6 %)",
             "    +3.000 ms MatMul (1 kernel, +30.0 %)", "    +2.000 ms Add (1 kernel, +100.0 %)",
             "    -1.000 ms Cast (1 kernel, gone)", "    +0.000 ms in 2 smaller changes",
             "  -1.000 ms free time (not recorded), -20.0 %"}));
}

TEST(Story, SaysThatASlowDownOfAllKernelsIsSpread) {
  // 20 kinds grow by 1 ms each, one by 10 ms, a third of the change.
  std::vector<TimedKernel> base = ManyKernels(20, kStoryMs, "AI_VECTOR_CORE");
  base.push_back({"Big", 10 * kStoryMs, "AI_CORE"});
  std::vector<TimedKernel> comparison = ManyKernels(20, 2 * kStoryMs, "AI_VECTOR_CORE");
  comparison.push_back({"Big", 20 * kStoryMs, "AI_CORE"});
  EXPECT_EQ(
      Story(KernelRun(base), KernelRun(comparison)),
      (Texts{"end to end: +30.000 ms (+100.0 %)",
             "  +30.000 ms computing spread over 21 kinds of kernels (+100.0 %)",
             "    +10.000 ms Big (1 kernel, +100.0 %)", "    +20.000 ms in 20 smaller changes"}));
}

TEST(Story, SaysHowManyKernelsThereWere) {
  const RankBuilder base = KernelRun({{"MatMul", 10 * kStoryMs}});
  const RankBuilder comparison =
      KernelRun({{"MatMul", 10 * kStoryMs}, {"MatMul", 2 * kStoryMs}, {"Exp", kStoryMs}});
  EXPECT_EQ(Story(base, comparison), (Texts{"end to end: +3.000 ms (+30.0 %)",
                                            "  +2.000 ms MatMul (2 kernels instead of 1, +20.0 %)",
                                            "  +1.000 ms Exp (1 kernel, new)"}));
}

// 1 ms of a kernel and exposed communication of 2 and of 17 ms.
Texts CommunicationStory(const std::string& base_group, const std::string& comparison_group,
                         const std::string& process_group = "", std::int32_t ranks = 0,
                         const std::string& operation = "hcom_allReduce__1_0_1") {
  const auto run = [&](const std::string& group, TimeNs time) {
    RankBuilder rank = KernelRun({{"MatMul", kStoryMs}});
    rank.Collective(rank.Group(group, process_group), kStoryMs, kStoryMs + time, operation);
    rank.trace.comm_groups.ranks[0] = ranks;
    return rank;
  };
  return Story(run(base_group, 2 * kStoryMs), run(comparison_group, 17 * kStoryMs));
}

TEST(Story, NamesTheCollective) {
  const std::string group = "Group 0 Communication";
  EXPECT_EQ(
      CommunicationStory(group, group, "dp", 8),
      (Texts{"end to end: +15.000 ms (+500.0 %)", "  +15.000 ms exposed allreduce (+750.0 %)"}))
      << "there is no other group";
}

TEST(Story, NamesTheGroupWhereThereAreSeveral) {
  const auto run = [](TimeNs dp, TimeNs tp) {
    RankBuilder rank = KernelRun({{"MatMul", kStoryMs}});
    rank.Collective(rank.Group("Group 0 Communication", "dp"), kStoryMs, kStoryMs + dp,
                    "hcom_allReduce__1_0_1");
    rank.Collective(rank.Group("Group 1 Communication", "tp"), kStoryMs + dp, kStoryMs + dp + tp,
                    "hcom_allReduce__2_0_1");
    rank.trace.comm_groups.ranks[0] = 8;
    return rank;
  };
  EXPECT_EQ(
      Story(run(2 * kStoryMs, kStoryMs), run(17 * kStoryMs, 4 * kStoryMs)),
      (Texts{"end to end: +18.000 ms (+450.0 %)", "  +15.000 ms exposed allreduce of dp (+750.0 %)",
             "  +3.000 ms exposed allreduce of tp (+300.0 %)"}));
}

TEST(Story, SaysThatARankWaitsForOthers) {
  // 17 instead of 2 ms of collectives, of which the rank waits; the rest transfers.
  const auto run = [](TimeNs time, TimeNs waits) {
    RankBuilder rank = KernelRun({{"MatMul", kStoryMs}});
    const std::int32_t group = rank.Group("Group 0 Communication");
    rank.Collective(group, kStoryMs, kStoryMs + time, "hcom_allReduce__1_0_1");
    rank.CommTask(group, 0, "Notify_Wait", kStoryMs, kStoryMs + waits);
    return rank;
  };
  // Each line has its own number: the rank waits 12 ms longer, and 3 ms are of something else.
  EXPECT_EQ(Story(run(2 * kStoryMs, kStoryMs), run(17 * kStoryMs, 13 * kStoryMs)),
            (Texts{"end to end: +15.000 ms (+500.0 %)",
                   "  +12.000 ms waiting for other ranks in allreduce (>999 %)",
                   "  +3.000 ms idle within allreduce (+300.0 %)"}));
}

TEST(Story, NamesNoAddressWhereThereIsOneGroup) {
  EXPECT_EQ(CommunicationStory("90.91.105.46%eth0_60000_0_1736407029972691",
                               "90.91.105.40%eth0_60000_0_1736410538306028")
                .back(),
            "  +15.000 ms exposed allreduce (+750.0 %)");
}

TEST(Story, LeavesOutWhatKindOfCollectiveIsUnknown) {
  const std::string group = "Group 0 Communication";
  EXPECT_EQ(CommunicationStory(group, group, "tp", 2, "N/A").back(),
            "  +15.000 ms exposed communication (+750.0 %)");
}

TEST(Story, AKernelBesideAnotherOneTakesNoTimeOfTheStep) {
  RankBuilder base = KernelRun({{"MatMul", 4 * kStoryMs}});
  RankBuilder comparison = KernelRun({{"MatMul", 4 * kStoryMs}});
  comparison.trace.kernels.Append({.start = kStoryMs,  // beside the first one, 1 ms longer
                                   .dur = 4 * kStoryMs,
                                   .name = comparison.Text("k"),
                                   .op_type = comparison.Text("Add")});
  EXPECT_EQ(Story(base, comparison),
            (Texts{"end to end: +1000.00 us (+25.0 %)", "  +1000.00 us Add (1 kernel, new)"}));
}

TEST(Story, StepsHaveALineOfTheirOwn) {
  // The device works for 4 ms of a step of 10, then for 6 of 13.
  const auto run = [](TimeNs kernel, TimeNs step) {
    RankBuilder rank;
    const std::int32_t track = rank.Thread(1);
    rank.trace.steps.Append({.id = 1, .start = 0, .end = step});
    rank.Op("ProfilerStep#1", 0, step, track);
    rank.trace.kernels.Append(
        {.start = kStoryMs, .dur = kernel, .name = rank.Text("k"), .op_type = rank.Text("MatMul")});
    return rank;
  };
  const Texts story = Story(run(4 * kStoryMs, 10 * kStoryMs), run(6 * kStoryMs, 13 * kStoryMs));
  ASSERT_EQ(story.size(), 4u);
  EXPECT_EQ(story[0], "end to end: 4000.00 -> 6000.00 us (+50.0 %)");
  EXPECT_EQ(story[1], "step: +3000.00 us (+30.0 %)");
  EXPECT_EQ(story[2], "  +2000.00 us MatMul (1 kernel, +50.0 %)");
  EXPECT_TRUE(story[3].starts_with("  +1000.00 us free time (")) << story[3];
}

TEST(Story, OfSeveralStepsShowsTheMedianOne) {
  // Three steps of 10 ms with a kernel of 4; the last one, with a kernel of 7, takes 13. Then the
  // kernels take 2 ms more in each step, but in the last one, which is as long as before.
  const auto run = [](TimeNs more) {
    RankBuilder rank;
    const std::int32_t track = rank.Thread(1);
    TimeNs at = 0;
    for (std::int32_t id = 1; id <= 3; ++id) {
      const TimeNs kernel = id == 3 ? 7 * kStoryMs : 4 * kStoryMs + more;
      const TimeNs end = at + kernel + 6 * kStoryMs;
      rank.trace.steps.Append({.id = id, .start = at, .end = end});
      rank.Op("ProfilerStep#" + std::to_string(id), at, end, track);
      rank.trace.kernels.Append({.start = end - kernel,
                                 .dur = kernel,
                                 .name = rank.Text("k"),
                                 .op_type = rank.Text("MatMul")});
      at = end;
    }
    return rank;
  };
  const Texts story = Story(run(0), run(2 * kStoryMs));
  ASSERT_EQ(story.size(), 3u);
  EXPECT_EQ(story[1], "median of 3 steps: +2.000 ms (+20.0 %)");  // 10 to 12; all three: +4
  EXPECT_EQ(story[2], "  +2.000 ms MatMul (1 kernel, +50.0 %)");
}

TEST(Story, CountsOperatorsThatOneSideAloneHas) {
  RankBuilder base = KernelRun({{"MatMul", kStoryMs}});
  RankBuilder comparison = KernelRun({{"MatMul", kStoryMs}, {"", kStoryMs}, {"MatMul", kStoryMs}});
  for (const char* name : {"aten::mm", "aten::t", "ProfilerStep#1"}) {
    base.Op(name, 0, 1, base.Thread(1));
  }
  for (const char* name : {"aten::mm", "aten::add", "aten::add", "aten::mul", "ProfilerStep#2"}) {
    comparison.Op(name, 0, 1, comparison.Thread(1));
  }
  EXPECT_EQ(Story(base, comparison).back(),
            "  2 operators only in the comparison, 1 only in the base");
}

TEST(Story, HasOneUnitThatFitsTheStep) {
  const auto first = [](TimeNs base, TimeNs comparison) {
    return Story(KernelRun({{"MatMul", base}}), KernelRun({{"MatMul", comparison}})).front();
  };
  EXPECT_EQ(first(1000, 1250), "end to end: +0.25 us (+25.0 %)");
  EXPECT_EQ(first(100 * kStoryMs, 101 * kStoryMs), "end to end: +1.000 ms (+1.0 %)");
  EXPECT_EQ(first(2000 * kStoryMs, 1990 * kStoryMs), "end to end: -10.00 ms (-0.5 %)");
  EXPECT_EQ(first(100'000 * kStoryMs, 101'000 * kStoryMs), "end to end: +1.000 s (+1.0 %)");
}

TEST(Story, ShortensLongNamesInTheMiddle) {
  const std::string arguments = "(int, " + std::string(1500, 'x') + ")";
  const std::string name = "at::native::" + std::string(200, 'a') + "<float, 4>";
  const auto run = [&](TimeNs time) {
    return KernelRun({{"void " + name + arguments, time}}, DeviceKind::kGpu);
  };
  const RankBuilder base = run(20 * kStoryMs), comparison = run(30 * kStoryMs);
  const std::string line = Story(base, comparison).back();
  EXPECT_TRUE(line.starts_with("  +10.000 ms at::native::aaa")) << line;
  EXPECT_TRUE(line.ends_with("aaa<float, 4> (1 kernel, +50.0 %)")) << line;
  CompareOptions wide;
  wide.screen_width = 120;
  for (const CompareOptions& options : {CompareOptions(), wide}) {
    EXPECT_EQ(CountCharacters(Story(base, comparison, options).back()), options.screen_width);
  }
}

TEST(Story, SaysThatNothingChanged) {
  const RankBuilder rank = KernelRun({{"MatMul", kStoryMs}});
  EXPECT_EQ(Story(rank, rank), Texts{"end to end: no change"});
}

TEST(Story, IsSilentWhereADeviceDidNothing) {
  EXPECT_TRUE(Story(KernelRun({}), KernelRun({{"MatMul", kStoryMs}})).empty());
}

}  // namespace
}  // namespace mpa

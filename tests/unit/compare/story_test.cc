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
                   "  -1.000 ms free time of the device (-20.0 %)"}));
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
             "  -1.000 ms free time of the device (-20.0 %)"}));
}

TEST(Story, NamesFamiliesAndWhatIsWithin) {
  // Vector kernels grow by 20 x 1 ms, the one cube kernel by 10 ms.
  std::vector<TimedKernel> base = ManyKernels(20, kStoryMs, "AI_VECTOR_CORE");
  base.push_back({"Big", 10 * kStoryMs, "AI_CORE"});
  std::vector<TimedKernel> comparison = ManyKernels(20, 2 * kStoryMs, "AI_VECTOR_CORE");
  comparison.push_back({"Big", 20 * kStoryMs, "AI_CORE"});
  EXPECT_EQ(Story(KernelRun(base), KernelRun(comparison)),
            (Texts{"end to end: +30.000 ms (+100.0 %)", "  +30.000 ms computing (+100.0 %)",
                   "    +20.000 ms Vector (20 kernels, +100.0 %)",
                   "      spread over 20 kinds of kernels, the largest is 5 %:",
                   "      +1.000 ms K0 (1 kernel, +100.0 %)",
                   "    +10.000 ms Cube: Big (1 kernel, +100.0 %)"}));
}

TEST(Story, SaysThatKernelsWithoutFamiliesAreSpread) {
  EXPECT_EQ(Story(KernelRun(ManyKernels(10, kStoryMs)), KernelRun(ManyKernels(10, 2 * kStoryMs))),
            (Texts{"end to end: +10.000 ms (+100.0 %)", "  +10.000 ms computing (+100.0 %)",
                   "    spread over 10 kinds of kernels, the largest is 10 %:",
                   "    +1.000 ms K0 (1 kernel, +100.0 %)"}));
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

TEST(Story, NamesTheCollectiveAndWhatTheGroupIsFor) {
  const std::string group = "Group 0 Communication";
  EXPECT_EQ(CommunicationStory(group, group),
            (Texts{"end to end: +15.000 ms (+500.0 %)",
                   "  +15.000 ms exposed allreduce in group 0 (+750.0 %)"}));
  EXPECT_EQ(CommunicationStory(group, group, "dp", 8).back(),
            "  +15.000 ms exposed allreduce in dp (data parallel, 8 ranks), +750.0 %");
  EXPECT_EQ(CommunicationStory(group, group, "", 8).back(),
            "  +15.000 ms exposed allreduce in group of 8 ranks (+750.0 %)");
  EXPECT_EQ(CommunicationStory(group, group, "embd").back(),
            "  +15.000 ms exposed allreduce in embd (+750.0 %)");
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
  EXPECT_EQ(Story(run(2 * kStoryMs, kStoryMs), run(17 * kStoryMs, 13 * kStoryMs)).back(),
            "  +15.000 ms waiting in allreduce of group 0 (+750.0 %)");  // 12 of 15 ms
  EXPECT_EQ(Story(run(2 * kStoryMs, kStoryMs), run(17 * kStoryMs, 12 * kStoryMs)).back(),
            "  +15.000 ms exposed allreduce in group 0 (+750.0 %)");
}

TEST(Story, NamesNoAddressWhereThereIsOneGroup) {
  EXPECT_EQ(CommunicationStory("90.91.105.46%eth0_60000_0_1736407029972691",
                               "90.91.105.40%eth0_60000_0_1736410538306028")
                .back(),
            "  +15.000 ms exposed allreduce in the only group (+750.0 %)");
}

TEST(Story, LeavesOutWhatKindOfCollectiveIsUnknown) {
  const std::string group = "Group 0 Communication";
  EXPECT_EQ(CommunicationStory(group, group, "tp", 2, "N/A").back(),
            "  +15.000 ms exposed communication in tp (tensor parallel, 2 ranks), +750.0 %");
}

TEST(Story, TellsWhatOverlapTakesOffTheSum) {
  RankBuilder base = KernelRun({{"MatMul", 4 * kStoryMs}});
  RankBuilder comparison = KernelRun({{"MatMul", 4 * kStoryMs}});
  comparison.trace.kernels.Append({.start = kStoryMs,  // beside the first one
                                   .dur = 2 * kStoryMs,
                                   .name = comparison.Text("k"),
                                   .op_type = comparison.Text("Add")});
  EXPECT_EQ(Story(base, comparison),
            (Texts{"end to end: +0.00 us (0.0 %)", "  +2000.00 us Add (1 kernel, new)",
                   "  -2000.00 us kernels that ran at the same time as others"}));
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

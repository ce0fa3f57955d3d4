// SPDX-License-Identifier: Apache-2.0
// What the host waits for and does between operators. The gains are worked out by hand.
#include <gtest/gtest.h>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {
namespace {

// A step reads five numbers: the host takes 1 ms for each, the copy 10 us.
MPA_REFUTES(HostCauses, NumbersThatAreReadAreNotCopied, "host.checkpoint");
TEST(HostCauses, NumbersThatAreReadAreNotCopied) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 10 * kMs);
    for (int i = 0; i < 5; ++i) {
      step.Host(TimeCategory::kScalarSync, kMs)
          .Kernel("MEMCPY_ASYNC", 10 * kUs, TimeCategory::kCopyOut);
      step.Part().graph.nodes.back().kind = NodeKind::kCopy;
    }
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "host.sync");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 5 * kMs + 3 * 10 * kUs) << "the last two of a step are usual";
}

// The copies start 10 us after the device is free for them.
TEST(HostCauses, WhatIsNotCopiedNeedNotStart) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 10 * kMs);
    for (int i = 0; i < 5; ++i) {
      const std::uint32_t before = step.Host(TimeCategory::kScalarSync, kMs).Last();
      step.Host(TimeCategory::kDispatchOp, 10 * kUs)
          .Kernel("MEMCPY_ASYNC", 10 * kUs, TimeCategory::kCopyOut);
      step.Part().graph.nodes.back().kind = NodeKind::kCopy;
      LetWaitFor(before, step.Part().graph.edges.back());
    }
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "host.sync");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 5 * kMs + 3 * (10 + 10) * kUs) << "the last two of a step are usual";
}

// A step has five calls that wait for the device, which has nothing to do: each takes 1 ms of its
// own.
TEST(HostCauses, ACallThatNeedNotWaitIsNotMade) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 5; ++i) {
      const std::uint32_t before = step.Last();
      const auto edge = static_cast<std::uint32_t>(step.Part().graph.edges.size());
      step.Host(TimeCategory::kScalarSync, kMs);
      RankDiagnosis& part_of = step.Part();
      part_of.shares.pop_back();
      part_of.graph.edges.push_back({step.Last(), before, WaitsFor::kEnd, 0});
      part_of.blocked.push_back({.edge = edge + 1,
                                 .category = TimeCategory::kScalarSync,
                                 .step = static_cast<std::int32_t>(part_of.steps.size()) - 1,
                                 .start = step.Now() - kMs,
                                 .dur = kMs,
                                 .own_edge = edge,
                                 .own = kMs});
    }
    step.Kernel("MatMulV3", kMs);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  EXPECT_EQ(diagnosis.step, 6 * kMs);
  const Finding* found = FindingWith(diagnosis, "host.sync");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 3 * kMs) << "the last two of a step are usual";
}

MPA_REFUTES(HostCauses, EveryLaunchWaits, "host.launch_blocking");
TEST(HostCauses, EveryLaunchWaits) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    const std::uint32_t begin = builder.Last() - 1, kernel = builder.Last();
    // The host waits for the kernel, works for a millisecond, and launches the next.
    RankDiagnosis& part = builder.Part();
    const auto edge = static_cast<std::uint32_t>(part.graph.edges.size());
    builder.Host(TimeCategory::kDispatchOp, kMs);
    LetWaitFor(begin, part.graph.edges[edge]);  // without the wait: the begin of the step
    part.graph.edges.push_back({builder.Last(), kernel, WaitsFor::kEnd, kMs});
    part.blocked.push_back({.edge = edge + 1,
                            .category = TimeCategory::kExplicitSync,
                            .step = step,
                            .start = builder.Now(),
                            .dur = kMs,
                            .behind_launch = true});
    builder.Kernel("MatMulV3", kMs);
    part.graph.edges.push_back({builder.Last(), kernel, WaitsFor::kEnd, 0});  // one stream
    part.steps.back().launches = 2;
  }
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
  EXPECT_EQ(diagnosis.step, 3 * kMs);
  const Finding* found = FindingWith(diagnosis, "host.launch_blocking");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs);
  EXPECT_EQ(MetricIn(*found, "waits_of_launches"), 0.5);
  EXPECT_EQ(FindingWith(diagnosis, "host.sync"), nullptr);
}

MPA_REFUTES(HostCauses, LaunchesThatAreHeldUp, "host.cpu_contention");
TEST(HostCauses, LaunchesThatAreHeldUp) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Host(TimeCategory::kDispatchCann, 2 * kMs).Kernel("MatMulV3", kMs);
    StepPart& of = builder.Part().steps.back();
    of.launches = 100;
    of.launch_median = 10 * kUs;
    of.launch_decile = 40 * kUs;
    of.launch_time = 2 * kMs;  // half of it beyond 100 x 10 us
  }
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
  const Finding* found = FindingWith(diagnosis, "host.cpu_contention");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs);
  EXPECT_EQ(found->confidence, Certainty::kLow);
}

TEST(HostCauses, PythonBetweenOperators) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Host(TimeCategory::kPython, 2 * kMs).Kernel("MatMulV3", 8 * kMs);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "host.python");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * kMs) << "all that it covers";
  EXPECT_EQ(found->gain_max, 2 * kMs);
}

// What the advice on a data loader says whose iterator has this name.
std::string AdviceOnLoader(const std::string& iterator) {
  const auto part = ThreeSteps([&](PartBuilder& step) {
    step.Host(TimeCategory::kDataLoader, 3 * kMs).Kernel("MatMulV3", 10 * kMs);
    step.Part().places.push_back(
        {.share = static_cast<std::uint32_t>(step.Part().shares.size() - 1),
         .name = step.NameOf(iterator),
         .count = 1,
         .time = 3 * kMs});
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "host.dataloader");
  return found == nullptr ? "" : AdviceOf(*found);
}

TEST(HostCauses, WhoLoadsDataTellsWhatToDo) {
  EXPECT_EQ(AdviceOnLoader("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
            "load in other processes (num_workers=4 or more); persistent_workers=True");
  const std::string with_workers = "use more workers (num_workers); set prefetch_factor=4 or more";
  EXPECT_EQ(AdviceOnLoader("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"),
            with_workers);
  EXPECT_EQ(AdviceOnLoader("torch/utils/data/dataloader.py(701): __next__"), with_workers);
}

// A step copies a batch and its labels; the kernels behind have these types and shapes of inputs.
struct ReadsInput {
  std::string type, types, shapes;
};
Finding CopiedFor(const std::vector<ReadsInput>& kernels) {
  const auto part = ThreeSteps([&](PartBuilder& step) {
    for (int copy = 0; copy < 2; ++copy) {
      step.Host(TimeCategory::kHostCopy, kMs)
          .Kernel("MEMCPY_ASYNC", 100 * kUs, TimeCategory::kCopyIn);
      step.Part().graph.nodes.back().kind = NodeKind::kCopy;
    }
    for (const ReadsInput& kernel : kernels) {
      step.Kernel(kernel.type, 100 * kUs, TimeCategory::kVector);
      step.Kind(kernel.type).types = step.NameOf(kernel.types);
      step.Kind(kernel.type).shapes = step.NameOf(kernel.shapes);
    }
    step.Kernel("MatMulV3", 10 * kMs);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "host.h2d");
  if (found == nullptr) ADD_FAILURE() << "no host.h2d";
  return found == nullptr ? Finding() : *found;
}

TEST(HostCauses, InputsThatAreCastRightAfterTheCopy) {
  const std::string as_it_is = "pin_memory=True; .to(device, non_blocking=True)";
  const std::string half =
      "pin_memory=True; load in half precision, then .to(device, non_blocking=True)";
  const auto advice = [](const std::vector<ReadsInput>& kernels) {
    return AdviceOf(CopiedFor(kernels));
  };
  const ReadsInput cast{"Cast", "FLOAT", "32,3,8,8"}, other{"Add", "FLOAT;FLOAT", "8;8"},
      conv{"Conv2D", "DT_BF16;DT_BF16", "32,3,8,8;64,3,3,3"};
  EXPECT_EQ(advice({cast, conv}), half);
  EXPECT_EQ(advice({cast, other, {"Conv2D", "FLOAT16;FLOAT16", "64,3,3,3;32,3,8,8"}}), half);
  EXPECT_EQ(MetricIn(CopiedFor({cast, conv}), "cast_inputs_per_step"), 1);
  EXPECT_EQ(advice({cast, {"Conv2D", "FLOAT;FLOAT", "32,3,8,8;64,3,3,3"}}), as_it_is);
  EXPECT_EQ(advice({cast, {"Conv2D", "BF16", "32,3,4,4"}}), as_it_is) << "of another tensor";
  EXPECT_EQ(advice({other, cast, conv}), as_it_is) << "of something that was computed";
  EXPECT_EQ(advice({{"Cast", "INT64", "32,3,8,8"}, conv}), as_it_is);
  EXPECT_EQ(advice({cast}), as_it_is) << "nobody reads it";
  EXPECT_EQ(advice({{"Cast", "", ""}, {"Conv2D", "", ""}}), as_it_is) << "not recorded";
  EXPECT_EQ(MetricIn(CopiedFor({cast}), "cast_inputs_per_step"), -1);
}

// Between any two of many operators lies some Python: only what is beyond that could go.
TEST(HostCauses, PythonBetweenManyOperatorsIsUsual) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 20; ++i)
      step.Host(TimeCategory::kPython, i == 7 ? 2 * kMs : 20 * kUs).Kernel("Mul", 10 * kUs);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "host.python");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * kMs - 20 * kUs);
  EXPECT_EQ(found->gain_max, 2 * kMs + 19 * 20 * kUs);
}

// Behind the last launch of a capture nothing is delayed.
TEST(HostCauses, WhatComesBehindTheLastLaunchDelaysNothing) {
  for (const TimeCategory category :
       {TimeCategory::kPython, TimeCategory::kHostIdle, TimeCategory::kExplicitSync}) {
    const auto is_found = [&](bool at_end) {
      PartBuilder builder;
      for (int step = 0; step < 3; ++step) {
        builder.Step();
        if (!at_end) builder.Host(category, 20 * kMs);
        builder.Host(TimeCategory::kDispatchOp, kUs);
        builder.Part().graph.nodes[builder.Last()].kind = NodeKind::kLaunch;
        builder.Kernel("MatMulV3", 8 * kMs);
      }
      if (at_end) builder.Host(category, 60 * kMs);
      const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
      return FindingWith(diagnosis, "host.python") != nullptr ||
             FindingWith(diagnosis, "host.unrecorded") != nullptr ||
             FindingWith(diagnosis, "host.sync") != nullptr;
    };
    EXPECT_TRUE(is_found(false)) << NameOf(category);
    EXPECT_FALSE(is_found(true)) << NameOf(category);
  }
}

// A step copies to the device for 5 ms. The host waits for that, or goes on meanwhile.
TEST(HostCauses, CopiesForWhichNoHostWaitsDoNotBlock) {
  const auto diagnose = [](bool waits) {
    return DiagnoseJob({ThreeSteps([&](PartBuilder& step) {
      step.Kernel("Memcpy", 5 * kMs, TimeCategory::kCopyIn);
      step.Part().graph.nodes.back().kind = NodeKind::kCopy;
      if (waits) step.Host(TimeCategory::kHostCopy, kMs);
      step.Kernel("MatMulV3", 10 * kMs);
    })});
  };
  EXPECT_EQ(FindingWith(diagnose(false), "host.h2d"), nullptr);
  const Diagnosis waits = diagnose(true);
  const Finding* found = FindingWith(waits, "host.h2d");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 6 * kMs);
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/graph_replays.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mpa/measure/nesting.h"
#include "mpa/model/launches.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;
using Texts = std::vector<std::string>;

// A trace in which graphs are captured, each kernel by an operator "op <kernel>" of 10 ns within a
// module of its own.
class GraphTrace {
 public:
  GraphTrace() : rank_(DeviceKind::kGpu) { track_ = rank_.Thread(1); }

  GraphTrace& Graph(const Texts& kernels, const std::string& range = "", bool named = true) {
    const TimeNs begin = time_;
    rank_.Op("cudaStreamBeginCapture", begin + 1, begin + 2, track_);
    time_ += 10;
    for (const std::string& kernel : kernels) {
      rank_.Call("nn.Module: M_" + kernel, time_, time_ + 20, track_);
      rank_.Op("op " + kernel, time_ + 5, time_ + 15, track_);
      rank_.Op("aten::empty", time_ + 6, time_ + 7, track_);  // launches nothing
      rank_.Op("cudaLaunchKernel", time_ + 10, time_ + 12, track_);
      if (named) {
        rank_.trace.named_launches.Append(
            {.time = time_ + 10, .track = track_, .kernel = rank_.Text(kernel)});
      }
      time_ += 30;
    }
    rank_.Op("cudaStreamEndCapture", time_, time_ + 1, track_);
    time_ += 10;
    if (!range.empty()) rank_.Op(range, begin, time_, track_);
    time_ += 10;
    return *this;
  }

  CapturedGraphs Find() const {
    CapturedGraphs graphs = FindCapturedGraphs(rank_.trace);
    graphs.source = "capture.json";
    return graphs;
  }

  RankBuilder rank_;
  std::int32_t track_ = 0;
  TimeNs time_ = 100;
};

// A rank that launches graphs; the call takes `dur` ns, kernels of 10 ns run 1000 ns later.
class GraphRun {
 public:
  GraphRun() : rank_(DeviceKind::kGpu) { track_ = rank_.Thread(9); }

  GraphRun& Replay(const Texts& kernels, const std::string& step = "", TimeNs dur = 500,
                   const std::vector<std::int64_t>& streams = {}) {
    const auto link = static_cast<std::int64_t>(rank_.trace.launches.Size());
    if (!step.empty()) rank_.Op(step, time_ - 1, time_ + dur + 1, track_);
    rank_.Op("cudaGraphLaunch", time_, time_ + dur, track_);
    rank_.Launch(link, time_, track_);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const TimeNs start = time_ + 1000 + 20 * static_cast<TimeNs>(i);
      rank_.trace.kernels.Append({.start = start,
                                  .dur = 10,
                                  .name = rank_.Text(kernels[i]),
                                  .stream = streams.empty() ? 7 : streams[i],
                                  .link = link});
    }
    time_ += 10'000;
    return *this;
  }

  // "kernel: operator within operator", the innermost first, of every kernel in order.
  Texts OperatorsOfKernels() const {
    const RankTrace& trace = rank_.trace;
    const LaunchIndex launches(trace);
    const Nesting ops(OpSpans(trace));
    const Nesting calls(SpansOf(trace.python_calls));
    Texts lines;
    for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
      std::string line = std::string(trace.strings.View(trace.kernels.name[i])) + ":";
      const std::size_t launch = launches.Find(trace.kernels.link[i]).value();
      const std::int32_t track = trace.launches.host_track[launch];
      const TimeNs time = trace.launches.host_time[launch];
      for (auto op = ops.Find(track, time); op >= 0; op = ops.Parent(static_cast<std::size_t>(op)))
        line += fmt::format(" {}",
                            trace.strings.View(trace.host_ops.name[static_cast<std::size_t>(op)]));
      for (auto call = calls.Find(track, time); call >= 0;
           call = calls.Parent(static_cast<std::size_t>(call)))
        line += fmt::format(
            " {}", trace.strings.View(trace.python_calls.name[static_cast<std::size_t>(call)]));
      lines.push_back(line);
    }
    return lines;
  }

  RankBuilder rank_;
  std::int32_t track_ = 0;
  TimeNs time_ = 1'000'000;
};

std::string Explained(const std::string& kernel) {
  return fmt::format("{0}: cudaLaunchKernel op {0} cudaGraphLaunch nn.Module: M_{0}", kernel);
}

TEST(GraphReplays, KernelsGetTheOperatorsAndModulesOfTheirPlace) {
  GraphRun run;
  run.Replay({"a", "b", "a"}).Replay({"a", "b", "a"});
  GraphExplainer explainer(run.rank_.trace);
  ASSERT_EQ(explainer.Replays().size(), 2u);
  explainer.Add(GraphTrace().Graph({"a", "b", "a"}, "capture_32_FULL").Find());
  explainer.Explain();
  EXPECT_EQ(run.OperatorsOfKernels(), (Texts{Explained("a"), Explained("b"), Explained("a"),
                                             Explained("a"), Explained("b"), Explained("a")}));
  const GraphReplays& replays = run.rank_.trace.graph_replays;
  ASSERT_EQ(replays.Size(), 2u);
  EXPECT_EQ(run.rank_.trace.strings.View(replays.graph[1]), "capture_32_FULL");
  EXPECT_EQ(run.rank_.trace.strings.View(replays.source[1]), "capture.json");
  EXPECT_EQ(replays.kernels[1], 3);
  EXPECT_EQ(replays.matched[1], 3);
  // Only what launched comes over: two graphs of three operators with their calls.
  EXPECT_EQ(std::ranges::count(run.rank_.trace.host_ops.replayed, 1), 2 * 3 * 2);
  for (std::size_t i = 0; i < run.rank_.trace.host_ops.Size(); ++i) {
    if (run.rank_.trace.host_ops.replayed[i] == 0) continue;
    const TimeNs start = run.rank_.trace.host_ops.start[i] % 10'000;
    EXPECT_GT(start, 0);
    EXPECT_LT(start + run.rank_.trace.host_ops.dur[i], 500);
  }
}

TEST(GraphReplays, LaunchesKnowTheirReplay) {
  GraphRun run;
  run.Replay({"a", "b"}).Replay({"a"});
  GraphExplainer explainer(run.rank_.trace);
  explainer.Add(GraphTrace().Graph({"a", "b"}).Graph({"a"}).Find());
  explainer.Explain();
  const LaunchIndex launches(run.rank_.trace);
  std::vector<std::int32_t> of_kernels;
  for (const std::int64_t link : run.rank_.trace.kernels.link)
    of_kernels.push_back(run.rank_.trace.launches.replay[launches.Find(link).value()]);
  EXPECT_EQ(of_kernels, (std::vector<std::int32_t>{0, 0, 1}));
}

TEST(GraphReplays, ACallOfFewNanosecondsKeepsTheOrder) {
  GraphRun run;
  run.Replay({"a", "b", "a"}, "", 11);  // room for 9: as many as modules, operators and calls begin
  GraphExplainer explainer(run.rank_.trace);
  explainer.Add(GraphTrace().Graph({"a", "b", "a"}).Find());
  explainer.Explain();
  EXPECT_EQ(run.OperatorsOfKernels(), (Texts{Explained("a"), Explained("b"), Explained("a")}));
}

TEST(GraphReplays, ACallThatIsTooShortExplainsNothing) {
  GraphRun run;
  run.Replay({"a", "b", "a"}, "", 10);
  GraphExplainer explainer(run.rank_.trace);
  explainer.Add(GraphTrace().Graph({"a", "b", "a"}).Find());
  explainer.Explain();
  EXPECT_TRUE(explainer.Outcomes()[0].too_short);
  EXPECT_FALSE(explainer.Outcomes()[0].explained);
  EXPECT_EQ(run.OperatorsOfKernels(),
            (Texts{"a: cudaGraphLaunch", "b: cudaGraphLaunch", "a: cudaGraphLaunch"}));
}

TEST(GraphReplays, OneKernelInTenMayHaveAnotherNameAndKeepsTheGraphAsLauncher) {
  const Texts captured = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  Texts one = captured, two = captured;
  one[4] = "other";
  two[4] = two[5] = "other";
  GraphRun run;
  run.Replay(one).Replay(two);
  GraphExplainer explainer(run.rank_.trace);
  explainer.Add(GraphTrace().Graph(captured).Find());
  explainer.Explain();
  EXPECT_TRUE(explainer.Outcomes()[0].explained);
  EXPECT_EQ(explainer.Outcomes()[0].match->matched, 9);
  EXPECT_FALSE(explainer.Outcomes()[1].explained);
  EXPECT_EQ(explainer.Outcomes()[1].match->matched, 8);
  const Texts lines = run.OperatorsOfKernels();
  EXPECT_EQ(lines[3], Explained("d"));
  EXPECT_EQ(lines[4], "other: cudaGraphLaunch");
  EXPECT_EQ(lines[13], "d: cudaGraphLaunch");
}

TEST(GraphReplays, AGraphWithOtherCountsIsAnother) {
  GraphRun run;
  run.Replay({"a", "b", "c"});
  GraphExplainer explainer(run.rank_.trace);
  explainer.Add(GraphTrace().Graph({"a", "b", "c", "d"}).Graph({"a", "b"}).Find());
  explainer.Explain();
  ASSERT_TRUE(explainer.Outcomes()[0].match.has_value());
  EXPECT_FALSE(explainer.Outcomes()[0].explained);
  EXPECT_EQ(explainer.Outcomes()[0].match->captured, 4);  // the nearest: three are the same
}

std::string GraphOf(const GraphExplainer& explainer, std::size_t replay) {
  return explainer.Graph(explainer.Outcomes()[replay].match->graph).name;
}

// Of 20 kernels and more one launch may be missing on either side, wherever it is.
TEST(GraphReplays, OneLaunchMoreOrLessLeavesTheOthersWhereTheyAre) {
  Texts kernels;
  for (int i = 0; i < 20; ++i) kernels.push_back(fmt::format("k{}", i % 7));
  for (const std::size_t at : {std::size_t{0}, std::size_t{11}, std::size_t{20}}) {
    for (const bool in_capture : {true, false}) {
      Texts more = kernels;
      more.insert(more.begin() + static_cast<std::ptrdiff_t>(at), "extra");
      GraphRun run;
      run.Replay(in_capture ? kernels : more);
      GraphExplainer explainer(run.rank_.trace);
      explainer.Add(GraphTrace().Graph(in_capture ? more : kernels).Find());
      explainer.Explain();
      ASSERT_TRUE(explainer.Outcomes()[0].explained) << at << in_capture;
      EXPECT_EQ(explainer.Outcomes()[0].match->matched, 20);
      const Texts lines = run.OperatorsOfKernels();
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool is_extra = !in_capture && i == at;
        const std::string& kernel = in_capture ? kernels[i] : more[i];
        EXPECT_EQ(lines[i], is_extra ? "extra: cudaGraphLaunch" : Explained(kernel));
      }
    }
  }
}

TEST(GraphReplays, TwoLaunchesMoreInTwoPlacesAreAnotherGraph) {
  Texts kernels(30, "a"), more = kernels;
  more.insert(more.begin() + 10, "extra");
  Texts most = more;
  most.insert(most.begin() + 20, "extra");
  for (const Texts& captured : {most, Texts(15, "a")}) {
    GraphRun run;
    run.Replay(kernels);
    GraphExplainer explainer(run.rank_.trace);
    explainer.Add(GraphTrace().Graph(captured).Find());
    explainer.Explain();
    EXPECT_FALSE(explainer.Outcomes()[0].explained);
  }
}

TEST(GraphReplays, TheSmallestBatchThatHoldsTheTokensIsTaken) {
  GraphRun run;
  run.Replay({"a"}, "execute_3_context_0(sq0sk0)_generation_3(sq3sk9)")
      .Replay({"a"}, "execute_context_1(5)_generation_3(3)")
      .Replay({"a"}, "step[DECODE bs=1 toks=1]")
      .Replay({"a"}, "execute_9_context_0(sq0sk0)_generation_9(sq9sk9)")
      .Replay({"a"});
  GraphExplainer explainer(run.rank_.trace);
  GraphTrace capture;
  capture.Graph({"a"}, "capture_8_FULL").Graph({"a"}, "capture_4_FULL").Graph({"b"}, "capture_1_F");
  explainer.Add(capture.Find());
  explainer.Explain();
  EXPECT_EQ(GraphOf(explainer, 0), "capture_4_FULL");
  EXPECT_EQ(GraphOf(explainer, 1), "capture_8_FULL");
  EXPECT_EQ(GraphOf(explainer, 2), "capture_4_FULL");
  EXPECT_FALSE(explainer.Outcomes()[2].batch_is_unsure);
  EXPECT_TRUE(explainer.Outcomes()[3].batch_is_unsure);
  EXPECT_TRUE(explainer.Outcomes()[4].batch_is_unsure);
}

TEST(GraphReplays, PiecesOfAModelFollowEachOther) {
  GraphRun run;
  run.Replay({"a"}).Replay({"b"}).Replay({"b"}).Replay({"a"}).Replay({"b"}).Replay({"b"});
  GraphExplainer explainer(run.rank_.trace);
  GraphTrace capture;
  capture.Graph({"a"}, "capture_4_P").Graph({"b"}, "capture_4_P").Graph({"b"}, "capture_4_P");
  explainer.Add(capture.Find());
  explainer.Explain();
  std::vector<std::size_t> chosen;
  for (const auto& outcome : explainer.Outcomes()) chosen.push_back(outcome.match->graph);
  EXPECT_EQ(chosen, (std::vector<std::size_t>{0, 1, 2, 0, 1, 2}));
}

TEST(GraphReplays, KernelsOfSeveralStreamsMayOvertakeEachOther) {
  GraphRun run;
  run.Replay({"b", "a", "b", "c"}, "", 500, {8, 7, 8, 7}).Replay({"b", "a", "b", "c"});
  GraphExplainer explainer(run.rank_.trace);
  explainer.Add(GraphTrace().Graph({"a", "b", "c", "b"}).Find());
  explainer.Explain();
  EXPECT_TRUE(explainer.Outcomes()[0].explained);
  EXPECT_FALSE(explainer.Outcomes()[1].explained);
  EXPECT_EQ(run.OperatorsOfKernels()[1], Explained("a"));
}

TEST(GraphReplays, WithoutNamesTheCountDecides) {
  GraphRun run;
  run.Replay({"a", "b"}).Replay({"a"});
  GraphExplainer explainer(run.rank_.trace);
  explainer.Add(GraphTrace().Graph({"a", "b"}, "", false).Find());
  explainer.Explain();
  EXPECT_TRUE(explainer.Outcomes()[0].explained);
  EXPECT_TRUE(explainer.Outcomes()[0].match->by_count);
  EXPECT_FALSE(explainer.Outcomes()[1].explained);
  EXPECT_EQ(run.OperatorsOfKernels()[1], Explained("b"));
}

TEST(GraphReplays, NamesMayBeMangledCutOrWithoutArguments) {
  GraphRun run;
  run.Replay({"void f<int>(int*)", "_Z1gi", "h", "long_name<foo<bar", "triton_1"});
  GraphExplainer explainer(run.rank_.trace);
  explainer.Add(GraphTrace()
                    .Graph({"f<int>(int *) [clone .kd]", "g(int)", "h(float)",
                            "long_name<foo<bar>>(int)", "triton_10"})
                    .Find());
  explainer.Explain();
  EXPECT_EQ(explainer.Outcomes()[0].match->matched, 4);  // triton_10 is another kernel
}

TEST(GraphReplays, WhatRanDuringACaptureIsNotCaptured) {
  GraphTrace capture;
  capture.Graph({"a", "b"});
  RankTrace& trace = capture.rank_.trace;
  capture.rank_.Launch(5, trace.named_launches.time[0], capture.track_);
  trace.kernels.Append({.start = 1, .dur = 1, .link = 5});
  const CapturedGraphs found = capture.Find();
  ASSERT_EQ(found.graphs.size(), 1u);
  ASSERT_EQ(found.graphs[0].nodes.size(), 1u);
  EXPECT_EQ(found.strings.View(found.graphs[0].nodes[0].kernel), "b");
}

TEST(GraphReplays, NamesOfRangesTellBatchesAndTokens) {
  EXPECT_EQ(BatchOfCapture("capture_32_FULL"), 32);
  EXPECT_EQ(BatchOfCapture("capture_32"), 32);
  EXPECT_EQ(BatchOfCapture("capture_x"), -1);
  EXPECT_EQ(BatchOfCapture("recapture_3_FULL"), -1);
  EXPECT_EQ(TokensOfStep("execute_32_context_0(sq0)_generation_32(sq32)"), 32);
  EXPECT_EQ(TokensOfStep("execute_context_2(100)_generation_3(3)"), 103);
  EXPECT_EQ(TokensOfStep("execute_context_2()_generation_3(3)"), -1);
  EXPECT_EQ(TokensOfStep("step[DECODE bs=16 toks=16]"), 16);
  EXPECT_EQ(TokensOfStep("ProfilerStep#3"), -1);
}

}  // namespace
}  // namespace mpa

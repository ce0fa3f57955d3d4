// SPDX-License-Identifier: Apache-2.0
// Replays that run together, against each of them by itself, which replay_test.cc holds against
// times worked out by hand.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {
namespace {

using Sets = std::vector<std::vector<const Removal*>>;

// Two streams of 40 nodes that wait for each other here and there.
class ReplaysTest : public ::testing::Test {
 protected:
  ReplaysTest() {
    std::vector<TimeNs> end(2, 0);
    for (int i = 0; i < 80; ++i) {
      const auto stream = static_cast<std::size_t>(i % 2);
      const TimeNs start = end[stream] + Random(30), dur = Random(100);
      const ReplayGraph::Node node = graph_.Add(start, dur);
      end[stream] = start + dur;
      if (i >= 2) graph_.Wait(node, node - 2, WaitsFor::kEnd, Random(10));
      if (i >= 7 && i % 5 == 0) graph_.Wait(node, node - 7, WaitsFor::kStart, Random(10));
    }
    graph_.Finish(0);
  }

  TimeNs Random(int most) { return std::uniform_int_distribution<TimeNs>(0, most)(random_); }

  Removal RandomRemoval() {
    Removal removal;
    const auto node = [&] { return static_cast<ReplayGraph::Node>(Random(79)); };
    const auto edge = [&] {
      return static_cast<ReplayGraph::Edge>(Random(static_cast<int>(graph_.Edges()) - 1));
    };
    for (int i = 0; i < 12; ++i) {
      removal.durations.push_back({node(), Random(60)});
      removal.waits.push_back({edge(), Random(8)});
      removal.cuts.push_back(edge());
      removal.prompt.push_back(node());
    }
    return removal;
  }

  void ExpectAlike(const Replays& replays, std::size_t set,
                   const std::vector<const Removal*>& removals) {
    const std::vector<TimeNs> alone = graph_.Replay(removals);
    for (ReplayGraph::Node node = 0; node < graph_.Nodes(); ++node) {
      TimeNs dur = graph_.Duration(node);
      for (const Removal* removal : removals) {
        for (const auto& [of, less] : removal->durations) dur -= of == node ? less : 0;
      }
      EXPECT_EQ(replays.Start(set, node), alone[node]) << "set " << set << ", node " << node;
      EXPECT_EQ(replays.Duration(set, node), std::max<TimeNs>(0, dur))
          << "set " << set << ", node " << node;
    }
  }

  std::mt19937 random_{7};
  ReplayGraph graph_;
};

TEST_F(ReplaysTest, EachSetHasItsOwnRemovalsAndTheCommonOnes) {
  std::vector<Removal> removals;
  for (std::size_t i = 0; i <= Replays::kMax; ++i) removals.push_back(RandomRemoval());
  const std::vector<const Removal*> common = {&removals.back()};
  Replays replays(graph_);
  for (std::size_t count = 1; count <= Replays::kMax; ++count) {  // the room is used again
    Sets sets;
    for (std::size_t i = 0; i < count; ++i)
      sets.push_back({&removals[i], &removals[(i + 1) % Replays::kMax]});
    replays.Run(common, sets);
    for (std::size_t i = 0; i < count; ++i)
      ExpectAlike(replays, i, {common[0], sets[i][0], sets[i][1]});
  }
  replays.Run({}, Sets{{}});
  ExpectAlike(replays, 0, {});  // nothing of the runs before is left
}

TEST_F(ReplaysTest, AnyNumberOfSetsHasItsTimes) {
  ReplaySteps steps;
  steps.last = {{79, 78}};
  std::vector<Removal> removals;
  for (int i = 0; i < 11; ++i) removals.push_back(RandomRemoval());
  Sets sets;
  for (const Removal& removal : removals) sets.push_back({&removal});
  StepReplays replays(graph_, steps);
  const std::vector<TimeNs> times = replays.Times({}, sets);
  ASSERT_EQ(times.size(), sets.size());
  for (std::size_t i = 0; i < sets.size(); ++i)
    EXPECT_EQ(times[i], StepTime(graph_, steps, sets[i])) << i;
}

}  // namespace
}  // namespace mpa

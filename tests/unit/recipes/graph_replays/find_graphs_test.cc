// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recipes/graph_replays/part.h"
#include "support/rank_builder.h"

namespace mpa::recipes::graph_replays {
namespace {

// Tasks of a model, each with its number, of 10 ns each and 5 ns apart.
void RunModel(test::RankBuilder& rank, std::int64_t model, TimeNs start,
              const std::vector<std::string>& types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    const TimeNs at = start + 15 * static_cast<TimeNs>(i);
    rank.trace.kernels.Append({.start = at,
                               .dur = 10,
                               .name = rank.Text(types[i] + "_" + std::to_string(i)),
                               .op_type = rank.Text(types[i]),
                               .stream = 3});
    rank.trace.device_tasks.Append({.start = at,
                                    .dur = 10,
                                    .type = rank.Text("KERNEL_AICORE"),
                                    .stream = 3,
                                    .model = model,
                                    .number = static_cast<std::int64_t>(i)});
  }
}

TEST(GraphReplaysRecipe, AModelStartsAnewWhereATaskRunsAgain) {
  test::RankBuilder rank;
  const std::vector<std::string> kernels = {"Gather", "MatMulV3", "Add", "MatMulV3", "Add", "Cast"};
  RunModel(rank, 7, 1000, kernels);
  RunModel(rank, 7, 2000, kernels);
  const Part part = FindGraphs(rank.trace);
  ASSERT_EQ(part.graphs.size(), 1u);
  const Graph& graph = part.graphs[0];
  EXPECT_EQ(graph.name, "model 7");
  EXPECT_EQ(graph.replays, 2);
  EXPECT_EQ(graph.kernels, 6);
  EXPECT_EQ(graph.layers, 2);
  EXPECT_EQ(graph.pattern, 2);
  EXPECT_EQ(graph.median_span, 85);
  EXPECT_EQ(graph.bubbles, 2 * 5 * 5);
  EXPECT_EQ(graph.matrix, 2 * 2 * 10);
  EXPECT_EQ(graph.Span(), 2 * 85);
  ASSERT_EQ(graph.places.size(), 4u);  // before, two of the layer, after
  EXPECT_EQ(graph.places[1].part, "layer");
  EXPECT_EQ(graph.places[1].kernel, "MatMulV3");
  EXPECT_EQ(graph.places[1].kernels, 4);
  EXPECT_EQ(graph.places[1].total, 40);
  EXPECT_EQ(graph.places[1].bubble, 20);
  EXPECT_EQ(graph.places[3].part, "after");
  EXPECT_EQ(graph.places[3].position, 1);
}

TEST(GraphReplaysRecipe, IterationsTellWhereAModelStarts) {
  test::RankBuilder rank;
  RunModel(rank, 4, 1000, {"A"});
  RunModel(rank, 4, 1020, {"B"});  // the same number, in the same iteration
  RunModel(rank, 4, 2000, {"A"});
  RunModel(rank, 4, 2020, {"B"});
  rank.trace.model_iterations.Append({.start = 990, .dur = 100, .model = 4, .iteration = 1});
  rank.trace.model_iterations.Append({.start = 1990, .dur = 100, .model = 4, .iteration = 2});
  const Part part = FindGraphs(rank.trace);
  ASSERT_EQ(part.graphs.size(), 1u);
  EXPECT_EQ(part.graphs[0].replays, 2);
  EXPECT_EQ(part.graphs[0].kernels, 2);
}

TEST(GraphReplaysRecipe, OfKernelsThatOverlapTheEarlierCounts) {
  test::RankBuilder rank(DeviceKind::kGpu);
  const std::int32_t track = rank.Thread(1);
  rank.trace.graph_replays.Append({.start = 10, .dur = 5, .track = track, .kernels = 2});
  rank.trace.launches.Append({.link = 0, .host_time = 10, .host_track = track, .replay = 0});
  rank.trace.kernels.Append(
      {.start = 100, .dur = 50, .name = rank.Text("flash_fwd_kernel"), .link = 0});
  rank.trace.kernels.Append({.start = 120, .dur = 60, .name = rank.Text("relu"), .link = 0});
  rank.trace.kernels.Append({.start = 200, .dur = 20, .name = rank.Text("eager"), .link = -1});
  const Part part = FindGraphs(rank.trace);
  ASSERT_EQ(part.graphs.size(), 1u);
  EXPECT_EQ(part.graphs[0].kernels, 2);
  EXPECT_EQ(part.graphs[0].attention, 50);
  EXPECT_EQ(part.graphs[0].other, 30);
  EXPECT_EQ(part.graphs[0].bubbles, 0);
}

}  // namespace
}  // namespace mpa::recipes::graph_replays

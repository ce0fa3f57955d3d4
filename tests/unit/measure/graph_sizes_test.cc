// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mpa/measure/serving_kernels.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;

// A step that decodes from 100 to 500 ns, which launches a model at 200 ns. Its kernels have these
// shapes.
RankTrace WithShapes(const std::vector<std::string>& shapes, std::int64_t model = 1) {
  RankBuilder rank(DeviceKind::kNpu);
  const std::int32_t track = rank.Thread(1);
  RankTrace& trace = rank.trace;
  trace.serving_marks.Append(
      {.start = 100, .dur = 400, .name = rank.Text("execute_context_0(0)_generation_24(24)")});
  trace.host_calls.Append({.start = 200,
                           .dur = 50,
                           .name = rank.Text("AscendCL@aclmdlRIExecuteAsync"),
                           .track = track});
  TimeNs time = 300;
  for (const std::string& text : shapes) {
    trace.kernels.Append({.start = time,
                          .dur = 5,
                          .name = rank.Text("MatMul"),
                          .op_type = rank.Text("MatMul"),
                          .shapes = rank.Text(text),
                          .stream = 2});
    trace.device_tasks.Append({.start = time, .dur = 5, .stream = 2, .model = model});
    time += 10;
  }
  AddGraphTokens(trace);
  return std::move(rank.trace);
}

std::int64_t TokensOf(const RankTrace& trace) { return trace.serving_marks.graph_tokens[0]; }

TEST(GraphSizes, MostKernelsBeginWithTheBatch) {
  EXPECT_EQ(TokensOf(WithShapes({"\"32,4096;4096,128\"", "32,128", "[32, 64]", "\"8,32\""})), 32);
}

TEST(GraphSizes, ShapesThatDisagreeSayNothing) {
  EXPECT_EQ(TokensOf(WithShapes({"32,4096", "8,32", "16,2"})), -1);
  EXPECT_EQ(TokensOf(WithShapes({"N/A", "", ";32"})), -1);
}

TEST(GraphSizes, KernelsOfNoGraphSayNothing) {
  EXPECT_EQ(TokensOf(WithShapes({"32,4096", "32,4096"}, -1)), -1);
}

TEST(GraphSizes, TheCaptureNamesIt) {
  RankBuilder rank(DeviceKind::kGpu);
  rank.trace.serving_marks.Append(
      {.start = 100, .dur = 400, .name = rank.Text("step[DECODE bs=24]")});
  rank.trace.graph_replays.Append({.start = 200, .graph = rank.Text("capture_32_FULL")});
  rank.trace.graph_replays.Append({.start = 600, .graph = rank.Text("capture_64_FULL")});
  AddGraphTokens(rank.trace);
  EXPECT_EQ(TokensOf(rank.trace), 32);
}

}  // namespace
}  // namespace mpa

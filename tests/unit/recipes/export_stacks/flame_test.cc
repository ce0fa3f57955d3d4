// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "recipes/export_stacks/stacks.h"

namespace mpa::recipes::export_stacks {
namespace {

// A caller of 900 ms whose 5000 functions take 0.1 ms each, and one that takes the rest.
TEST(FlameChart, SmallFramesAreOneInTheirCaller) {
  PathTreeBuilder tree;
  const std::int32_t caller = tree.Child(PathTreeBuilder::kRoot, "caller");
  tree.Add(tree.Child(caller, "long"), 400'000'000, 1);
  for (int i = 0; i < 5000; ++i)
    tree.Add(tree.Child(caller, "short" + std::to_string(i)), 100'000, 1);
  tree.Add(tree.Child(PathTreeBuilder::kRoot, "other"), 100'000'000, 1);
  const PageChart chart = FlameChart(tree.tree(), Metric::kHost, "");
  ASSERT_EQ(chart.frames.size(), 4u);
  ASSERT_EQ(chart.labels.size(), 4u);
  const auto& times = chart.series.at(0).values;
  EXPECT_DOUBLE_EQ(std::accumulate(times.begin(), times.end(), 0.0), 1000);
  EXPECT_EQ(chart.labels[chart.frames[3].label], "[frames of less than 0.1 %]");
  EXPECT_EQ(chart.frames[3].parent, 0);
  EXPECT_DOUBLE_EQ(times[3], 500);
}

// What calls only short functions is drawn when all of them together are long enough.
TEST(FlameChart, CallersOfShortFramesStay) {
  PathTreeBuilder tree;
  const std::int32_t caller = tree.Child(PathTreeBuilder::kRoot, "caller");
  for (int i = 0; i < 2000; ++i) tree.Add(tree.Child(caller, std::to_string(i)), 1, 1);
  const PageChart chart = FlameChart(tree.tree(), Metric::kHost, "");
  ASSERT_EQ(chart.frames.size(), 2u);
  EXPECT_EQ(chart.labels[chart.frames[0].label], "caller");
  EXPECT_EQ(chart.series.at(0).values[0], 0);
}

// Nothing is folded where nothing is short.
TEST(FlameChart, HasNoRestWithoutNeed) {
  PathTreeBuilder tree;
  tree.Add(tree.Child(tree.Child(PathTreeBuilder::kRoot, "a"), "b"), 5, 1);
  EXPECT_EQ(FlameChart(tree.tree(), Metric::kHost, "").labels,
            (std::vector<std::string>{"a", "b"}));
}

// Kernels, operations of communication with their categories, and copies have the tints of the
// account; the functions of the host have none.
TEST(FlameChart, WorkOfTheDeviceHasItsTint) {
  PathTreeBuilder tree;
  const std::int32_t host = tree.Child(PathTreeBuilder::kRoot, "train.py(3)");
  tree.Add(tree.Child(host, "MatMulV2"), 5, 1);
  const std::int32_t reduce = tree.Child(host, "hcom_allReduce__1");
  tree.Add(tree.Child(reduce, "[comm.wait_peer]"), 5, 1);
  tree.Add(tree.Child(reduce, "[comm.transfer]"), 5, 1);
  tree.Add(tree.Child(tree.Child(host, "MEMCPY_ASYNC"), "[copy.h2d]"), 5, 1);
  const auto tints = [&](Metric metric) {
    std::map<std::string, Tint> found;
    const PageChart chart = FlameChart(tree.tree(), metric, "");
    for (const PageFrame& frame : chart.frames) found[chart.labels[frame.label]] = frame.tint;
    return found;
  };
  const std::map<std::string, Tint> expected = {{"train.py(3)", Tint::kNone},
                                                {"MatMulV2", Tint::kCompute},
                                                {"hcom_allReduce__1", Tint::kUnsplit},
                                                {"[comm.wait_peer]", Tint::kWait},
                                                {"[comm.transfer]", Tint::kTransfer},
                                                {"MEMCPY_ASYNC", Tint::kCopy},
                                                {"[copy.h2d]", Tint::kCopy}};
  EXPECT_EQ(tints(Metric::kDevice), expected);
  for (const auto& [name, tint] : tints(Metric::kHost)) EXPECT_EQ(tint, Tint::kNone) << name;
}

}  // namespace
}  // namespace mpa::recipes::export_stacks

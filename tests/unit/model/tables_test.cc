// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/model/device_tables.h"
#include "mpa/model/rank_trace.h"

namespace mpa {
namespace {

DeviceTasks ThreeTasks() {
  DeviceTasks tasks;
  for (int i = 0; i < 3; ++i)
    tasks.Append({.start = 10 * i, .dur = i, .stream = 100 + i, .link = i});
  return tasks;
}

TEST(Table, AppendsACellToEveryColumn) {
  Kernels kernels;
  EXPECT_TRUE(kernels.Empty());
  kernels.Append({.start = 1, .dur = 2, .stream = 3, .link = 4, .step = 5, .aiv_vec = 6});
  EXPECT_EQ(kernels.Size(), 1u);
  EXPECT_EQ(kernels.start, std::vector<TimeNs>{1});
  EXPECT_EQ(kernels.dur, std::vector<TimeNs>{2});
  EXPECT_EQ(kernels.name, std::vector<StringId>{StringId::kEmpty});
  EXPECT_EQ(kernels.stream, std::vector<std::int64_t>{3});
  EXPECT_EQ(kernels.link, std::vector<std::int64_t>{4});
  EXPECT_EQ(kernels.step, std::vector<std::int32_t>{5});
  EXPECT_EQ(kernels.aic_total, std::vector<TimeNs>{-1});  // not measured
  EXPECT_EQ(kernels.aiv_vec, std::vector<TimeNs>{6});
}

TEST(Table, FiltersAllColumnsAlikeAndKeepsTheOrder) {
  DeviceTasks tasks = ThreeTasks();
  tasks.Filter([&](std::size_t i) { return tasks.start[i] != 10; });
  EXPECT_EQ(tasks.start, (std::vector<TimeNs>{0, 20}));
  EXPECT_EQ(tasks.dur, (std::vector<TimeNs>{0, 2}));
  EXPECT_EQ(tasks.stream, (std::vector<std::int64_t>{100, 102}));
  EXPECT_EQ(tasks.link, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(tasks.name.size(), 2u);
  EXPECT_EQ(tasks.type.size(), 2u);
}

TEST(Table, IsEmptyWhenNoRowIsKept) {
  DeviceTasks tasks = ThreeTasks();
  tasks.Filter([](std::size_t) { return false; });
  EXPECT_TRUE(tasks.Empty());
  EXPECT_TRUE(tasks.link.empty());
}

TEST(Table, ReordersAllColumnsAlike) {
  DeviceTasks tasks = ThreeTasks();
  tasks.Reorder({2, 0, 1});
  EXPECT_EQ(tasks.start, (std::vector<TimeNs>{20, 0, 10}));
  EXPECT_EQ(tasks.stream, (std::vector<std::int64_t>{102, 100, 101}));
}

TEST(Tables, OverlapWhenTheyShareOne) {
  EXPECT_TRUE(Intersects(Tables::kKernels | Tables::kSteps, Tables::kSteps));
  EXPECT_FALSE(Intersects(Tables::kKernels | Tables::kSteps, Tables::kHostOps));
  EXPECT_FALSE(Intersects(Tables::kNone, Tables::kKernels));
}

}  // namespace
}  // namespace mpa

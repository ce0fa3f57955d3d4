// SPDX-License-Identifier: Apache-2.0
// Links from operators to the device, in sessions made by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mpa/raw/summaries.h"
#include "raw/stages.h"

namespace mpa::raw {
namespace {

using Lines = std::vector<std::string>;

// Two steps on thread 1 with an operator each; thread 9 executes the queue.
class DeviceLinksOfQueue : public testing::Test {
 protected:
  DeviceLinksOfQueue() {
    AddOp("ProfilerStep#1", 0, 100, -1);
    AddOp("aten::add", 10, 20, 0);
    AddOp("ProfilerStep#2", 100, 200, -1);
    AddOp("aten::mul", 110, 120, 2);
    s_.steps.Append({.id = 1, .start = 0, .end = 100, .op = 0});
    s_.steps.Append({.id = 2, .start = 100, .end = 200, .op = 2});
    Queue(7, 11, 30, 1);
    Queue(8, 111, 130, 3);
  }

  void AddOp(std::string_view name, TimeNs start, TimeNs end, std::int32_t parent) {
    s_.ops.Append({{.start = start, .dur = end - start, .name = s_.strings.Intern(name)},
                   {.thread = 1, .parent = parent}});
  }

  // An enqueue at `at` on thread 1 and its execution [start, start + 10] on thread 9.
  void Queue(std::int64_t correlation, TimeNs at, TimeNs start, std::int32_t op) {
    const auto row = static_cast<std::int32_t>(s_.queue.Size());
    s_.queue.Append({.start = at,
                     .dur = 1,
                     .correlation = correlation,
                     .thread = 1,
                     .op = op,
                     .partner = row + 1});
    s_.queue.Append({.start = start,
                     .dur = 10,
                     .dequeue = true,
                     .correlation = correlation,
                     .thread = 9,
                     .partner = row});
  }

  std::int32_t Call(TimeNs start, std::int64_t thread = 9, bool launches = true) {
    s_.calls.Append({{.start = start, .dur = 2},
                     {.level = Level::kNode, .thread = thread, .launches = launches}});
    return static_cast<std::int32_t>(s_.calls.Size()) - 1;
  }

  void Task(TimeNs start, TimeNs end, std::int32_t call, bool group = false,
            TaskKind kind = TaskKind::kOther, std::int32_t detail = -1) {
    s_.tasks.Append({{.start = start, .dur = end - start},
                     {.end = end, .call = call, .kind = kind, .detail = detail, .group = group}});
  }

  void Collective(TimeNs start, TimeNs end, std::int32_t call) {
    s_.collectives.Append(
        {.start = start, .end = end, .dur = static_cast<double>(end - start), .call = call});
  }

  /// "operator -> task|collective <row> by <correlation>"
  Lines Links() {
    LinkDeviceWork(s_);
    Lines lines;
    const DeviceLinks& links = s_.links;
    for (std::size_t i = 0; i < links.Size(); ++i) {
      lines.push_back(fmt::format("{} -> {} {} by {}", s_.strings.View(s_.ops.name[links.op[i]]),
                                  links.task[i] >= 0 ? "task" : "collective",
                                  std::max(links.task[i], links.collective[i]),
                                  links.correlation[i]));
    }
    return lines;
  }

  Session s_;
};

TEST_F(DeviceLinksOfQueue, GoFromTheCallThroughTheQueueToTheOperator) {
  Call(30);   // at the very begin of the execution
  Call(50);   // outside of any execution
  Call(140);  // at its very end
  Task(60, 70, 0);
  Task(80, 90, 1);
  Task(150, 160, 2);
  EXPECT_EQ(Links(), (Lines{"aten::add -> task 0 by 7", "aten::mul -> task 2 by 8"}));
}

TEST_F(DeviceLinksOfQueue, CollectivesAreLinkedAsAWhole) {
  const std::int32_t call = Call(31);
  Task(60, 70, call, false, TaskKind::kCollectivePart, 0);
  Task(62, 90, call, true);
  Collective(60, 90, call);
  EXPECT_EQ(Links(), Lines{"aten::add -> collective 0 by 7"});
}

TEST_F(DeviceLinksOfQueue, WorkWithoutCallAndCallsThatLaunchNothingHaveNone) {
  Call(31, 9, false);
  Task(60, 70, 0);
  Task(80, 90, -1);
  EXPECT_EQ(Links(), Lines());
}

TEST_F(DeviceLinksOfQueue, CallOnAThreadThatExecutesNothingIsMatchedByTime) {
  Call(31, 5);
  Task(60, 70, 0);
  EXPECT_EQ(Links(), Lines{"aten::add -> task 0 by 7"});
}

TEST_F(DeviceLinksOfQueue, StepLastsFromItsFirstToItsLastLaunchAtLeastToItsEndOnTheHost) {
  Queue(9, 112, 150, 3);
  Call(30);
  Call(130);
  Call(131);
  Call(150);
  Task(60, 70, 0);
  // The second launch of step 2 runs beside the first one and before it: what counts is the order
  // of the launches.
  Task(205, 215, 3);
  Task(210, 250, 1);
  Task(220, 260, 2);
  Links();
  EXPECT_EQ(s_.steps.device_start, (std::vector<TimeNs>{60, 210}));
  EXPECT_EQ(s_.steps.device_end, (std::vector<TimeNs>{100, 215}));
}

TEST_F(DeviceLinksOfQueue, StepWithoutDeviceWorkHasNoSpan) {
  Call(30);
  Task(60, 70, 0);
  Links();
  EXPECT_EQ(s_.steps.device_start[1], -1);
  EXPECT_EQ(s_.steps.device_end[1], -1);
}

TEST_F(DeviceLinksOfQueue, OperatorTimesSumTheWorkOfTheOperatorAndOfThoseInside) {
  Call(30);
  Call(31);
  Call(32);
  s_.kernels.Append({{.core = s_.strings.Intern("AI_CORE")}, {.task = 0}});
  s_.kernels.Append({{.core = s_.strings.Intern("AI_VECTOR_CORE")}, {.task = 1}});
  Task(60, 70, 0, false, TaskKind::kKernel, 0);
  Task(70, 75, 1, false, TaskKind::kKernel, 1);
  Collective(80, 87, 2);
  Links();
  const OperatorTimes times = SumOperatorTimes(s_);
  EXPECT_EQ(times.host_total, (std::vector<TimeNs>{100, 10, 100, 10}));
  EXPECT_EQ(times.host_self, (std::vector<TimeNs>{90, 10, 90, 10}));
  EXPECT_EQ(times.device_self, (std::vector<double>{0, 22, 0, 0}));
  EXPECT_EQ(times.device_total, (std::vector<double>{22, 22, 0, 0}));
  EXPECT_EQ(times.cube_self, (std::vector<double>{0, 10, 0, 0}));
  EXPECT_EQ(times.cube_total, (std::vector<double>{10, 10, 0, 0}));
}

TEST_F(DeviceLinksOfQueue, CollectiveOfPlainTasksCountsWithItsFirstCopy) {
  const std::int32_t call = Call(30);
  const StringId copy = s_.strings.Intern("MEMCPY_ASYNC");
  for (const TimeNs start : {60, 70}) {
    Task(start, start + 4, call, false, TaskKind::kCollectivePart,
         static_cast<std::int32_t>(s_.parts.Size()));
    s_.tasks.host_type.back() = copy;
    s_.parts.Append({.task = static_cast<std::int32_t>(s_.tasks.Size()) - 1, .collective = 0});
  }
  Collective(60, 90, call);
  Links();
  EXPECT_EQ(SumOperatorTimes(s_).device_self[1], 4);
  s_.info.devices.emplace_back().generation = Generation::kHwts;
  EXPECT_EQ(SumOperatorTimes(s_).device_self[1], 34);  // there both count
}

TEST_F(DeviceLinksOfQueue, WithoutQueueTheInnermostOperatorAroundTheCallLaunched) {
  s_.queue = {};
  Call(15, 3);   // inside aten::add, on another thread
  Call(20, 3);   // where aten::add ends
  Call(300, 3);  // after everything
  Task(60, 70, 0);
  Task(80, 120, 1);
  Task(310, 320, 2);
  EXPECT_EQ(Links(), (Lines{"ProfilerStep#1 -> task 1 by -1", "aten::add -> task 0 by -1"}));
  EXPECT_EQ(s_.steps.device_start[0], 60);
  EXPECT_EQ(s_.steps.device_end[0], 120);
}

}  // namespace
}  // namespace mpa::raw

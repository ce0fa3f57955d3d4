// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/raw/session.h"
#include "raw/stages.h"

namespace mpa::raw {
namespace {

void AddTask(Session& session, std::string_view host_type, TimeNs start, TimeNs end,
             TaskKind kind = TaskKind::kOther, std::int32_t detail = -1) {
  session.tasks.Append({{.start = start},
                        {.end = end,
                         .host_type = session.strings.Intern(host_type),
                         .kind = kind,
                         .detail = detail}});
}

void AddKernel(Session& session, std::string_view name, TimeNs start, TimeNs end) {
  session.kernels.Append({{.name = session.strings.Intern(name)},
                          {.task = static_cast<std::int32_t>(session.tasks.Size())}});
  AddTask(session, "KERNEL_AIVEC", start, end, TaskKind::kKernel,
          static_cast<std::int32_t>(session.kernels.Size()) - 1);
}

std::vector<std::pair<TimeNs, TimeNs>> Found(const Session& session, Activity activity) {
  std::vector<std::pair<TimeNs, TimeNs>> found;
  for (std::size_t i = 0; i < session.overlaps.Size(); ++i) {
    if (session.overlaps.activity[i] != activity) continue;
    found.emplace_back(session.overlaps.start[i],
                       session.overlaps.start[i] + session.overlaps.dur[i]);
  }
  return found;
}

using Times = std::vector<std::pair<TimeNs, TimeNs>>;

TEST(FindActivities, KernelsThatTouchAreOneIntervalOfComputing) {
  Session session;
  AddKernel(session, "Add", 100, 200);
  AddKernel(session, "Mul", 150, 300);
  AddKernel(session, "Sub", 300, 310);
  AddKernel(session, "Div", 320, 330);
  FindActivities(session);
  EXPECT_EQ(Found(session, Activity::kComputing), (Times{{100, 310}, {320, 330}}));
  EXPECT_EQ(Found(session, Activity::kFree), (Times{{310, 320}}));
}

TEST(FindActivities, CommunicationIsExposedWhereNothingIsComputed) {
  Session session;
  AddKernel(session, "Add", 100, 200);
  AddKernel(session, "Mul", 250, 300);
  session.collectives.Append({.start = 150, .end = 400});
  session.collectives.Append({.start = 260, .end = 280});
  FindActivities(session);
  EXPECT_EQ(Found(session, Activity::kCommunication), (Times{{150, 400}}));
  EXPECT_EQ(Found(session, Activity::kExposedCommunication), (Times{{200, 250}, {300, 400}}));
  EXPECT_EQ(Found(session, Activity::kFree), Times{});
}

TEST(FindActivities, CopiesBoundTheFreeTimeAndTheSwitchesOfTheProfilerDoNot) {
  Session session;
  AddTask(session, "PROFILING_ENABLE", 10, 20);
  AddTask(session, "MEMCPY_ASYNC", 50, 60);
  AddKernel(session, "Add", 100, 200);
  AddTask(session, "EVENT_RECORD", 250, 260);
  AddTask(session, "PROFILING_DISABLE", 900, 910);
  FindActivities(session);
  EXPECT_EQ(Found(session, Activity::kFree), (Times{{50, 100}, {200, 260}}));
}

TEST(FindActivities, KernelsOfCollectivesDoNotCompute) {
  Session session;
  AddKernel(session, "allReduceAicpuKernel", 100, 200);
  AddKernel(session, "allReduceAivKernel", 200, 300);
  session.collectives.Append({.start = 100, .end = 300});
  FindActivities(session);
  EXPECT_EQ(Found(session, Activity::kComputing), Times{});
  EXPECT_EQ(Found(session, Activity::kExposedCommunication), (Times{{100, 300}}));
}

TEST(FindActivities, DevicesAreApart) {
  Session session;
  AddKernel(session, "Add", 100, 200);
  AddKernel(session, "Mul", 300, 400);
  session.tasks.device[1] = 1;
  session.collectives.Append({.start = 100, .end = 200, .device = 1});
  FindActivities(session);
  EXPECT_EQ(Found(session, Activity::kFree), (Times{{200, 300}}));
  EXPECT_EQ(Found(session, Activity::kExposedCommunication), (Times{{100, 200}}));
}

TEST(FindActivities, NothingComesOfNothing) {
  Session session;
  FindActivities(session);
  EXPECT_TRUE(session.overlaps.Empty());
}

}  // namespace
}  // namespace mpa::raw

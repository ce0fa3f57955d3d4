// SPDX-License-Identifier: Apache-2.0
#include "mpa/raw/summaries.h"

#include <gtest/gtest.h>

namespace mpa::raw {
namespace {

// Step 4 launches what runs from 100 to 200, step 5 what runs from 250 to 300.
class StepTimesOfSession : public testing::Test {
 protected:
  StepTimesOfSession() {
    s_.ops.Append({{.start = 10, .dur = 230}, {}});
    s_.steps.Append({.id = 4, .start = 20, .end = 120, .device_start = 100, .device_end = 200});
    s_.steps.Append({.id = 5, .start = 120, .end = 240, .device_start = 250, .device_end = 300});
  }

  void Act(mpa::Activity activity, TimeNs start, TimeNs end) {
    s_.overlaps.Append({.start = start, .dur = end - start, .activity = activity, .device = 3});
  }

  void Kernel(TimeNs start, TimeNs end, TimeNs called) {
    s_.calls.Append({{.start = called, .dur = 1}, {.level = Level::kNode}});
    s_.tasks.Append({{.start = start},
                     {.end = end,
                      .device = 3,
                      .call = static_cast<std::int32_t>(s_.calls.Size()) - 1,
                      .kind = TaskKind::kKernel}});
    s_.kernels.Append({{}, {.task = static_cast<std::int32_t>(s_.tasks.Size()) - 1}});
  }

  void Collective(std::string_view name, TimeNs start, TimeNs end) {
    s_.collectives.Append({.start = start,
                           .end = end,
                           .dur = static_cast<double>(end - start),
                           .name = s_.strings.Intern(name),
                           .device = 3});
  }

  Session s_;
};

TEST_F(StepTimesOfSession, TextSumsActivitiesThatBeginInTheStep) {
  Act(mpa::Activity::kComputing, 100, 130);
  Act(mpa::Activity::kCommunication, 120, 160);
  Act(mpa::Activity::kExposedCommunication, 130, 160);
  Act(mpa::Activity::kFree, 160, 250);  // reaches into the next step and counts in full
  Act(mpa::Activity::kComputing, 250, 290);
  Collective("hcom_receive__1_0_1", 120, 132);
  const std::vector<StepTime> rows = StepTimes(s_, StepTimeForm::kText);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].device, 3);
  EXPECT_EQ(rows[0].step, 4);
  EXPECT_EQ(rows[0].computing, 30);
  EXPECT_EQ(rows[0].communication, 40);
  EXPECT_EQ(rows[0].exposed_communication, 30);
  EXPECT_EQ(rows[0].overlapped, 10);
  EXPECT_EQ(rows[0].free, 90);
  EXPECT_EQ(rows[0].bubble, 12);
  EXPECT_EQ(rows[0].exposed_without_receive, 18);
  EXPECT_EQ(rows[0].stage, 250 - 100 - 12);
  EXPECT_EQ(rows[0].preparing, 80);
  EXPECT_EQ(rows[1].step, 5);
  EXPECT_EQ(rows[1].computing, 40);
  EXPECT_EQ(rows[1].stage, 40);
  EXPECT_EQ(rows[1].preparing, 130);
}

TEST_F(StepTimesOfSession, DatabaseSumsOperationsOfTheCallsInsideTheStep) {
  Kernel(100, 130, 30);
  Kernel(125, 140, 40);
  Collective("hcom_allReduce__1_0_1", 135, 160);
  Kernel(170, 180, 50);
  Kernel(260, 270, 130);
  const std::vector<StepTime> rows = StepTimes(s_, StepTimeForm::kDatabase);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].step, 4);
  EXPECT_EQ(rows[0].computing, 50);              // [100, 140] and [170, 180]
  EXPECT_EQ(rows[0].communication, 25);          // [135, 160]
  EXPECT_EQ(rows[0].exposed_communication, 20);  // [140, 160]
  EXPECT_EQ(rows[0].overlapped, 5);
  EXPECT_EQ(rows[0].free, 10);  // [160, 170]; what follows counts for no step
  EXPECT_EQ(rows[0].stage, 80);
  EXPECT_EQ(rows[0].preparing, 80);
  EXPECT_EQ(rows[1].step, 5);
  EXPECT_EQ(rows[1].computing, 10);
  EXPECT_EQ(rows[1].free, 0);
}

TEST_F(StepTimesOfSession, CaptureWithoutStepsIsOneRow) {
  s_.steps = {};
  Act(mpa::Activity::kComputing, 100, 130);
  Act(mpa::Activity::kFree, 130, 150);
  const std::vector<StepTime> rows = StepTimes(s_, StepTimeForm::kText);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].step, -1);
  EXPECT_EQ(rows[0].computing, 30);
  EXPECT_EQ(rows[0].stage, 50);
  EXPECT_EQ(rows[0].preparing, 90);  // since the first operator
}

TEST_F(StepTimesOfSession, StepInWhichNothingHappensHasNoRow) {
  Act(mpa::Activity::kComputing, 100, 130);
  EXPECT_EQ(StepTimes(s_, StepTimeForm::kText).size(), 1U);
}

}  // namespace
}  // namespace mpa::raw

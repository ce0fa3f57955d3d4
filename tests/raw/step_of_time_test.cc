// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/raw/session.h"

namespace mpa::raw {
namespace {

TEST(StepOfDeviceTime, IsTheStepWhoseDeviceSpanHoldsIt) {
  Session session;
  session.steps.Append({.id = 5, .start = 0, .end = 90, .device_start = 10, .device_end = 100});
  session.steps.Append({.id = 6, .start = 100, .end = 190, .device_start = 110, .device_end = 200});
  EXPECT_EQ(StepOfDeviceTime(session, 10), 0);
  EXPECT_EQ(StepOfDeviceTime(session, 150), 1);
  EXPECT_EQ(StepOfDeviceTime(session, 105), -1);
}

}  // namespace
}  // namespace mpa::raw

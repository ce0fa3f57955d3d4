// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/raw/step_ranges.h"

namespace mpa::raw {
namespace {

TEST(StepsOnDevice, IsTheStepWhoseSpanHoldsTheTime) {
  Steps steps;
  steps.Append({.id = 5, .start = 0, .end = 90, .device_start = 10, .device_end = 100});
  steps.Append({.id = 6, .start = 100, .end = 190, .device_start = 110, .device_end = 200});
  const StepRanges on_device = StepsOnDevice(steps);
  EXPECT_EQ(on_device.At(10), 0);
  EXPECT_EQ(on_device.At(100), 0);
  EXPECT_EQ(on_device.At(105), -1);
  EXPECT_EQ(on_device.At(150), 1);
  EXPECT_EQ(on_device.At(201), -1);
}

TEST(StepsOnDevice, LeavesOutStepsWithoutDeviceWork) {
  Steps steps;
  steps.Append({.id = 5, .start = 0, .end = 90});
  steps.Append({.id = 6, .start = 100, .end = 190, .device_start = 110, .device_end = 200});
  EXPECT_EQ(StepsOnDevice(steps).IdAt(50), -1);
  EXPECT_EQ(StepsOnDevice(steps).IdAt(150), 6);
}

TEST(StepsOnDevice, IsTheFirstOfStepsThatOverlap) {
  Steps steps;
  steps.Append({.id = 5, .start = 0, .end = 90, .device_start = 10, .device_end = 160});
  steps.Append({.id = 6, .start = 100, .end = 190, .device_start = 110, .device_end = 150});
  steps.Append({.id = 7, .start = 200, .end = 290, .device_start = 155, .device_end = 300});
  const StepRanges on_device = StepsOnDevice(steps);
  EXPECT_EQ(on_device.At(120), 0);
  EXPECT_EQ(on_device.At(158), 0);
  EXPECT_EQ(on_device.At(170), 2);
}

}  // namespace
}  // namespace mpa::raw

// SPDX-License-Identifier: Apache-2.0
// Which device tasks do something for who launched them.
#include "mpa/model/device_tasks.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>
#include <tuple>
#include <utility>

namespace mpa {
namespace {

using Tasks = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// Names and types as exporters write them: older ones have the device's type of a wait, current
// ones the runtime's.
TEST(DeviceTasks, WaitsAndMarksAreNoWork) {
  for (const auto& [name, type] : Tasks{{"EVENT_WAIT", "EVENT_WAIT_SQE"},
                                        {"EVENT_WAIT", "EVENT_WAIT"},
                                        {"EVENT_RECORD", "PLACE_HOLDER_SQE"},
                                        {"EVENT_RECORD", "EVENT_RECORD"},
                                        {"NOTIFY_WAIT", "NOTIFY_WAIT_SQE"},
                                        {"NOTIFY_RECORD", "NOTIFY_RECORD"},
                                        {"Notify Wait", "Notify Wait"},
                                        {"Write Value", "Write Value"},
                                        {"CAPTURE_WAIT", "CAPTURE_WAIT"},
                                        {"PROFILING_ENABLE", "PROFILING_ENABLE"}}) {
    EXPECT_FALSE(IsWork(name, type)) << name << ", " << type;
  }
}

TEST(DeviceTasks, KernelsAndCopiesAreWork) {
  for (const auto& [name, type] : Tasks{{"aclnnAdd_AddAiCore_Add", "AI_VECTOR_CORE"},
                                        {"aclnnDropoutGenMaskV2", "DSA_SQE"},
                                        {"aclnnDropoutGenMaskV2", "STARS_COMMON"},
                                        {"MEMCPY_ASYNC", "SDMA_SQE"},
                                        {"MEMCPY_ASYNC", "PCIE_DMA_SQE"},
                                        {"MEMCPY_ASYNC", "MEMCPY_ASYNC"},
                                        {"SDMA", "SDMA"},
                                        {"Memcpy HtoD", "gpu_memcpy"}}) {
    EXPECT_TRUE(IsWork(name, type)) << name << ", " << type;
  }
}

TEST(DeviceTasks, WithoutANameAreNoWork) { EXPECT_FALSE(IsWork("", "MEMCPY_ASYNC")); }

TEST(DeviceTasks, DirectionsOfCopiesHaveANumberAndAName) {
  using enum CopyDirection;
  for (const auto& [number, name, direction] :
       {std::tuple{0, "host to host", kUnknown}, std::tuple{1, "host to device", kToDevice},
        std::tuple{2, "device to host", kToHost}, std::tuple{3, "device to device", kWithinDevice},
        std::tuple{4, "managed memory", kUnknown},
        std::tuple{5, "addr device to device", kWithinDevice},
        std::tuple{6, "host to device ex", kToDevice}, std::tuple{7, "device to host ex", kToHost},
        std::tuple{65535, "other", kUnknown}}) {
    EXPECT_EQ(CopyDirectionOf(number), direction) << name;
    EXPECT_EQ(CopyDirectionNamed(name), direction) << name;
  }
}

}  // namespace
}  // namespace mpa

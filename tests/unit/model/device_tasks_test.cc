// SPDX-License-Identifier: Apache-2.0
// Which device tasks do something for who launched them.
#include "mpa/model/device_tasks.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>
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

}  // namespace
}  // namespace mpa

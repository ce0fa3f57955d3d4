// SPDX-License-Identifier: Apache-2.0
// info.json of a device, with numbers as numbers and as texts.
#include <gtest/gtest.h>

#include "support/files.h"
#include "support/reading.h"

namespace mpa {
namespace {

using Numbers = std::vector<std::int64_t>;

RankTrace ReadInfo(std::string_view content) {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kDeviceInfo, dir.Write("info.json.0", content));
}

Chips ReadChips(std::string_view content) { return ReadInfo(content).chips; }

TEST(DeviceInfo, TellsTheChipByTheNumberOfItsPlatform) {
  EXPECT_EQ(ReadInfo(R"({"platform_version": "5"})").job.chip, "Ascend910B");
  EXPECT_EQ(ReadInfo(R"({"platform_version": 5})").job.chip, "Ascend910B");
  for (const char* content :
       {R"({"platform_version": "4"})", R"({"platform_version": "five"})", R"({"DeviceInfo": []})"})
    EXPECT_EQ(ReadInfo(content).job.chip, "") << content;
}

TEST(DeviceInfo, ReadsCoresAndClock) {
  const Chips chips = ReadChips(R"({"platform_version": "5", "DeviceInfo": [
      {"id": 2, "ai_core_num": 20, "aiv_num": 40, "aic_frequency": "1800"},
      {"id": "3", "ai_core_num": "24", "aic_frequency": 1650.5}]})");
  EXPECT_EQ(chips.device, (Numbers{2, 3}));
  EXPECT_EQ(chips.cube_cores, (Numbers{20, 24}));
  EXPECT_EQ(chips.vector_cores, (Numbers{40, 0}));
  EXPECT_EQ(chips.cube_mhz, (std::vector<double>{1800, 1650.5}));
}

TEST(DeviceInfo, TakesWhatIsNoNumberForUnknown) {
  const Chips chips = ReadChips(
      R"({"DeviceInfo": [{"id": 0, "ai_core_num": "many", "aic_frequency": null},
                         {"id": -7, "ai_core_num": -20, "aic_frequency": [1800]}]})");
  EXPECT_EQ(chips.cube_cores, (Numbers{0, 0}));
  EXPECT_EQ(chips.cube_mhz, (std::vector<double>{0, 0}));
}

TEST(DeviceInfo, FindsNoChipsInOtherDocuments) {
  for (const char* content : {"{}", "[]", R"({"DeviceInfo": {"id": 0}})"}) {
    EXPECT_TRUE(ReadChips(content).Empty()) << content;
  }
}

}  // namespace
}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// info.json.<N> of a device: how many cores it has and how fast they run.
#include <string>

#include "mpa/base/text.h"
#include "mpa/io/json_document.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {
namespace {

// A number, or a text that contains one ("1800", "50.000000"); 0 for anything else.
double NumberOf(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return 0;
  return WholeNumber<double>(Trim(value.get_ref<const std::string&>())).value_or(0);
}

std::int64_t CountOf(const nlohmann::json& value) {
  constexpr double kMax = 1e6;  // a larger number is neither a number of cores nor of a device
  const double number = NumberOf(value);
  return number >= 0 && number <= kMax ? static_cast<std::int64_t>(number) : 0;
}

void ReadChip(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  const nlohmann::json document = io::ReadJson(file.path);
  // One number stands for 910B and 910C, whose dies are alike.
  constexpr double kAscend910B = 5;
  if (NumberOf(io::Member(document, "platform_version")) == kAscend910B)
    trace.job.chip = "Ascend910B";
  const nlohmann::json& devices = io::Member(document, "DeviceInfo");
  if (!devices.is_array()) return;
  for (const nlohmann::json& device : devices) {
    trace.chips.Append({.device = CountOf(io::Member(device, "id")),
                        .cube_cores = CountOf(io::Member(device, "ai_core_num")),
                        .vector_cores = CountOf(io::Member(device, "aiv_num")),
                        .cube_mhz = NumberOf(io::Member(device, "aic_frequency"))});
  }
}

}  // namespace

Reader DeviceInfoJson() { return {"info.json", FileKind::kDeviceInfo, Tables::kChips, ReadChip}; }

}  // namespace mpa::readers

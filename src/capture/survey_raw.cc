// SPDX-License-Identifier: Apache-2.0
// The directories that the profiler itself writes: PROF_* (device and driver) and FRAMEWORK.
#include <array>

#include "json_members.h"
#include "mpa/base/text.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"
#include "scan_rank.h"
#include "survey_parts.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDevice = "device_";

// Chips by the platform_version of info.json.
std::string ChipName(const std::string& platform) {
  struct Chip {
    const char* platform;
    const char* name;
  };
  constexpr std::array<Chip, 9> kChips = {{{"0", "Ascend310"},
                                           {"1", "Ascend910A"},
                                           {"4", "Ascend310P"},
                                           {"5", "Ascend910B or 910C"},
                                           {"7", "Ascend310B"},
                                           {"8", "Ascend310B"},
                                           {"11", "Ascend310B"},
                                           {"15", "Ascend950"},
                                           {"16", "Ascend950"}}};
  for (const Chip& chip : kChips) {
    if (platform == chip.platform) return chip.name;
  }
  return platform.empty() ? "" : "platform " + platform;
}

void TakeIfUnknown(std::string& known, std::string found) {
  if (known.empty() && found != "NA" && found != "N/A") known = std::move(found);
}

// info.json of the host, info.json.<N> of a device.
void ReadInfo(const fs::path& directory, RankFacts& facts) {
  for (const fs::path& entry : Entries(directory)) {
    const std::string name = entry.filename().string();
    if (!name.starts_with("info.json") || name.ends_with(".done")) continue;
    OrWarn(facts, "host and device stay unknown", [&] {
      const nlohmann::json document = io::ReadJson(entry);
      TakeIfUnknown(facts.host, Text(Member(document, "hostname")));
      TakeIfUnknown(facts.cann_version, Text(Member(document, "cannVersion")));
      TakeIfUnknown(facts.device_name, ChipName(Text(Member(document, "platform_version"))));
      if (!facts.rank) facts.rank = Id(Member(document, "rank_id"));
      if (Member(document, "DeviceInfo").is_array()) facts.recorded.chip = Recorded::kYes;
    });
  }
}

// The files of a directory: their names in one text, and their size.
struct Listing {
  std::string names;
  std::int64_t bytes = 0;
};

void List(const fs::path& directory, Listing& listing) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) return;
  for (const fs::path& entry : Entries(directory)) {
    listing.names += entry.filename().string() + '\n';
    const auto bytes = fs::file_size(entry, error);
    if (!error) listing.bytes += static_cast<std::int64_t>(bytes);
  }
}

struct RawFiles {
  Listing host, device, framework;
  std::int64_t sides = 0, ended_sides = 0;
};

void ReadMsprofDirectory(const fs::path& msprof, RankFacts& facts, RawFiles& files) {
  for (const fs::path& side : Entries(msprof)) {
    const std::string name = side.filename().string();
    const bool device = name.starts_with(kDevice);
    std::error_code ignored;
    if ((!device && name != "host") || !fs::is_directory(side, ignored)) continue;
    if (device) AddDevice(io::ParseInt(name.substr(kDevice.size())).value_or(-1), facts);
    ReadInfo(side, facts);
    if (facts.kind != CaptureKind::kNpuRaw) continue;  // parsed: the results tell the rest
    List(side / "data", device ? files.device : files.host);
    Listing control;
    List(side, control);
    ++files.sides;
    files.ended_sides += ContainsAny(control.names, {"end_info"}) ? 1 : 0;
  }
}

void SurveyRawContents(const RawFiles& files, RankFacts& facts) {
  Contents& recorded = facts.recorded;
  const auto any = [](const Listing& listing, std::initializer_list<std::string_view> words) {
    return YesIf(ContainsAny(listing.names, words));
  };
  facts.bytes = files.host.bytes + files.device.bytes + files.framework.bytes;
  recorded.device_tasks = any(files.device, {"stars_soc.data", "hwts.", "nano_stars_profile"});
  recorded.kernel_types = any(files.host, {"node_basic_info"});
  recorded.kernel_cores = recorded.kernel_types;
  recorded.counters = any(files.device, {"ffts_profile.", "aicore.data", "aiVectorCore.data"});
  recorded.communication = any(files.host, {"hccl_op_info", "additional.hccl_info"});
  recorded.communication_tasks = any(files.host, {"additional.hccl_info"});
  recorded.bandwidths = recorded.communication_tasks;
  recorded.host_ops = any(files.framework, {"torch.op_range"});
  recorded.memory = any(files.framework, {"torch.memory_usage"});
  recorded.mstx = any(files.host, {"msproftx"});
  if (files.sides > 0) facts.complete = YesIf(files.ended_sides == files.sides);
}

}  // namespace

void SurveyRaw(RankFacts& facts) {
  facts.recorded.chip = Recorded::kNo;
  OrWarn(facts, "host and device stay unknown", [&] {
    RawFiles files;
    const fs::path capture = CaptureDirectory(facts.path);
    for (const fs::path& msprof : MsprofDirectories(capture)) {
      ReadMsprofDirectory(msprof, facts, files);
    }
    if (facts.kind != CaptureKind::kNpuRaw) return;
    List(capture / "FRAMEWORK", files.framework);
    SurveyRawContents(files, facts);
  });
}

}  // namespace mpa

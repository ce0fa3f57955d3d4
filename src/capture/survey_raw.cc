// SPDX-License-Identifier: Apache-2.0
// The directories that the profiler itself writes: PROF_* (device and driver) and FRAMEWORK.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "file_checks.h"
#include "json_members.h"
#include "mpa/base/language.h"
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

// The records of some chips are read only by their description.
void WarnOfUntriedChip(const std::string& platform, RankFacts& facts) {
  constexpr const char* kId = "experimental";
  const bool told =
      std::ranges::any_of(facts.warnings, [](const Warning& warning) { return warning.id == kId; });
  if (facts.kind != CaptureKind::kNpuRaw || told || platform.empty() ||
      IsOneOf(platform, {"1", "5"})) {
    return;
  }
  facts.warnings.push_back(
      {kId,
       Say("reading raw captures of {} is experimental: it was never tested on a real one",
           ChipName(platform)),
       "compare a few numbers with those of the profiler's own parser",
       {}});
}

// info.json of the host, info.json.<N> of a device.
void ReadInfo(const RankInput& input, const fs::path& directory, RankFacts& facts) {
  for (const fs::path& entry : Entries(directory)) {
    const std::string name = entry.filename().string();
    if (!name.starts_with("info.json") || name.ends_with(".done")) continue;
    OrWarn(facts, "host and device stay unknown", [&] {
      CheckWithin(input, entry);
      const nlohmann::json document = io::ReadJson(entry);
      TakeIfUnknown(facts.host, Text(Member(document, "hostname")));
      TakeIfUnknown(facts.cann_version, Text(Member(document, "cannVersion")));
      TakeIfUnknown(facts.device_name, ChipName(Text(Member(document, "platform_version"))));
      if (const auto driver = WholeNumber(Member(document, "drvVersion")); driver && *driver > 0)
        AddSetting(SettingKind::kVersion, "driver_version", std::to_string(*driver),
                   facts.all_settings);
      WarnOfUntriedChip(Text(Member(document, "platform_version")), facts);
      if (Member(document, "DeviceInfo").is_array()) facts.recorded.chip = Recorded::kYes;
    });
  }
}

// Whether the collection ended on every side, and the contents of the small documents.
void ReadMsprofDirectory(const RankInput& input, const fs::path& msprof, RankFacts& facts) {
  bool ended = true, any = false;
  for (const fs::path& side : Entries(msprof)) {
    const std::string name = side.filename().string();
    const bool device = name.starts_with(kDevice);
    if ((!device && name != "host") || !IsDirectory(side)) continue;
    if (device) AddDevice(io::ParseInt(name.substr(kDevice.size())).value_or(-1), facts);
    ReadInfo(input, side, facts);
    any = true;
    const std::vector<fs::path> entries = Entries(side);
    ended = ended && std::ranges::any_of(entries, [](const fs::path& entry) {
              return entry.filename().string().starts_with("end_info");
            });
  }
  if (facts.kind == CaptureKind::kNpuRaw && any) facts.stopped = facts.complete = YesIf(ended);
}

// The names of the records of one side, in one text.
std::string Names(const std::vector<RawDirectory>& data, RecordSide side) {
  std::string names;
  for (const RawDirectory& directory : data) {
    if (directory.side != side) continue;
    for (const fs::path& file : directory.files) names += file.filename().string() + '\n';
  }
  return names;
}

void SurveyContents(const std::vector<RawDirectory>& data, RankFacts& facts) {
  const std::string host = Names(data, RecordSide::kHost);
  const std::string device = Names(data, RecordSide::kDevice);
  const std::string framework = Names(data, RecordSide::kFramework);
  const auto any = [](const std::string& names, std::initializer_list<std::string_view> words) {
    return YesIf(ContainsAny(names, words));
  };
  Contents& recorded = facts.recorded;
  recorded.device_tasks = any(device, {"stars_soc.data", "hwts."});
  // Each task is a kernel or not; its operator is another record.
  recorded.kernels = recorded.device_tasks;
  recorded.kernel_types = recorded.kernel_cores = any(host, {"node_basic_info"});
  recorded.counters = any(device, {"ffts_profile.", "aicore.data", "aiVectorCore.data"});
  recorded.l2_cache = any(device, {"l2_cache.data"});
  recorded.op_attributes = any(host, {"node_attr_info"});
  // Some chips have a clock without records of it.
  if (ContainsAny(device, {"lpmFreqConv.data", "npu_mem.data", "npu_module_mem.data", "hbm.data",
                           "ddr.data", "llc.data", "hccs.data", "pcie.data", "nic.data",
                           "roce.data", "qos.data", "stars_soc_profile.data"}) ||
      ContainsAny(host,
                  {"host_cpu.data", "host_mem.data", "host_disk.data", "host_network.data"})) {
    recorded.hardware = Recorded::kYes;
  }
  recorded.communication = any(host, {"hccl_op_info", "additional.hccl_info"});
  recorded.communication_tasks = any(host, {"additional.hccl_info"});
  recorded.bandwidths = recorded.communication_tasks;
  recorded.host_ops = any(framework, {"torch.op_range"});
  recorded.memory = any(framework, {"torch.memory_usage"});
  recorded.op_memory = recorded.memory;
  recorded.mstx = any(host, {"msproftx"});
  if (ContainsAny(framework, {"torch."})) TakeIfUnknown(facts.framework, "PyTorch");
  if (ContainsAny(framework, {"mindspore."})) TakeIfUnknown(facts.framework, "MindSpore");
}

// Truncated records: the data before the cut is still read.
void WarnOfCuts(const std::vector<RawDirectory>& data, RankFacts& facts) {
  std::vector<fs::path> cut = FindCutFiles(data);
  if (cut.empty()) return;
  facts.complete = Recorded::kNo;
  facts.warnings.push_back(
      {"cut_records",
       cut.size() == 1
           ? Say("1 of the raw files breaks off within a record: everything before is read")
           : Say("{} of the raw files break off within a record: everything before is read",
                 cut.size()),
       "copy the capture again; if the job was killed, the rest is lost", std::move(cut)});
}

// Parsing leaves a mark next to the records when it starts.
void WarnOfUnfinishedParsing(const fs::path& capture, RankFacts& facts) {
  std::vector<fs::path> marks = {capture / kOutputDirectory};
  for (const fs::path& msprof : MsprofDirectories(capture)) {
    marks.push_back(msprof / kMsprofOutput);
  }
  const bool begun = std::ranges::any_of(marks, [](const fs::path& mark) {
    std::error_code ignored;
    return fs::exists(mark, ignored);
  });
  if (!begun) return;
  facts.warnings.push_back(
      {"half_parsed",
       "half parsed: parsing began but left no results; the raw data is read instead",
       "msprof-analyze parse writes the results; --force replaces what is there",
       {}});
}

}  // namespace

void SurveyRaw(const RankInput& input, RankFacts& facts) {
  facts.recorded.chip = Recorded::kNo;
  OrWarn(facts, "host and device stay unknown", [&] {
    const fs::path capture = CaptureDirectory(facts.path);
    for (const fs::path& msprof : MsprofDirectories(capture)) {
      ReadMsprofDirectory(input, msprof, facts);
    }
    const std::vector<RawDirectory> data = FindRawData(capture);
    if (facts.kind == CaptureKind::kNpuRaw) {
      SurveyContents(data, facts);
      facts.records = ListRecords(capture);
      WarnOfCuts(data, facts);
      WarnOfUnfinishedParsing(capture, facts);
    } else if (facts.complete == Recorded::kNo && !data.empty()) {
      facts.warnings.push_back({"half_parsed",
                                "half parsed: the results break off, but the raw data is there",
                                "--raw reads the raw data, msprof-analyze parse writes the results"
                                " again",
                                {}});
    }
  });
}

}  // namespace mpa

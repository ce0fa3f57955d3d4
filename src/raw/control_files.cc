// SPDX-License-Identifier: Apache-2.0
// The small files beside the records: settings, versions and clock anchors.
#include "control_files.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"

namespace mpa::raw {
namespace {

namespace fs = std::filesystem;
using io::Member;
using Json = nlohmann::json;

// Beyond this a time is nonsense; below it, sums of a few times fit.
constexpr std::int64_t kLargest = std::int64_t{1} << 61;

std::string Text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? value.dump() : std::string();
}

// A whole number or a text of one.
std::optional<std::int64_t> Number(const Json& value) {
  const auto number = io::ParseInt(Text(value));
  if (!number || *number > kLargest || *number < -kLargest) return std::nullopt;
  return number;
}

const Json& First(const Json& array) {
  static const Json null;
  return array.is_array() && !array.empty() ? array.front() : null;
}

std::vector<fs::path> EntriesWith(const fs::path& directory, std::string_view start) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(start)) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool IsDirectory(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::optional<std::int64_t> NumberAfter(std::string_view name, std::string_view start) {
  if (!name.starts_with(start)) return std::nullopt;
  const std::string_view digits = name.substr(start.size());
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return io::ParseInt(digits);
}

// The file of that name, with or without the number of the device behind it; empty: none.
fs::path ControlFile(const fs::path& directory, const std::string& name) {
  for (const fs::path& path : EntriesWith(directory, name)) {
    const std::string found = path.filename().string();
    std::error_code error;
    if ((found == name || NumberAfter(found, name + ".")) && fs::is_regular_file(path, error))
      return path;
  }
  return {};
}

// A document that is missing or broken says nothing.
Json ReadDocument(const fs::path& path, Issues& issues) {
  if (path.empty()) return Json();
  try {
    return io::ReadJson(path);
  } catch (const Error& error) {
    issues.Count("control file left out, it cannot be read", error.what());
    return Json();
  }
}

// Lines of "key: value".
class KeyValues {
 public:
  explicit KeyValues(const fs::path& path) {
    if (!path.empty()) text_ = io::ReadStart(path, 64 << 10);
  }
  std::optional<std::int64_t> Find(std::string_view key) const {
    std::string_view rest = text_;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos || Trim(line.substr(0, colon)) != key) continue;
      const auto number = io::ParseInt(line.substr(colon + 1));
      if (number && *number <= kLargest && *number >= -kLargest) return number;
    }
    return std::nullopt;
  }

 private:
  std::string text_;
};

// Microseconds as ns; -1 when the document does not say.
TimeNs NsOfMicros(const Json& document, const char* key) {
  const auto micros = Number(Member(document, key));
  constexpr std::int64_t kLongest = kLargest / 1000;
  return micros && *micros >= 0 && *micros <= kLongest ? *micros * 1000 : -1;
}

// The members of info.json and sample.json that readers need.
struct Documents {
  Json info, sample, start, end;

  Documents(const fs::path& directory, Issues& issues)
      : info(ReadDocument(ControlFile(directory, "info.json"), issues)),
        sample(ReadDocument(ControlFile(directory, "sample.json"), issues)),
        start(ReadDocument(ControlFile(directory, "start_info"), issues)),
        end(ReadDocument(ControlFile(directory, "end_info"), issues)) {}
};

// A frequency of 1000 MHz says, like none, that stamps are ns.
std::int64_t HostHertz(const Json& info) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  const std::int64_t hertz =
      HertzFromMegahertz(Text(Member(First(Member(info, "CPU")), "Frequency")));
  return hertz == kNanoseconds ? 0 : hertz;
}

// False when the clocks of the side are not known.
bool ReadSide(const fs::path& directory, const Documents& documents, Side& side) {
  side.data = directory / "data";
  side.driver = Number(Member(documents.info, "drvVersion")).value_or(0);
  side.task_based = Text(Member(documents.sample, "ai_core_profiling_mode")) != "sample-based";
  side.begin = NsOfMicros(documents.start, "collectionTimeBegin");
  side.end = NsOfMicros(documents.end, "collectionTimeEnd");
  const auto start_monotonic = Number(Member(documents.start, "clockMonotonicRaw"));
  const KeyValues host(ControlFile(directory, "host_start.log"));
  const auto monotonic = host.Find("clock_monotonic_raw");
  if (side.begin < 0 || !start_monotonic || !monotonic) return false;

  Clock& clock = side.clock;
  clock.offset = side.begin - *start_monotonic;
  clock.monotonic = *monotonic;
  clock.host_count = host.Find("cntvct").value_or(0);
  clock.drift = host.Find("cntvct_diff").value_or(0);
  clock.host_hertz = HostHertz(documents.info);
  return true;
}

// False when the device's own clock is not known.
bool ReadDeviceClock(const fs::path& directory, const Json& device_info, Clock& clock) {
  const KeyValues log(ControlFile(directory, "dev_start.log"));
  const auto count = log.Find("cntvct");
  clock.device_count = count.value_or(0);
  clock.device_monotonic = log.Find("clock_monotonic_raw").value_or(0);
  clock.device_hertz = HertzFromMegahertz(Text(Member(device_info, "hwts_frequency")));
  return count && clock.device_hertz > 0;
}

Generation GenerationOf(std::int64_t platform) {
  switch (platform) {
    case 1:
    case 2:
    case 3:
    case 4:
      return Generation::kHwts;
    case 5:
    case 7:
    case 8:
    case 11:
      return Generation::kStars;
    case 15:
    case 16:
      return Generation::kStarsV6;
    default:
      return Generation::kUnknown;
  }
}

// "0x416,0x9" in the order of the counters; what is no number counts as event 0.
std::vector<std::uint32_t> Events(const std::string& text) {
  std::vector<std::uint32_t> events;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string word(Trim(std::string_view(text).substr(at, comma - at)));
    events.push_back(static_cast<std::uint32_t>(std::strtoul(word.c_str(), nullptr, 16)));
    at = comma + 1;
  }
  return events;
}

Device DescribeDevice(std::int64_t id, const Documents& documents, TimeNs begin) {
  const Json& card = First(Member(documents.info, "DeviceInfo"));
  const Json& sample = documents.sample;
  const auto number = [&](const char* key) { return Number(Member(card, key)).value_or(0); };
  const auto megahertz = [&](const char* key) {
    return HertzFromMegahertz(Text(Member(card, key))) / 1'000'000;
  };
  Device device;
  device.id = id;
  device.platform = Number(Member(documents.info, "platform_version")).value_or(-1);
  device.generation = GenerationOf(device.platform);
  device.cube_cores = number("ai_core_num");
  device.vector_cores = number("aiv_num");
  device.cube_mhz = megahertz("aic_frequency");
  device.vector_mhz = megahertz("aiv_frequency");
  device.begin = begin;
  device.cube_metrics = Text(Member(sample, "ai_core_metrics"));
  device.vector_metrics = Text(Member(sample, "aiv_metrics"));
  device.cube_events = Events(Text(Member(sample, "ai_core_profiling_events")));
  device.vector_events = Events(Text(Member(sample, "aiv_profiling_events")));
  device.record_version = Text(Member(documents.info, "version"));
  device.llc_mode = Text(Member(sample, "llc_profiling"));
  device.l2_events = Events(Text(Member(sample, "l2CacheTaskProfilingEvents")));
  return device;
}

// "l1", "level1" and "Level1" are 1.
int LevelOf(const std::string& text) {
  if (text.empty() || text.back() < '0' || text.back() > '9') return -1;
  return text.back() - '0';
}

void DescribeProcess(const Documents& documents, SessionInfo& info) {
  const Json& document = documents.info;
  info.process = Number(Member(document, "pid")).value_or(0);
  info.process_name = Text(Member(document, "pid_name"));
  info.host_name = Text(Member(document, "hostname"));
  info.host_uid = Text(Member(document, "hostUid"));
  info.cann_version = Text(Member(document, "cannVersion"));
  info.rank = std::max<std::int64_t>(Number(Member(document, "rank_id")).value_or(-1), -1);
  info.level = LevelOf(Text(Member(documents.sample, "profLevel")));
  if (info.level < 0) info.level = LevelOf(Text(Member(documents.sample, "prof_level")));
}

void ReadDevices(SessionInfo& info, ControlFiles& files, Issues& issues) {
  for (const fs::path& directory : EntriesWith(info.prof, "device_")) {
    const auto id = NumberAfter(directory.filename().string(), "device_");
    if (!id || !IsDirectory(directory)) continue;
    const Documents documents(directory, issues);
    Side side;
    const Json& card = First(Member(documents.info, "DeviceInfo"));
    if (!ReadSide(directory, documents, side) || !ReadDeviceClock(directory, card, side.clock)) {
      issues.Count("device left out, its clocks are not known", directory.filename().string());
      continue;
    }
    if (!files.has_host && files.devices.empty()) DescribeProcess(documents, info);
    info.devices.push_back(DescribeDevice(*id, documents, side.begin));
    files.devices.push_back(std::move(side));
  }
}

// The clock of FRAMEWORK has anchors of its own where the host has none.
FrameworkClock ClockOfFramework(const ControlFiles& files, const Json& profiler_info) {
  const Json& start = Member(profiler_info, "start_info");
  const Json& end = Member(profiler_info, "end_info");
  const auto number = [](const Json& object, const char* key) {
    return Number(Member(object, key)).value_or(0);
  };
  FrameworkClock clock;
  clock.counter = Member(start, "syscnt_enable") == Json(true);
  clock.hertz = files.host.clock.host_hertz;
  if (clock.hertz == 0) clock.hertz = HertzFromMegahertz(Text(Member(start, "freq")));
  if (clock.hertz == 0) clock.hertz = 100'000'000;
  clock.count = files.has_host ? files.host.clock.host_count : number(start, "start_cnt");
  clock.monotonic = files.has_host ? files.host.clock.monotonic : number(start, "start_monotonic");
  if (files.has_host) {
    clock.offset = files.host.clock.offset;
  } else if (!files.devices.empty()) {
    clock.offset = files.devices.front().clock.offset;
  } else {
    clock.offset = number(end, "collectionTimeEnd") - number(end, "MonotonicTimeEnd");
  }
  return clock;
}

// True for what is called PROF_*, whatever its name is.
bool HoldsDriverData(const fs::path& path) {
  return IsDirectory(path / "host") || !EntriesWith(path, "device_").empty();
}

// PROF_* and FRAMEWORK of a capture, or a PROF_* directory alone.
void FindDirectories(const fs::path& path, SessionInfo& info, Issues& issues) {
  info.path = path;
  if (IsDirectory(path / "FRAMEWORK")) info.framework = path / "FRAMEWORK";
  if (HoldsDriverData(path)) {
    info.prof = path;
    return;
  }
  for (const fs::path& entry : EntriesWith(path, "")) {
    const bool named = entry.filename().string().starts_with("PROF_");
    if (!IsDirectory(entry) || (!named && !HoldsDriverData(entry))) continue;
    if (!info.prof.empty()) {
      issues.Count("directory left out, the capture has another PROF_* before it",
                   entry.filename().string());
      continue;
    }
    info.prof = entry;
  }
}

void ReadHost(SessionInfo& info, ControlFiles& files, Issues& issues) {
  const fs::path host = info.prof / "host";
  if (!IsDirectory(host)) return;
  const Documents documents(host, issues);
  files.has_host = ReadSide(host, documents, files.host);
  if (files.has_host) {
    DescribeProcess(documents, info);
  } else {
    issues.Count("records of the host left out, its clocks are not known", "host");
  }
}

// profiler_info.json or profiler_info_<rank>.json; empty: none.
fs::path FindProfilerInfo(const fs::path& path) {
  for (const fs::path& entry : EntriesWith(path, "profiler_info")) {
    if (entry.extension() == ".json") return entry;
  }
  return {};
}

// What the framework's settings say beside the control files.
void AddSettings(const fs::path& file, const Json& settings, SessionInfo& info) {
  if (const auto rank = Number(Member(settings, "rank_id"))) {
    info.rank = std::max<std::int64_t>(*rank, -1);
  } else if (const auto in_name = NumberAfter(file.stem().string(), "profiler_info_")) {
    info.rank = *in_name;
  }
  if (info.level < 0) {
    const Json& config = Member(Member(settings, "config"), "experimental_config");
    info.level = LevelOf(Text(Member(config, "_profiler_level")));
  }
  if (info.cann_version.empty()) info.cann_version = Text(Member(settings, "cann_version"));
}

}  // namespace

ControlFiles ReadControlFiles(const fs::path& path, SessionInfo& info, Issues& issues) {
  FindDirectories(path, info, issues);
  if (info.prof.empty() && info.framework.empty()) {
    Fail(ErrorKind::kInput, "{}: neither PROF_* nor FRAMEWORK in it", path.string());
  }
  ControlFiles files;
  if (!info.prof.empty()) {
    ReadHost(info, files, issues);
    ReadDevices(info, files, issues);
  }
  const Side* side = files.has_host ? &files.host : nullptr;
  if (side == nullptr && !files.devices.empty()) side = &files.devices.front();
  if (side != nullptr) {
    info.begin = side->begin;
    info.end = side->end;
  } else if (info.framework.empty()) {
    Fail(ErrorKind::kCorrupt, "{}: the control files with the clocks are missing or broken",
         info.prof.string());
  }
  const fs::path settings_file = FindProfilerInfo(path);
  const Json settings = ReadDocument(settings_file, issues);
  AddSettings(settings_file, settings, info);
  files.framework_clock = ClockOfFramework(files, settings);
  return files;
}

}  // namespace mpa::raw

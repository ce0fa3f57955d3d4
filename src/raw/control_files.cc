// SPDX-License-Identifier: Apache-2.0
// The contents of the small files next to the records: settings, versions and clock anchors.
#include "control_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "control_documents.h"
#include "mpa/base/error.h"
#include "mpa/io/json_document.h"
#include "slices.h"

namespace mpa::raw {
namespace {

namespace fs = std::filesystem;
using io::Member;

// True for the driver's directories PROF_*, under any name.
bool HoldsDriverData(const fs::path& path) {
  return IsDirectory(path / "host") || !EntriesWith(path, "device_").empty();
}

// profiler_info.json or profiler_info_<rank>.json; empty: none.
fs::path FindProfilerInfo(const fs::path& path) {
  for (const fs::path& entry : EntriesWith(path, "profiler_info")) {
    if (entry.extension() == ".json") return entry;
  }
  return {};
}

// "l1", "level1" and "Level1" are 1.
int LevelOf(const std::string& text) {
  if (text.empty() || text.back() < '0' || text.back() > '9') return -1;
  return text.back() - '0';
}

void DescribeProcess(const Json& document, const Json& sample, SessionInfo& info) {
  info.process = NumberOf(Member(document, "pid")).value_or(0);
  info.process_name = TextOf(Member(document, "pid_name"));
  info.host_name = TextOf(Member(document, "hostname"));
  info.host_uid = TextOf(Member(document, "hostUid"));
  info.cann_version = TextOf(Member(document, "cannVersion"));
  info.rank = std::max<std::int64_t>(NumberOf(Member(document, "rank_id")).value_or(-1), -1);
  info.level = LevelOf(TextOf(Member(sample, "profLevel")));
  if (info.level < 0) info.level = LevelOf(TextOf(Member(sample, "prof_level")));
}

HostSetup DescribeHost(const SideDocuments& host) {
  const auto number = [](const Json& document, const char* key) {
    return std::max<std::int64_t>(NumberOf(Member(document, key)).value_or(0), 0);
  };
  HostSetup setup{.processors = number(host.info, "cpuNums"),
                  .ticks_per_second = number(host.info, "sysClockFreq"),
                  .memory_kb = number(host.info, "memoryTotal"),
                  .disk_hertz = number(host.sample, "host_disk_freq"),
                  .cards = {}};
  const Json& cards = Member(host.info, "netCard");
  if (!cards.is_array()) return setup;
  constexpr double kBytesOfMegabit = 1e6 / 8;
  for (const Json& card : cards) {
    const std::int64_t megabits = number(card, "speed");
    if (megabits > 0)
      setup.cards[TextOf(Member(card, "netCardName"))] =
          static_cast<double>(megabits) * kBytesOfMegabit;
  }
  return setup;
}

class CaptureReader {
 public:
  CaptureReader(const fs::path& path, SessionInfo& info, Issues& issues)
      : info_(info), issues_(issues), settings_file_(FindProfilerInfo(path)) {}

  ControlFiles Read() {
    ReadSettings();
    ReadDocuments();
    clock_ = AgreeOnClocks(sides_, settings_, issues_);
    ControlFiles files;
    std::size_t first_device = 0;
    if (has_host_) {
      first_device = 1;
      files.has_host = ReadSide(sides_.front(), files.host);
      files.host_setup = DescribeHost(sides_.front());
      if (!files.has_host) {
        issues_.Count("records of the host left out, its clocks are unknown", "host");
      }
    }
    for (std::size_t i = first_device; i < sides_.size(); ++i) ReadDevice(sides_[i], files);
    Describe(files);
    for (const SideDocuments& side : sides_) {
      CountMissingSlices(side.directory / "data", side.name, issues_);
    }
    CountMissingKinds({sides_, settings_, info_.framework}, issues_);
    files.framework_clock = ClockOfFramework(files);
    return files;
  }

 private:
  void ReadSettings() {
    constexpr const char* kCost =
        "the clock of FRAMEWORK is taken from the host's, settings are unknown";
    if (!settings_file_.empty()) {
      const std::string name = settings_file_.filename().string();
      settings_ = ReadDocument(settings_file_, name, kCost, issues_);
    } else if (!info_.framework.empty()) {
      CountControlFile("profiler_info.json", "is missing", kCost, info_.path, issues_);
    }
  }

  void ReadDocuments() {
    const fs::path metadata = info_.path / "profiler_metadata.json";
    if (std::error_code error; fs::is_regular_file(metadata, error)) {
      ReadDocument(metadata, "profiler_metadata.json", "groups of ranks are unknown", issues_);
    }
    if (info_.prof.empty()) return;
    has_host_ = IsDirectory(info_.prof / "host");
    if (has_host_) sides_.push_back(ReadSideDocuments(info_.prof / "host", issues_));
    for (const fs::path& directory : EntriesWith(info_.prof, "device_")) {
      const bool numbered = NumberAfter(directory.filename().string(), "device_").has_value();
      if (numbered && IsDirectory(directory)) {
        sides_.push_back(ReadSideDocuments(directory, issues_));
      }
    }
  }

  // An instant on two clocks, one of which is wrong: the epoch time that is nearer to the
  // beginning.
  TimeNs Repaired(const Instant& instant, TimeNs offset) const {
    const TimeNs other = instant.monotonic + offset;
    if (!clock_.begin) return other;
    const TimeNs begin = *clock_.begin + offset;
    return std::abs(instant.epoch - begin) < std::abs(other - begin) ? instant.epoch : other;
  }

  // False if no file contains the wall clock.
  bool SetBegin(const SideDocuments& documents, Side& side) {
    const std::string name = documents.NameOf("start_info");
    const auto start = InstantOf(documents.start, "collectionTimeBegin");
    if (!documents.start.is_null() && !start) {
      CountControlFile(name, "is damaged",
                       "begin and wall clock are taken from other control files",
                       documents.directory, issues_);
    }
    if (start && clock_.Trusts(name)) {
      side.clock.offset = start->Offset();
      side.begin = start->epoch;
      return true;
    }
    if (!clock_.offset) return false;
    side.clock.offset = *clock_.offset;
    if (start) {
      side.begin = Repaired(*start, *clock_.offset);
    } else if (clock_.begin) {
      // The clocks of a side are read soon after the side began.
      const std::string log = documents.NameOf("host_start.log");
      const auto anchor = AnchorOf(documents.host_start);
      const bool usable = anchor && clock_.Trusts(log);
      const TimeNs first = usable ? std::min(anchor->monotonic, *clock_.begin) : *clock_.begin;
      side.begin = first + *clock_.offset;
    }
    return side.begin >= 0;
  }

  void SetEnd(const SideDocuments& documents, Side& side) {
    if (documents.end.is_null()) return;
    const std::string name = documents.NameOf("end_info");
    const auto end = InstantOf(documents.end, "collectionTimeEnd");
    if (end) {
      side.end = clock_.Trusts(name) ? end->epoch : Repaired(*end, side.clock.offset);
    }
    if (!end || side.end < side.begin) {
      side.end = -1;
      CountControlFile(name, "is damaged", "the end of the collection is unknown",
                       documents.directory, issues_);
    }
  }

  // False if host stamps cannot be converted to times.
  bool SetAnchor(const SideDocuments& documents, Side& side) {
    Clock& clock = side.clock;
    clock.host_hertz = clock_.host_hertz;
    clock.drift = documents.host_start.Find("cntvct_diff").value_or(0);
    const std::string name = documents.NameOf("host_start.log");
    auto anchor = AnchorOf(documents.host_start);
    const bool counted = clock.host_hertz == 0 || (anchor && anchor->count > 0);
    if (anchor && !counted) {
      CountControlFile(name, "has no usable cntvct", "the clock is taken from other control files",
                       documents.directory, issues_);
    }
    side.device_count_unknown = !anchor || !counted || !clock_.Trusts(name);
    if (side.device_count_unknown) anchor = OtherAnchor(side);
    if (!anchor) return false;
    clock.monotonic = anchor->monotonic;
    clock.host_count = anchor->count;
    return true;
  }

  // Any instant is usable, but some stamps count from the beginning of the side.
  std::optional<CounterAnchor> OtherAnchor(const Side& side) const {
    const TimeNs begin = side.begin - side.clock.offset;
    if (side.clock.host_hertz == 0) return CounterAnchor{0, begin};
    if (!clock_.counter) return std::nullopt;
    return clock_.counter->MovedTo(begin, side.clock.host_hertz);
  }

  bool ReadSide(const SideDocuments& documents, Side& side) {
    side.data = documents.directory / "data";
    side.driver = NumberOf(Member(InfoOf(documents), "drvVersion")).value_or(0);
    side.task_based = TextOf(Member(documents.sample, "ai_core_profiling_mode")) != "sample-based";
    if (!SetBegin(documents, side) || !SetAnchor(documents, side)) return false;
    SetEnd(documents, side);
    side.clock.SetPlausible(side.begin, side.end);
    return true;
  }

  // If a side lost its own, that of another side is used.
  const Json& InfoOf(const SideDocuments& documents) const {
    if (!documents.info.is_null()) return documents.info;
    for (const SideDocuments& side : sides_) {
      if (!side.info.is_null()) return side.info;
    }
    return documents.info;
  }

  void ReadDevice(const SideDocuments& documents, ControlFiles& files) {
    Side side;
    const bool clocks = ReadSide(documents, side);
    const SideDocuments* other = has_host_ ? &sides_.front() : nullptr;
    Device device = DescribeDevice(NumberAfter(documents.name, "device_").value_or(0), documents,
                                   other, DataFiles(side.data), side.clock.device_hertz, issues_);
    if (!clocks || side.clock.device_hertz == 0) {
      issues_.Count("device left out, its clocks are unknown", documents.name);
      return;
    }
    const auto count = documents.device_start.Find("cntvct");
    side.clock.device_count = count.value_or(0);
    const auto monotonic = documents.device_start.Find("clock_monotonic_raw");
    side.clock.device_monotonic = monotonic.value_or(0);
    side.device_count_unknown |= !count;
    if (count && !monotonic) {
      CountControlFile(documents.NameOf("dev_start.log"), "has no usable clock_monotonic_raw",
                       "samples of links and network ports are left out", documents.directory,
                       issues_);
    }
    device.begin = side.begin;
    info_.devices.push_back(std::move(device));
    files.devices.push_back(std::move(side));
  }

  void Describe(const ControlFiles& files) {
    if (!sides_.empty()) {
      const SideDocuments& first = sides_.front();
      const bool other = first.sample.is_null() && sides_.size() > 1;
      DescribeProcess(InfoOf(first), other ? sides_[1].sample : first.sample, info_);
    }
    const Side* side = files.has_host ? &files.host : nullptr;
    if (side == nullptr && !files.devices.empty()) side = &files.devices.front();
    if (side != nullptr) {
      info_.begin = side->begin;
      info_.end = side->end;
    } else if (info_.framework.empty()) {
      Fail(ErrorKind::kCorrupt, "{}: the control files with the clocks are missing or broken",
           info_.prof.string());
    }
    AddSettings();
  }

  // The framework's settings, in addition to the control files.
  void AddSettings() {
    if (const auto rank = NumberOf(Member(settings_, "rank_id"))) {
      info_.rank = std::max<std::int64_t>(*rank, -1);
    } else if (const auto in_name = NumberAfter(settings_file_.stem().string(), "profiler_info_")) {
      info_.rank = *in_name;
    }
    if (info_.level < 0) {
      info_.level = LevelOf(
          TextOf(MemberOf(settings_, {"config", "experimental_config", "_profiler_level"})));
    }
    if (info_.cann_version.empty()) {
      info_.cann_version = TextOf(Member(settings_, "cann_version"));
    }
  }

  // The clock of FRAMEWORK has its own anchors if the host has none.
  FrameworkClock ClockOfFramework(const ControlFiles& files) const {
    const Json& start = Member(settings_, "start_info");
    const Json& end = Member(settings_, "end_info");
    const auto number = [](const Json& object, const char* key) {
      return NumberOf(Member(object, key)).value_or(0);
    };
    const Side* side = files.has_host ? &files.host : nullptr;
    if (side == nullptr && !files.devices.empty()) side = &files.devices.front();
    FrameworkClock clock;
    clock.hertz = clock_.host_hertz;
    clock.counter =
        settings_.is_null() ? clock.hertz > 0 : Member(start, "syscnt_enable") == Json(true);
    if (clock.hertz == 0) clock.hertz = HertzFromMegahertz(TextOf(Member(start, "freq")));
    if (clock.hertz == 0) clock.hertz = 100'000'000;
    clock.count = files.has_host ? side->clock.host_count : number(start, "start_cnt");
    clock.monotonic = files.has_host ? side->clock.monotonic : number(start, "start_monotonic");
    if (side != nullptr) {
      clock.offset = side->clock.offset;
      clock.earliest = side->clock.earliest;
      clock.latest = side->clock.latest;
    } else {
      clock.offset = number(end, "collectionTimeEnd") - number(end, "MonotonicTimeEnd");
    }
    return clock;
  }

  SessionInfo& info_;
  Issues& issues_;
  fs::path settings_file_;
  Json settings_;
  bool has_host_ = false;
  std::vector<SideDocuments> sides_;  // the host, when there is one, and the devices
  MachineClock clock_;
};

}  // namespace

std::vector<fs::path> DriverDirectories(const fs::path& path) {
  if (HoldsDriverData(path)) return {path};
  std::vector<fs::path> found;
  for (const fs::path& entry : EntriesWith(path, "")) {
    const bool named = entry.filename().string().starts_with("PROF_");
    if (IsDirectory(entry) && (named || HoldsDriverData(entry))) found.push_back(entry);
  }
  return found;
}

ControlFiles ReadControlFiles(const fs::path& path, const fs::path& prof, SessionInfo& info,
                              Issues& issues) {
  info.path = path;
  info.prof = prof;
  if (IsDirectory(path / "FRAMEWORK")) info.framework = path / "FRAMEWORK";
  if (info.prof.empty() && info.framework.empty()) {
    Fail(ErrorKind::kInput, "{}: neither PROF_* nor FRAMEWORK in it", path.string());
  }
  return CaptureReader(path, info, issues).Read();
}

}  // namespace mpa::raw

// SPDX-License-Identifier: Apache-2.0
#include "control_documents.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"

namespace mpa::raw {
namespace {

namespace fs = std::filesystem;

// A larger time is invalid; sums of a few smaller ones fit.
constexpr std::int64_t kLargest = std::int64_t{1} << 61;

std::optional<std::int64_t> Usable(std::optional<std::int64_t> number) {
  if (!number || *number > kLargest || *number < -kLargest) return std::nullopt;
  return number;
}

// The file of that name, with or without the device number at its end; empty: none.
fs::path ControlFile(const fs::path& directory, const std::string& name) {
  for (const fs::path& path : EntriesWith(directory, name)) {
    const std::string found = path.filename().string();
    std::error_code error;
    if ((found == name || NumberAfter(found, name + ".")) && fs::is_regular_file(path, error))
      return path;
  }
  return {};
}

bool IsEmpty(const fs::path& path) {
  std::error_code error;
  return fs::file_size(path, error) == 0 && !error;
}

// The loss when one control file of a side is missing.
struct ControlFileCost {
  const char* file;
  const char* of_host;
  const char* of_device;
};
constexpr const char* kNoEnd =
    "the profiler was not stopped properly, the end of the run may be missing";
constexpr const char* kEstimated = "the clock of the device is estimated from the launches";
constexpr ControlFileCost kInfo = {
    "info.json", "process, chip and frequencies are taken from other control files",
    "chip and frequencies are taken from other control files, or are the usual ones of its kind"};
constexpr ControlFileCost kSample = {"sample.json",
                                     "the settings of the collection are taken from the device's",
                                     "the settings of counters are taken from host/sample.json"};
constexpr ControlFileCost kStart = {"start_info",
                                    "begin and wall clock are taken from other control files",
                                    "begin and wall clock are taken from other control files"};
constexpr ControlFileCost kEnd = {"end_info", kNoEnd, kNoEnd};
constexpr ControlFileCost kHostStart = {
    "host_start.log", "the clock of the host is taken from other control files", kEstimated};
constexpr ControlFileCost kDeviceStart = {"dev_start.log", kEstimated, kEstimated};

class SideReader {
 public:
  SideReader(SideDocuments& side, Issues& issues) : side_(side), issues_(issues) {}

  Json Document(const ControlFileCost& cost) const {
    const fs::path path = Find(cost);
    return path.empty() ? Json() : ReadDocument(path, side_.NameOf(cost.file), Of(cost), issues_);
  }

  /// `key`: the key that it must contain.
  KeyValues Log(const ControlFileCost& cost, std::string_view key) const {
    const fs::path path = Find(cost);
    if (path.empty()) return {};
    constexpr std::size_t kMaxLength = 64 << 10;
    KeyValues values(io::ReadStart(path, kMaxLength));
    if (!values.Find(key)) {
      CountControlFile(side_.NameOf(cost.file), IsEmpty(path) ? "is empty" : "is damaged", Of(cost),
                       path, issues_);
    }
    return values;
  }

 private:
  const char* Of(const ControlFileCost& cost) const {
    return side_.name == "host" ? cost.of_host : cost.of_device;
  }
  fs::path Find(const ControlFileCost& cost) const {
    fs::path path = ControlFile(side_.directory, cost.file);
    if (path.empty()) {
      CountControlFile(side_.NameOf(cost.file), "is missing", Of(cost), side_.directory, issues_);
    }
    return path;
  }

  SideDocuments& side_;
  Issues& issues_;
};

}  // namespace

std::string TextOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? value.dump() : std::string();
}

std::optional<std::int64_t> NumberOf(const Json& value) {
  return Usable(io::ParseInt(TextOf(value)));
}

const Json& FirstOf(const Json& array) {
  static const Json null;
  return array.is_array() && !array.empty() ? array.front() : null;
}

const Json& MemberOf(const Json& object, std::initializer_list<const char*> keys) {
  const Json* found = &object;
  for (const char* key : keys) found = &io::Member(*found, key);
  return *found;
}

std::optional<std::int64_t> NumberAfter(std::string_view name, std::string_view start) {
  if (!name.starts_with(start)) return std::nullopt;
  const std::string_view digits = name.substr(start.size());
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return io::ParseInt(digits);
}

bool IsDirectory(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<fs::path> EntriesWith(const fs::path& directory, std::string_view start) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(start)) found.push_back(it->path());
  }
  std::ranges::sort(found);
  return found;
}

std::optional<std::int64_t> KeyValues::Find(std::string_view key) const {
  std::string_view rest = text_;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || Trim(line.substr(0, colon)) != key) continue;
    if (const auto number = Usable(io::ParseInt(line.substr(colon + 1)))) return number;
  }
  return std::nullopt;
}

void CountControlFile(std::string_view name, std::string_view state, std::string_view cost,
                      const fs::path& place, Issues& issues) {
  issues.Count(Say("{} {}: {}; copy the capture again", name, Translated(state), Translated(cost)),
               place.string());
}

Json ReadDocument(const fs::path& path, std::string_view name, std::string_view cost,
                  Issues& issues) {
  if (IsEmpty(path)) {
    CountControlFile(name, "is empty", cost, path, issues);
    return Json();
  }
  try {
    Json document = io::ReadJson(path);
    if (document.is_object()) return document;
    CountControlFile(name, "is damaged", cost, path, issues);
  } catch (const Error& error) {
    CountControlFile(name, "is damaged", cost, error.what(), issues);
  }
  return Json();
}

std::string SideDocuments::NameOf(std::string_view file) const {
  return fmt::format("{}/{}", name, file);
}

SideDocuments ReadSideDocuments(const fs::path& directory, Issues& issues) {
  SideDocuments side;
  side.directory = directory;
  side.name = directory.filename().string();
  const SideReader reader(side, issues);
  side.info = reader.Document(kInfo);
  side.sample = reader.Document(kSample);
  side.start = reader.Document(kStart);
  side.end = reader.Document(kEnd);
  side.host_start = reader.Log(kHostStart, "clock_monotonic_raw");
  if (side.name != "host") side.device_start = reader.Log(kDeviceStart, "cntvct");
  return side;
}

}  // namespace mpa::raw

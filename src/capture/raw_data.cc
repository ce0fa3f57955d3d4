// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <system_error>

#include "json_members.h"
#include "mpa/base/error.h"
#include "mpa/io/input_text.h"
#include "mpa/io/json_document.h"
#include "scan_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// The notes of writers and parsers next to the records contain no data.
bool IsRecordFile(const fs::path& path) {
  const std::string extension = path.extension().string();
  std::error_code ignored;
  return extension != ".done" && extension != ".complete" && extension != ".zip" &&
         fs::is_regular_file(path, ignored);
}

void Add(RecordSide side, const fs::path& path, std::vector<RawDirectory>& data) {
  if (!IsDirectory(path)) return;
  RawDirectory directory{side, path, {}, 0};
  for (const fs::path& entry : Entries(path)) {
    if (!IsRecordFile(entry)) continue;
    std::error_code error;
    const auto bytes = fs::file_size(entry, error);
    if (!error) directory.bytes += static_cast<std::int64_t>(bytes);
    directory.files.push_back(entry);
  }
  if (!directory.files.empty()) data.push_back(std::move(directory));
}

// The length of the records in a kind of file. The name contains one of `words`.
struct RecordSize {
  RecordSide side;
  std::string_view word;
  std::int64_t bytes;
};
constexpr std::array<RecordSize, 13> kRecordSizes = {{
    {RecordSide::kHost, ".api_event.data.", 40},
    {RecordSide::kHost, ".compact.", 64},
    {RecordSide::kHost, "_dic.", 1},
    {RecordSide::kHost, ".additional.", 256},
    {RecordSide::kDevice, "stars_soc.data.", 32},  // or 64, on other chips
    {RecordSide::kDevice, "hwts.data.", 64},
    {RecordSide::kDevice, "hwts.log.data.", 64},
    {RecordSide::kDevice, "ffts_profile.data.", 128},
    {RecordSide::kDevice, "aicore.data.", 128},
    {RecordSide::kDevice, "ts_track.data.", 40},
    {RecordSide::kDevice, "lpmFreqConv.data.", 888},
    {RecordSide::kFramework, "torch.gc_record", 24},
    {RecordSide::kFramework, "torch.python_tracer_func", 33},
}};

std::int64_t SizeOf(const fs::path& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

// Framework records of varying length: u16 type, u32 length, value.
constexpr std::array<std::pair<std::string_view, std::uint16_t>, 4> kTaggedFiles = {{
    {"torch.op_range", 1},
    {"torch.op_mark", 2},
    {"torch.memory_usage", 3},
    {"torch.python_tracer_hash", 4},
}};

// True when a record in the last bytes of the file ends at the end of the file.
bool EndsWithTaggedRecord(const fs::path& file, std::uint16_t type) {
  constexpr std::size_t kHead = sizeof(std::uint16_t) + sizeof(std::uint32_t);
  constexpr std::size_t kMaxLength = 256 * 1024;
  const std::string tail = io::ReadEnd(file, kMaxLength);
  for (std::size_t back = kHead; back <= tail.size(); ++back) {
    const char* at = tail.data() + tail.size() - back;
    std::uint16_t found_type = 0;
    std::uint32_t length = 0;
    std::memcpy(&found_type, at, sizeof found_type);
    std::memcpy(&length, at + sizeof found_type, sizeof length);
    if (found_type == type && length + kHead == back) return true;
  }
  return tail.empty() || tail.size() == kMaxLength;  // a longer record does not prove a cut
}

bool IsCutTagged(const fs::path& file) {
  const std::string name = file.filename().string();
  for (const auto& [tagged, type] : kTaggedFiles) {
    if (name == tagged) return !EndsWithTaggedRecord(file, type);
  }
  return false;
}

// Null: another kind.
const RecordSize* SizeOfRecords(RecordSide side, const fs::path& file) {
  const std::string name = file.filename().string();
  const auto found = std::ranges::find_if(kRecordSizes, [&](const RecordSize& size) {
    return size.side == side && name.find(size.word) != std::string::npos;
  });
  return found == kRecordSizes.end() ? nullptr : &*found;
}

// Records of devices may begin in one slice and end in the next, so the slices of a kind are judged
// as one; the last of them stands for all.
void AddCutStreams(const RawDirectory& device, std::vector<fs::path>& cut) {
  struct Stream {
    std::int64_t bytes = 0;
    fs::path last;
  };
  std::map<const RecordSize*, Stream> streams;
  for (const fs::path& file : device.files) {
    const RecordSize* size = SizeOfRecords(device.side, file);
    if (size == nullptr) continue;
    streams[size].bytes += SizeOf(file);
    streams[size].last = file;
  }
  for (const auto& [size, stream] : streams) {
    if (stream.bytes % size->bytes != 0) cut.push_back(stream.last);
  }
}

}  // namespace

std::vector<RawDirectory> FindRawData(const fs::path& capture) {
  std::vector<RawDirectory> data;
  for (const fs::path& msprof : MsprofDirectories(capture)) {
    for (const fs::path& side : Entries(msprof)) {
      const std::string name = side.filename().string();
      if (name == "host") Add(RecordSide::kHost, side / "data", data);
      if (name.starts_with("device_")) Add(RecordSide::kDevice, side / "data", data);
    }
  }
  Add(RecordSide::kFramework, capture / "FRAMEWORK", data);
  return data;
}

std::int64_t TotalBytes(const std::vector<RawDirectory>& data) {
  return std::accumulate(
      data.begin(), data.end(), std::int64_t{0},
      [](std::int64_t sum, const RawDirectory& directory) { return sum + directory.bytes; });
}

std::optional<std::int64_t> RankOfHost(const fs::path& capture) {
  for (const fs::path& msprof : MsprofDirectories(capture)) {
    try {
      const auto rank = Id(Member(io::ReadJson(msprof / "host" / "info.json"), "rank_id"));
      if (rank) return rank;
    } catch (const Error&) {
      continue;  // the reader of the records reports the error
    }
  }
  return std::nullopt;
}

std::vector<fs::path> FindCutFiles(const std::vector<RawDirectory>& data) {
  std::vector<fs::path> cut;
  for (const RawDirectory& directory : data) {
    if (directory.side == RecordSide::kDevice) {
      AddCutStreams(directory, cut);
      continue;
    }
    for (const fs::path& file : directory.files) {
      const RecordSize* size = SizeOfRecords(directory.side, file);
      const bool is_cut = size != nullptr ? SizeOf(file) % size->bytes != 0 : IsCutTagged(file);
      if (is_cut) cut.push_back(file);
    }
  }
  return cut;
}

// Which kinds of records lie in a capture.

RecordInventory ListRecords(const std::filesystem::path& capture) {
  const std::span<const RecordKind> all = AllRecordKinds();
  std::vector<RecordInventory::Entry> entries(all.size());
  RecordInventory inventory;
  for (const RawDirectory& directory : FindRawData(capture)) {
    for (const std::filesystem::path& file : directory.files) {
      std::error_code error;
      const auto bytes = std::filesystem::file_size(file, error);
      if (error || bytes == 0) continue;
      const RecordKind* kind = KindOfRecords(directory.side, file.filename().string());
      if (kind == nullptr) {
        inventory.unknown.push_back(file);
        continue;
      }
      RecordInventory::Entry& entry = entries[static_cast<std::size_t>(kind - all.data())];
      entry.kind = kind;
      ++entry.files;
      entry.bytes += static_cast<std::int64_t>(bytes);
    }
  }
  for (const RecordInventory::Entry& entry : entries) {
    if (entry.kind != nullptr) inventory.kinds.push_back(entry);
  }
  return inventory;
}

}  // namespace mpa

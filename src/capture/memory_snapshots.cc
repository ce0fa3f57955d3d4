// SPDX-License-Identifier: Apache-2.0
// Snapshots of the framework's allocator: alone, or beside the captures of their ranks.
#include <algorithm>
#include <system_error>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"
#include "mpa/io/pickle.h"
#include "scan_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

bool IsNamedAsPickle(const fs::path& path) {
  std::string name = ToLower(path.filename().string());
  constexpr std::string_view kPacked = ".gz";
  if (name.ends_with(kPacked)) name.resize(name.size() - kPacked.size());
  return name.ends_with(".pkl") || name.ends_with(".pickle");
}

// The one capture in the same directory, or the one of several whose number is in the name.
RankInput* CaptureBeside(const fs::path& snapshot, std::vector<RankInput>& ranks) {
  std::vector<RankInput*> beside;
  for (RankInput& rank : ranks) {
    const bool is_capture = rank.kind != CaptureKind::kSnapshot;
    if (is_capture && rank.path.parent_path() == snapshot.parent_path()) beside.push_back(&rank);
  }
  if (beside.size() == 1) return beside.front();
  const auto number = RankInName(snapshot.filename().string());
  if (!number) return nullptr;
  const auto found = std::ranges::find_if(beside, [&](const RankInput* rank) {
    const auto told = rank->info ? rank->info->rank : std::nullopt;
    return (told ? told : RankInName(rank->path.filename().string())) == number;
  });
  return found == beside.end() ? nullptr : *found;
}

}  // namespace

bool HoldsMemorySnapshot(const fs::path& path) {
  constexpr std::size_t kBeginning = 4096;
  return io::BeginsAsPickle(path) &&
         ContainsAny(io::ReadStart(path, kBeginning), {"segments", "device_traces", "total_size"});
}

bool IsMemorySnapshot(const fs::path& path) {
  std::error_code ignored;
  if (!IsNamedAsPickle(path) || !fs::is_regular_file(path, ignored)) return false;
  try {
    return HoldsMemorySnapshot(path);
  } catch (const Error&) {
    return false;  // unreadable, so it is not known to be one
  }
}

void AddMemorySnapshots(RankInput& rank) {
  std::vector<fs::path> directories = {rank.path};
  if (IsDirectory(rank.path / kOutputDirectory))
    directories.push_back(rank.path / kOutputDirectory);
  for (const fs::path& directory : directories) {
    for (const fs::path& entry : Entries(directory)) {
      if (IsMemorySnapshot(entry)) AddFile(rank, FileKind::kMemorySnapshot, entry);
    }
  }
}

void JoinMemorySnapshots(std::vector<RankInput>& ranks) {
  const auto is_alone = [](const RankInput& rank) { return rank.kind == CaptureKind::kSnapshot; };
  if (std::ranges::all_of(ranks, is_alone)) return;
  for (RankInput& rank : ranks) {
    if (!is_alone(rank)) continue;
    if (RankInput* capture = CaptureBeside(rank.path, ranks)) {
      std::ranges::move(rank.files, std::back_inserter(capture->files));
    } else {
      LogInfo("{}: not read, because it does not say which of the captures it belongs to",
              rank.path.string());
    }
  }
  std::erase_if(ranks, is_alone);
}

}  // namespace mpa

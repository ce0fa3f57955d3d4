// SPDX-License-Identifier: Apache-2.0
// Which ranks belong to a share.
#include "shares.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>

#include "mpa/base/stable_sort.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

void AddFile(const fs::path& path, const fs::path& from, std::vector<SourceFile>& sources) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const auto ns = [](const timespec& time) {
    constexpr std::int64_t kNsPerSecond = 1'000'000'000;
    return time.tv_sec * kNsPerSecond + time.tv_nsec;
  };
  sources.push_back({path.lexically_relative(from).string(), status.st_size, ns(status.st_mtim),
                     ns(status.st_ctim), status.st_ino});
}

}  // namespace

std::vector<SourceFile> SourcesOf(const RankInput& input) {
  std::vector<SourceFile> sources;
  std::error_code error;
  const auto add = [&](const fs::path& path) {
    if (!fs::is_directory(path, error)) return AddFile(path, input.path, sources);
    fs::recursive_directory_iterator entries(path, error);
    for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error))
      AddFile(entries->path(), input.path, sources);
  };
  for (const CaptureFile& file : input.files) {
    add(file.path);
    for (const fs::path& slice : file.slices) add(slice);
  }
  if (input.info) add(input.info->path);
  StableSort(sources, {}, &SourceFile::name);
  return sources;
}

std::int64_t BytesOf(const std::vector<SourceFile>& sources) {
  return std::accumulate(
      sources.begin(), sources.end(), std::int64_t{0},
      [](std::int64_t sum, const SourceFile& source) { return sum + source.bytes; });
}

std::vector<std::size_t> PositionsOf(const Shard& shard, const std::vector<std::int64_t>& bytes) {
  std::vector<std::size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  StableSort(order, std::greater<>(), [&](std::size_t i) { return bytes[i]; });
  // Ranks of a byte at least: empty ones are shared out, too.
  std::vector<std::int64_t> load(shard.count, 0);
  std::vector<std::size_t> positions;
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(load);
    *least += std::max<std::int64_t>(1, bytes[i]);
    if (static_cast<std::size_t>(least - load.begin()) == shard.number) positions.push_back(i);
  }
  std::ranges::sort(positions);
  return positions;
}

bool IsOnThisMachine(const RankInput& input) {
  // NFS, SMB (three), AFS, Lustre, GPFS, Ceph, FUSE, 9P, BeeGFS, OrangeFS, GFS2, OCFS2.
  static constexpr std::uint32_t kOfNetwork[] = {
      0x6969,     0x517B,     0xFF534D42, 0xFE534D42, 0x5346414F, 0x0BD00BD0, 0x47504653,
      0x00C36400, 0x65735546, 0x01021997, 0x19830326, 0x20030528, 0x01161970, 0x7461636F};
  struct statfs status {};
  if (statfs(input.path.c_str(), &status) != 0) return true;  // what is wrong is said on reading
  return std::ranges::find(kOfNetwork, static_cast<std::uint32_t>(status.f_type)) ==
         std::end(kOfNetwork);
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// Without a limit the file says "max", or a number beyond any memory, or is not there.
std::int64_t LimitIn(const fs::path& file) {
  std::int64_t limit = 0;
  return std::ifstream(file) >> limit && limit > 0 ? limit : kNoLimit;
}

// The smallest limit of the process's control group and those around it.
std::int64_t LimitOfGroups() {
  const fs::path root = "/sys/fs/cgroup";
  std::int64_t limit = LimitIn(root / "memory/memory.limit_in_bytes");  // version 1
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    fs::path group = line.substr(4);
    while (true) {
      limit = std::min(limit, LimitIn(root / group / "memory.max"));
      if (group.empty()) break;
      group = group.parent_path();
    }
  }
  return limit;
}

std::int64_t ProcessLimit(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return kNoLimit;
  return static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, kNoLimit));
}

// That of the shell; LimitMemory() sets others.
std::int64_t GivenDataLimit() {
  static const std::int64_t given = ProcessLimit(RLIMIT_DATA);
  return given;
}

// What LimitMemory() would count already.
std::int64_t DataOfProcess() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0;
  for (int field = 0; field < 6; ++field) file >> pages;  // the sixth: data and stack
  return file ? pages * sysconf(_SC_PAGE_SIZE) : 0;
}

}  // namespace

std::int64_t MemoryOfProcess() {
  const std::int64_t machine = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
                               static_cast<std::int64_t>(sysconf(_SC_PAGE_SIZE));
  return std::min({machine, LimitOfGroups(), ProcessLimit(RLIMIT_AS), GivenDataLimit()});
}

std::int64_t UsualMemory() {
  constexpr std::int64_t kMost = std::int64_t{4} << 30;
  return std::min(kMost, MemoryOfProcess() / 2);
}

void KeepFreedMemory() {
#ifdef __GLIBC__
  constexpr int kMiB = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 32 * kMiB);  // the most that it takes
  mallopt(M_TRIM_THRESHOLD, 256 * kMiB);
#endif
}

void LimitMemory(std::int64_t bytes) {
  constexpr std::int64_t kProgram = std::int64_t{64} << 20;
  constexpr std::int64_t kUsualStack = std::int64_t{8} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  // Stacks count as a whole, although little of them is ever used.
  const std::int64_t stacks = kUsualStack * std::thread::hardware_concurrency();
  const std::int64_t most = std::min(GivenDataLimit(), bytes + kProgram + stacks);
  // Sanitizers reserve more than any machine has before main() begins.
  if (DataOfProcess() > most) return;
  limit.rlim_cur = static_cast<rlim_t>(most);
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace mpa

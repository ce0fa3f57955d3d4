// SPDX-License-Identifier: Apache-2.0
// Captures with several PROF_* directories: the profiler was started several times, or for several
// devices or processes.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "control_files.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"

namespace mpa::raw {
namespace {

namespace fs = std::filesystem;

struct Found {
  Collection collection;
  Issues issues;
};

std::string DevicesOf(const SessionInfo& info) {
  std::string text;
  for (const Device& device : info.devices) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", device.id);
  }
  return text.empty() ? "none" : text;
}

// Counts why `later` is not read together with `earlier`; false if it can be.
bool IsApart(const SessionInfo& earlier, const SessionInfo& later, Issues& issues) {
  const auto count = [&](const char* why, std::string_view what) {
    issues.Count(Say("a PROF_* is left out, it is of {}; give each PROF_* alone", Translated(why)),
                 Say("{}{}, after {}", later.prof.filename().string(), what,
                     earlier.prof.filename().string()));
    return true;
  };
  if (DevicesOf(later) != DevicesOf(earlier)) {
    return count("another device than the one before",
                 Say(": device {} in place of {}", DevicesOf(later), DevicesOf(earlier)));
  }
  if (later.process != earlier.process) {
    return count("another process than the one before",
                 Say(": process {} in place of {}", later.process, earlier.process));
  }
  if (later.begin < std::max(earlier.begin + 1, earlier.end)) {
    return count("the time of the one before: two profilers ran at once, or it is a copy", "");
  }
  return false;
}

// Those whose control files can be read, in order of time.
std::vector<Found> ReadAll(const std::vector<fs::path>& directories, Issues& issues) {
  std::vector<Found> all;
  for (const fs::path& prof : directories) {
    Found found;
    try {
      found.collection.files = ReadControlFiles(prof, prof, found.collection.info, found.issues);
      all.push_back(std::move(found));
    } catch (const Error& error) {
      issues.Count("a PROF_* is left out, its control files cannot be read", error.what());
    }
  }
  StableSort(all, [](const Found& a, const Found& b) {
    return a.collection.info.begin < b.collection.info.begin;
  });
  return all;
}

// Steps last until the next one begins, so the step before a pause contains it.
void CountPause(const SessionInfo& earlier, const SessionInfo& later, Issues& issues) {
  constexpr TimeNs kMillisecond = 1'000'000;
  const TimeNs pause = later.begin - std::max(earlier.begin, earlier.end);
  issues.Count(
      "the profiler was started several times, all PROF_* are read; the time between them"
      " counts as free, in the step before it and end to end; give each PROF_* alone",
      Say("{} ms before {}", pause / kMillisecond, later.prof.filename().string()));
}

// FRAMEWORK records all collections; the host's clocks are read anew for each.
void AddAnchor(const Collection& later, FrameworkClock& clock) {
  if (!later.files.has_host) return;
  clock.later.push_back(later.files.framework_clock);
  clock.latest = later.files.framework_clock.latest;
}

}  // namespace

std::vector<Collection> ReadCollections(const fs::path& path, Issues& issues) {
  const std::vector<fs::path> directories = DriverDirectories(path);
  std::vector<Found> all;
  if (directories.size() > 1) all = ReadAll(directories, issues);
  fs::path first = directories.empty() ? fs::path() : directories.front();
  if (!all.empty()) first = all.front().collection.info.prof;
  std::vector<Collection> kept(1);
  kept[0].files = ReadControlFiles(path, first, kept[0].info, issues);
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (IsApart(kept.back().info, all[i].collection.info, issues)) continue;
    CountPause(kept.back().info, all[i].collection.info, issues);
    issues.Merge(all[i].issues);
    AddAnchor(all[i].collection, kept[0].files.framework_clock);
    kept.push_back(std::move(all[i].collection));
  }
  return kept;
}

}  // namespace mpa::raw

// SPDX-License-Identifier: Apache-2.0
// What a memory snapshot shows, from the allocations that its history gives when it is replayed.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "holders.h"
#include "mpa/base/language.h"
#include "mpa/measure/allocator_replay.h"
#include "snapshot_growth.h"

namespace mpa::recipes::memory_timeline {
namespace {

constexpr auto kOther = static_cast<std::size_t>(Category::kUnknown);

constexpr const char* kNoStack = ToTranslate("(no call stack)");

// Holders by the row of the calls.
class SiteHolders {
 public:
  explicit SiteHolders(const RankTrace& trace) : sites_(trace) {}

  Holder Of(const AllocatorLife& life) {
    if (life.stack < 0)
      return {.op = life.begin < 0 ? ToTranslate("(before the history)") : kNoStack,
              .category = Category::kUnknown};
    return OfStack(life.stack);
  }
  Holder OfStack(std::int32_t stack) {
    if (stack < 0) return {.op = kNoStack, .category = Category::kUnknown};
    const AllocationSite& site = sites_.Of(stack);
    return {.op = site.function,
            .within = site.within,
            .site = site.line,
            .category = Category::kUnknown};
  }

 private:
  AllocationSites sites_;
};

Level LevelAt(std::int64_t position, const AllocatorReplay& replay,
              const std::vector<std::int64_t>& in_use) {
  Level level{.time = position};
  level.bytes[kOther] = in_use[static_cast<std::size_t>(position + 1)];
  level.reserved =
      position < 0 ? replay.reserved_before : replay.reserved[static_cast<std::size_t>(position)];
  return level;
}

std::vector<Kept> KeptOf(const AllocatorReplay& replay, const std::vector<std::int64_t>& in_use,
                         SiteHolders& holders) {
  struct Found {
    Kept kept;
    std::vector<std::size_t> lives;
  };
  std::map<Holder, Found> found;
  for (std::size_t i = 0; i < replay.lives.size(); ++i) {
    const AllocatorLife& life = replay.lives[i];
    if (life.end != kHeldToTheEnd) continue;
    Found& one = found[holders.Of(life)];
    if (one.lives.empty()) one.kept.oldest = life.begin;
    one.kept.newest = life.begin;
    ++one.kept.count;
    one.kept.bytes += life.bytes;
    one.lives.push_back(i);
  }
  std::vector<std::pair<std::int64_t, Found*>> largest;
  for (auto& [holder, one] : found) {
    one.kept.holder = holder;
    largest.emplace_back(one.kept.bytes, &one);
  }
  StableSort(largest, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Kept> kept;
  Kept rest{.holder = {.op = ToTranslate("(others)"), .category = Category::kUnknown}};
  for (auto& [bytes, one] : largest) {
    if (kept.size() < kMaxHolders) {
      one->kept.grows = Grows(replay, one->lives, in_use);
      kept.push_back(std::move(one->kept));
    } else {
      rest.count += one->kept.count;
      rest.bytes += bytes;
    }
  }
  if (rest.count > 0) kept.push_back(std::move(rest));
  return kept;
}

SnapshotMemory MemoryOfDevice(const RankTrace& trace, const AllocatorReplay& replay) {
  const auto row = static_cast<std::size_t>(replay.snapshot);
  SnapshotMemory memory{
      .file = std::string(trace.strings.View(trace.memory_snapshots.file[row])),
      .device = replay.device,
      .settings = std::string(trace.strings.View(trace.memory_snapshots.settings[row])),
      .actions = static_cast<std::int64_t>(replay.actions),
      .before = replay.Before(),
      .held = replay.end,
      .failure_count = replay.out_of_memory_count,
      .contradictions = replay.contradictions};
  const auto time_of = [&](std::int64_t position) -> TimeNs {
    if (replay.actions == 0) return -1;
    const auto at = static_cast<std::size_t>(std::max<std::int64_t>(position, 0));
    return trace.memory_actions.time[replay.first_action + at];
  };
  memory.begin = time_of(0);
  memory.end = time_of(memory.actions - 1);

  const std::vector<std::int64_t> in_use = InUseOverTime(replay);
  Curve curve{.times = {}, .bytes = in_use};
  for (std::int64_t i = -1; i < memory.actions; ++i) curve.times.push_back(i);
  const auto most = std::max_element(in_use.begin(), in_use.end());
  memory.peak = LevelAt(most - in_use.begin() - 1, replay, in_use);
  memory.peak_time = time_of(memory.peak.time);
  memory.most_reserved = replay.reserved_before;
  for (const std::int64_t bytes : replay.reserved)
    memory.most_reserved = std::max(memory.most_reserved, bytes);
  for (const std::size_t position : Thinned(curve, kMaxPoints)) {
    memory.points.push_back(LevelAt(curve.times[position], replay, in_use));
    memory.times.push_back(time_of(curve.times[position]));
  }

  std::vector<Life> lives;
  lives.reserve(replay.lives.size());
  for (const AllocatorLife& life : replay.lives) {
    lives.push_back({.begin = life.begin,
                     .end = life.end == kHeldToTheEnd ? kNever : life.end,
                     .bytes = life.bytes,
                     .row = lives.size()});
  }
  SiteHolders holders(trace);
  const auto holder_of = [&](const Life& life) { return holders.Of(replay.lives[life.row]); };
  memory.holders = HoldersAt(memory.peak, lives, holder_of);
  memory.bands = BandsOf(memory.peak, memory.holders, memory.points, lives, holder_of);
  memory.kept = KeptOf(replay, in_use, holders);
  for (Kept& kept : memory.kept) {
    const TimeNs begin = kept.oldest < 0 ? -1 : time_of(kept.oldest);
    if (begin >= 0 && memory.end >= begin) kept.oldest_age = memory.end - begin;
  }
  for (const OutOfMemory& one : replay.out_of_memory)
    memory.failures.push_back({one, holders.OfStack(one.stack)});
  return memory;
}

}  // namespace

const Failure* SnapshotMemory::WorstFailure() const {
  const Failure* worst = nullptr;
  for (const Failure& one : failures) {
    const bool in_pieces = one.memory.free.bytes >= one.memory.asked;
    if (worst == nullptr || in_pieces || worst->memory.free.bytes < worst->memory.asked)
      worst = &one;
  }
  return worst;
}

std::vector<SnapshotMemory> SnapshotsOf(const RankTrace& trace) {
  std::vector<SnapshotMemory> snapshots;
  for (const AllocatorReplay& replay : ReplayAllocators(trace)) {
    if (replay.end.segments > 0 || replay.actions > 0)
      snapshots.push_back(MemoryOfDevice(trace, replay));
  }
  return snapshots;
}

}  // namespace mpa::recipes::memory_timeline

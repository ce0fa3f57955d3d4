// SPDX-License-Identifier: Apache-2.0
// Tells what grows from what is held on purpose, by what happens between its allocations.
#include "snapshot_growth.h"

#include <algorithm>

namespace mpa::recipes::memory_timeline {
namespace {

// Allocations that were made one after the other, as in one step of a loop.
struct Batch {
  std::int64_t first = 0, last = 0;  // actions
  std::int64_t bytes = 0;
};

std::vector<Batch> BatchesOf(const AllocatorReplay& replay, const std::vector<std::size_t>& kept) {
  // A hundredth of the history.
  const auto apart = static_cast<std::int64_t>(replay.actions / 100 + 1);
  std::vector<Batch> batches;
  for (const std::size_t row : kept) {
    const AllocatorLife& life = replay.lives[row];
    if (life.begin < 0) continue;
    if (batches.empty() || life.begin - batches.back().last > apart)
      batches.push_back({life.begin, life.begin, 0});
    batches.back().last = life.begin;
    batches.back().bytes += life.bytes;
  }
  return batches;
}

}  // namespace

bool Grows(const AllocatorReplay& replay, const std::vector<std::size_t>& kept,
           const std::vector<std::int64_t>& in_use) {
  constexpr std::size_t kFewest = 3;
  constexpr std::int64_t kWave = 20;  // a twentieth of what is in use
  const std::vector<Batch> batches = BatchesOf(replay, kept);
  if (batches.size() < kFewest) return false;
  const auto half = static_cast<std::int64_t>(replay.actions / 2);
  if (batches.back().first - batches.front().first < half) return false;
  const auto at = [&](std::int64_t position) {  // of the levels, after that action
    return in_use.begin() + static_cast<std::ptrdiff_t>(position + 1);
  };
  std::size_t loops = 0;
  for (std::size_t i = 0; i + 1 < batches.size(); ++i) {
    const Batch &batch = batches[i], &next = batches[i + 1];
    if (next.first - batch.last > half) return false;
    // As in a step of a loop, everything else rises and falls, and ends where it was.
    const auto [bottom, top] = std::minmax_element(at(batch.last), at(next.first));
    const std::int64_t level = *at(next.first - 1);
    const bool moves = *top - *bottom >= std::max(batch.bytes, level / kWave);
    if (moves && level - *at(batch.last) <= batch.bytes) ++loops;
  }
  return 2 * loops >= batches.size() - 1;
}

}  // namespace mpa::recipes::memory_timeline

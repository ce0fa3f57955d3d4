// SPDX-License-Identifier: Apache-2.0
#include "mpa/collectives/run_matching.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "mpa/base/stable_sort.h"

namespace mpa {
namespace {

// Of each rank those that it has, in order of rank.
using RunsOfRanks = std::vector<std::span<const RankRun>>;

RunsOfRanks ByRank(std::span<const RankRun> runs) {
  RunsOfRanks ranks;
  while (!runs.empty()) {
    const auto end = std::ranges::find_if(
        runs, [rank = runs.front().rank](const RankRun& run) { return run.rank != rank; });
    ranks.push_back(runs.first(static_cast<std::size_t>(end - runs.begin())));
    runs = runs.subspan(ranks.back().size());
  }
  return ranks;
}

// What ranks ran a different number of times.
enum class Uneven : std::uint8_t { kAlone, kEnds };

void AddUneven(const RunsOfRanks& ranks, Uneven uneven, std::vector<JointRanks>& operations) {
  JointRanks first, last;
  for (const std::span<const RankRun> runs : ranks) {
    const bool has_ends = uneven == Uneven::kEnds && runs.size() > 1;
    if (has_ends) first.push_back(runs.front());
    if (has_ends) last.push_back(runs.back());
    const std::size_t inner = has_ends ? 1 : 0;
    for (const RankRun& run : runs.subspan(inner, runs.size() - 2 * inner))
      operations.push_back({run});
  }
  if (first.empty()) return;
  operations.push_back(std::move(first));
  operations.push_back(std::move(last));
}

// Every rank ran it as often as the others: the n-th runs are one operation.
void AddInOrder(const RunsOfRanks& ranks, Uneven uneven, std::vector<JointRanks>& operations) {
  const std::size_t count = ranks.front().size();
  const bool is_even = std::ranges::all_of(
      ranks, [&](std::span<const RankRun> runs) { return runs.size() == count; });
  if (!is_even) {
    const std::size_t before = operations.size();
    AddUneven(ranks, uneven, operations);
    for (std::size_t i = before; i < operations.size(); ++i) {
      for (RankRun& run : operations[i]) run.is_uneven = true;
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    JointRanks& operation = operations.emplace_back();
    operation.reserve(ranks.size());
    for (const std::span<const RankRun> runs : ranks) operation.push_back(runs[i]);
  }
}

bool AreTogether(const RankRun& a, const RankRun& b) {
  const TimeNs shared = std::min(a.time.end, b.time.end) - std::max(a.time.begin, b.time.begin);
  const TimeNs shorter = std::min(a.time.end - a.time.begin, b.time.end - b.time.begin);
  return shared >= 0 && 2 * shared >= shorter;
}

std::vector<JointRanks> MatchOrdered(const std::vector<RankRun>& runs, Uneven uneven) {
  std::vector<JointRanks> operations;
  if (runs.empty()) return operations;
  const RunsOfRanks ranks = ByRank(runs);
  const bool repeats = ranks.size() < runs.size();
  const bool has_steps =
      std::ranges::all_of(runs, [](const RankRun& run) { return run.step >= 0; });
  if (!repeats || !has_steps) {
    AddInOrder(ranks, uneven, operations);
    return operations;
  }
  std::map<std::int32_t, std::vector<RankRun>> steps;
  for (const RankRun& run : runs) steps[run.step].push_back(run);
  for (const auto& [step, of_step] : steps) AddInOrder(ByRank(of_step), uneven, operations);
  return operations;
}

}  // namespace

std::vector<JointRanks> Alone(const std::vector<RankRun>& runs) {
  std::vector<JointRanks> operations;
  for (const RankRun& run : runs) operations.push_back({run});
  return operations;
}

std::size_t CountRanks(const std::vector<RankRun>& runs) { return ByRank(runs).size(); }

std::vector<JointRanks> MatchInOrder(const std::vector<RankRun>& runs) {
  return MatchOrdered(runs, Uneven::kAlone);
}

std::vector<JointRanks> MatchMostly(const std::vector<RankRun>& runs) {
  return MatchOrdered(runs, Uneven::kEnds);
}

std::vector<JointRanks> MatchInTime(const std::vector<RankRun>& runs) {
  std::vector<RankRun> by_end = runs;
  StableSort(by_end, [](const RankRun& a, const RankRun& b) {
    return std::pair{a.time.end, a.rank} < std::pair{b.time.end, b.rank};
  });
  std::vector<RankRun> by_rank = by_end;
  StableSort(by_rank, {}, &RankRun::rank);
  // Of each rank those that have no operation.
  std::map<RankIndex, std::span<const RankRun>> left;
  for (const std::span<const RankRun> of_rank : ByRank(by_rank))
    left[of_rank.front().rank] = of_rank;
  std::vector<JointRanks> operations;
  for (const RankRun& run : by_end) {
    const std::span<const RankRun> own = left[run.rank];
    if (own.empty() || own.front().row != run.row) continue;  // it belongs to one that ended before
    // Whoever takes part leaves next of all that its rank still has to leave.
    JointRanks& operation = operations.emplace_back();
    for (auto& [rank, of_rank] : left) {
      if (of_rank.empty() || !AreTogether(run, of_rank.front())) continue;
      operation.push_back(of_rank.front());
      of_rank = of_rank.subspan(1);
    }
  }
  return operations;
}

double ShareTogether(const std::vector<JointRanks>& operations) {
  if (operations.empty()) return 1;
  const auto together = std::ranges::count_if(operations, [](const JointRanks& operation) {
    const auto first = std::ranges::min_element(
        operation, [](const RankRun& a, const RankRun& b) { return a.time.end < b.time.end; });
    return std::ranges::all_of(operation,
                               [&](const RankRun& run) { return AreTogether(*first, run); });
  });
  return static_cast<double>(together) / static_cast<double>(operations.size());
}

}  // namespace mpa

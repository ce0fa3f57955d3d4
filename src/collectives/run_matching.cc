// SPDX-License-Identifier: Apache-2.0
#include "mpa/collectives/run_matching.h"

#include <algorithm>
#include <map>
#include <utility>

#include "mpa/base/stable_sort.h"

namespace mpa {
namespace {

using RunsOfRanks = std::map<std::size_t, std::vector<RankRun>>;

RunsOfRanks ByRank(const std::vector<RankRun>& runs) {
  RunsOfRanks ranks;
  for (const RankRun& run : runs) ranks[run.rank].push_back(run);
  return ranks;
}

// What ranks ran a different number of times.
enum class Uneven : std::uint8_t { kAlone, kEnds };

void AddUneven(const RunsOfRanks& ranks, Uneven uneven, std::vector<JointRanks>& operations) {
  JointRanks first, last;
  for (const auto& [rank, runs] : ranks) {
    const bool has_ends = uneven == Uneven::kEnds && runs.size() > 1;
    if (has_ends) first.push_back(runs.front());
    if (has_ends) last.push_back(runs.back());
    const std::ptrdiff_t inner = has_ends ? 1 : 0;
    const std::vector<JointRanks> alone = Alone({runs.begin() + inner, runs.end() - inner});
    operations.insert(operations.end(), alone.begin(), alone.end());
  }
  if (first.empty()) return;
  operations.push_back(std::move(first));
  operations.push_back(std::move(last));
}

// Every rank ran it as often as the others: the n-th runs are one operation.
void AddInOrder(const RunsOfRanks& ranks, Uneven uneven, std::vector<JointRanks>& operations) {
  const std::size_t count = ranks.begin()->second.size();
  const bool is_even = std::ranges::all_of(
      ranks, [&](const auto& of_rank) { return of_rank.second.size() == count; });
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
    for (const auto& [rank, runs] : ranks) operation.push_back(runs[i]);
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
  const RunsOfRanks ranks = ByRank(by_end);
  std::map<std::size_t, std::size_t> next;  // by rank, the first run that has no operation
  std::vector<JointRanks> operations;
  for (const RankRun& run : by_end) {
    const std::vector<RankRun>& own = ranks.at(run.rank);
    std::size_t& at = next[run.rank];
    if (at >= own.size() || own[at].row != run.row)
      continue;  // it belongs to one that ended before
    // Whoever takes part leaves next of all that its rank still has to leave.
    JointRanks& operation = operations.emplace_back();
    for (const auto& [rank, of_rank] : ranks) {
      std::size_t& candidate = next[rank];
      if (candidate < of_rank.size() && AreTogether(run, of_rank[candidate])) {
        operation.push_back(of_rank[candidate++]);
      }
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

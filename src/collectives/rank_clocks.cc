// SPDX-License-Identifier: Apache-2.0
// The clocks of ranks, from collectives that they left at one time.
#include "mpa/collectives/rank_clocks.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr std::size_t kMinCollectives = 3;
constexpr TimeNs kLargestShare = 10;  // an operation counts within a tenth of what is usual

const RankRuns::Row& RowOf(const JobCollectives& ranks, const CollectiveInstance::Member& member) {
  return ranks[member.rank].get().runs.rows[member.row];
}

TimeNs EndOf(const RankRuns::Row& row) { return row.start + row.dur; }

// The time behind the last arrival, as the member itself knows it; -1 where it does not.
TimeNs TimeBehindArrival(const JobCollectives& ranks, const CollectiveInstance::Member& member) {
  const LastArrival& last = ranks[member.rank].get().last[member.row];
  return last.known ? std::max<TimeNs>(0, EndOf(RowOf(ranks, member)) - last.time) : -1;
}

// Operations that take alike: of one type, as many members, and as many elements.
using OperationClass = std::tuple<std::string, std::size_t, std::int64_t>;

OperationClass ClassOf(const JobCollectives& ranks, const CollectiveInstance& instance) {
  const RankRuns::Row& row = RowOf(ranks, instance.members.front());
  return {ranks[instance.members.front().rank].get().runs.texts[row.type], instance.members.size(),
          row.count};
}

using PairKey = std::pair<std::size_t, std::size_t>;

std::vector<ClockPair> FindPairs(const JobCollectives& ranks,
                                 const CollectiveInstances& instances) {
  std::map<OperationClass, std::vector<TimeNs>> behind;
  for (const CollectiveInstance& instance : instances) {
    if (!instance.is_barrier || instance.members.size() < 2) continue;
    std::vector<TimeNs>& times = behind[ClassOf(ranks, instance)];
    for (const CollectiveInstance::Member& member : instance.members) {
      const TimeNs time = TimeBehindArrival(ranks, member);
      if (time >= 0) times.push_back(time);
    }
  }
  std::map<OperationClass, TimeNs> usual;
  for (auto& [operation_class, times] : behind) usual[operation_class] = Median(std::move(times));

  std::map<PairKey, std::vector<ClockSample>> differences;
  for (const CollectiveInstance& instance : instances) {
    if (!instance.is_barrier || instance.members.size() < 2) continue;
    const TimeNs expected = usual[ClassOf(ranks, instance)];
    const auto is_usual = [&](const CollectiveInstance::Member& member) {
      const TimeNs time = TimeBehindArrival(ranks, member);
      return time < 0 || std::abs(time - expected) * kLargestShare <= expected;
    };
    const CollectiveInstance::Member& first = instance.members.front();
    if (!is_usual(first)) continue;
    for (const CollectiveInstance::Member& member : instance.members) {
      if (member.rank == first.rank || !is_usual(member)) continue;
      const TimeNs end = EndOf(RowOf(ranks, first));
      differences[{first.rank, member.rank}].push_back({end, end - EndOf(RowOf(ranks, member))});
    }
  }
  std::vector<ClockPair> pairs;
  for (const auto& [key, samples] : differences) {
    if (samples.size() < kMinCollectives) continue;
    const ClockFit fit = FitClockLine(samples);
    pairs.push_back({key.first, key.second, fit.line, fit.sigma, samples.size()});
  }
  return pairs;
}

}  // namespace

RankClocks AlignClocks(const JobCollectives& ranks, const CollectiveInstances& instances) {
  RankClocks aligned;
  aligned.clocks.resize(ranks.size());
  aligned.pairs = FindPairs(ranks, instances);
  std::vector<std::size_t> order(aligned.pairs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  StableSort(order, [&](std::size_t a, std::size_t b) {
    return aligned.pairs[a].sigma < aligned.pairs[b].sigma;
  });
  std::vector<std::vector<std::size_t>> pairs_of(ranks.size());
  for (const std::size_t pair : order) {
    pairs_of[aligned.pairs[pair].first].push_back(pair);
    pairs_of[aligned.pairs[pair].second].push_back(pair);
  }
  // From each rank without a clock, the lowest first, outwards over the pairs, the surest first.
  for (std::size_t root = 0; root < ranks.size(); ++root) {
    if (aligned.clocks[root].known || pairs_of[root].empty()) continue;
    aligned.clocks[root].known = true;
    aligned.clocks[root].root = root;
    std::vector<std::size_t> reached = {root};
    for (std::size_t at = 0; at < reached.size(); ++at) {
      for (const std::size_t pair : pairs_of[reached[at]]) {
        const ClockPair& edge = aligned.pairs[pair];
        const bool forward = edge.first == reached[at];
        const std::size_t other = forward ? edge.second : edge.first;
        RankClock& clock = aligned.clocks[other];
        if (clock.known) continue;
        const RankClock& from = aligned.clocks[reached[at]];
        clock = {(forward ? edge.line.Inverse() : edge.line).Then(from.line),
                 from.sigma + edge.sigma, true, root};
        reached.push_back(other);
      }
    }
  }
  for (std::size_t i = 0; i < aligned.pairs.size(); ++i) {
    ClockPair& pair = aligned.pairs[i];
    const TimeNs at = pair.line.origin;
    pair.residual = aligned.clocks[pair.first].line.Convert(at) -
                    aligned.clocks[pair.second].line.Convert(pair.line.Convert(at));
    if (std::abs(pair.residual) > 3 * std::max<TimeNs>(pair.sigma, 1000)) {
      aligned.inconsistent.push_back(i);
    }
  }
  return aligned;
}

std::vector<ClockDoubt> FindClockDoubts(const JobCollectives& ranks, const RankClocks& clocks) {
  std::vector<ClockDoubt> doubts;
  for (const std::size_t number : clocks.inconsistent) {
    const ClockPair& pair = clocks.pairs[number];
    doubts.push_back(
        {ranks[pair.first].get().rank, ranks[pair.second].get().rank, std::abs(pair.residual)});
  }
  return doubts;
}

}  // namespace mpa

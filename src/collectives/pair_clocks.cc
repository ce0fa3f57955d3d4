// SPDX-License-Identifier: Apache-2.0
#include "mpa/collectives/pair_clocks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
namespace mpa {
namespace {

constexpr std::size_t kMinPairs = 3;
// Sender and receiver note the end of one transfer within some us. What spreads wider is not one
// moment, and no measure of clocks.
constexpr TimeNs kMaxSpread = 50'000;

// Ranks whose clocks are compared, by their lowest position.
class ConnectedClocks {
 public:
  explicit ConnectedClocks(const RankClocks& clocks) {
    for (std::size_t i = 0; i < clocks.clocks.size(); ++i) lowest_.push_back(i);
    for (const ClockPair& pair : clocks.pairs) Join(pair.first, pair.second);
  }
  std::size_t Of(RankIndex rank) const {
    while (lowest_[rank] != rank) rank = lowest_[rank];
    return rank;
  }
  void Join(std::size_t a, std::size_t b) {
    const std::size_t of_a = Of(a), of_b = Of(b);
    lowest_[std::max(of_a, of_b)] = std::min(of_a, of_b);
  }

 private:
  std::vector<std::size_t> lowest_;
};

}  // namespace

void JoinClocksOfPairs(const std::vector<PairEnd>& ends, RankClocks& clocks) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<ClockSample>> differences;
  for (const PairEnd& end : ends) differences[{end.first, end.second}].push_back(end.sample);
  std::vector<ClockPair> pairs;
  for (const auto& [ranks, samples] : differences) {
    if (samples.size() < kMinPairs) continue;
    const ClockFit fit = FitClockLine(samples);
    if (fit.sigma <= kMaxSpread)
      pairs.push_back({ranks.first, ranks.second, fit.line, fit.sigma, samples.size()});
  }
  StableSort(pairs, {}, &ClockPair::sigma);
  ConnectedClocks connected(clocks);
  for (const ClockPair& pair : pairs) {
    const std::size_t first = connected.Of(pair.first), second = connected.Of(pair.second);
    if (first == second) continue;
    const std::size_t moved = std::max(first, second);
    const ClockLine &of_first = clocks.clocks[pair.first].line,
                    &of_second = clocks.clocks[pair.second].line;
    // From the common clock of the one connected component to that of the other, by way of the
    // pair.
    const ClockLine move = moved == second
                               ? of_second.Inverse().Then(pair.line.Inverse()).Then(of_first)
                               : of_first.Inverse().Then(pair.line).Then(of_second);
    for (RankIndex rank; rank < clocks.clocks.size(); ++rank) {
      if (connected.Of(rank) != moved) continue;
      clocks.clocks[rank].line = clocks.clocks[rank].line.Then(move);
      clocks.clocks[rank].sigma += pair.sigma;
      clocks.clocks[rank].root = std::min(first, second);
    }
    clocks.clocks[pair.first].known = clocks.clocks[pair.second].known = true;
    connected.Join(first, second);
  }
}

}  // namespace mpa

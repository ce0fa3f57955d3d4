// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/backward_pairs.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

namespace mpa {
namespace {

// Finds operators by thread and start; of several the longest.
class OpStarts {
 public:
  explicit OpStarts(const HostOps& ops) : ops_(ops), order_(ops.Size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return std::tie(ops.track[a], ops.start[a], ops.dur[b]) <
             std::tie(ops.track[b], ops.start[b], ops.dur[a]);
    });
  }

  std::optional<std::size_t> Find(std::int32_t track, TimeNs start) const {
    const auto at = std::partition_point(order_.begin(), order_.end(), [&](std::size_t op) {
      return std::tie(ops_.track[op], ops_.start[op]) < std::tie(track, start);
    });
    if (at == order_.end() || ops_.track[*at] != track || ops_.start[*at] != start) {
      return std::nullopt;
    }
    return *at;
  }

 private:
  const HostOps& ops_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::vector<BackwardPair> FindBackwardPairs(const RankTrace& trace) {
  const OpStarts starts(trace.host_ops);
  const BackwardLinks& links = trace.backward_links;
  std::vector<BackwardPair> pairs;
  for (std::size_t i = 0; i < links.Size(); ++i) {
    const auto forward = starts.Find(links.forward_track[i], links.forward_time[i]);
    const auto backward = starts.Find(links.backward_track[i], links.backward_time[i]);
    if (forward && backward) pairs.push_back({*forward, *backward});
  }
  return pairs;
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Batches by phase, the server over time, its cache and its transfers.
#include "overview.h"

#include <algorithm>
#include <map>
#include <utility>

namespace mpa::recipes::serving_requests {
namespace {

std::string PhaseOf(const Span& step) {
  if (step.prefill_requests < 0 || step.decode_requests < 0) return "unknown";
  if (step.prefill_requests > 0 && step.decode_requests > 0) return "mixed";
  return step.prefill_requests > 0 ? "prefill" : "decode";
}

void KeepMost(std::int64_t value, std::int64_t& most) { most = std::max(most, value); }

// From the first to the last record of anything.
Interval WholeOf(const Servers& servers) {
  Interval whole{INT64_MAX, INT64_MIN};
  const auto add = [&](TimeNs begin, TimeNs end) {
    whole = {std::min(whole.begin, begin), std::max(whole.end, end)};
  };
  for (const ServerPart* server : servers) {
    for (const Request& request : server->requests) {
      if (request.start >= 0) add(request.start, request.start + std::max<TimeNs>(request.dur, 0));
    }
    for (const Span& span : server->spans) add(span.start, span.End());
    for (const LoadState& state : server->load) add(state.time, state.time);
    for (const CacheState& state : server->cache) add(state.time, state.time);
  }
  return whole.begin > whole.end ? Interval{} : whole;
}

}  // namespace

std::vector<BatchKind> BatchKindsOf(const Scene& scene) {
  std::vector<BatchKind> kinds;
  for (const Lane& lane : scene.lanes) {
    std::map<std::string, BatchKind> by_phase;
    for (const Span* step : lane.steps) {
      BatchKind& kind = by_phase[PhaseOf(*step)];
      kind.lengths.push_back(step->dur);
      kind.requests += std::max(step->requests, 0);
      KeepMost(step->requests, kind.most_requests);
      kind.tokens_known = kind.tokens_known && step->prefill_tokens >= 0;
      kind.tokens += std::max<std::int64_t>(step->prefill_tokens, 0) +
                     std::max<std::int64_t>(step->decode_tokens, 0);
    }
    for (auto& [phase, kind] : by_phase) {
      kind.lane = &lane;
      kind.phase = phase;
      std::ranges::sort(kind.lengths);
      kinds.push_back(std::move(kind));
    }
  }
  return kinds;
}

std::vector<Moment> MomentsOf(const Scene& scene) {
  const Interval whole = WholeOf(scene.servers);
  if (whole.end <= whole.begin) return {};
  const TimeNs length = (whole.end - whole.begin) / static_cast<TimeNs>(kMoments) + 1;
  std::vector<Moment> moments;
  for (std::size_t i = 0; i < scene.servers.size(); ++i) {
    const ServerPart& server = *scene.servers[i];
    std::vector<Moment> of_server(kMoments);
    std::vector<std::pair<std::int64_t, std::int64_t>> batches(kMoments);  // requests, steps
    for (std::size_t number = 0; number < kMoments; ++number) {
      const auto at = static_cast<TimeNs>(number);
      of_server[number] = {.server = &server, .number = at, .begin = at * length, .length = length};
    }
    const auto of = [&](TimeNs time) {
      const auto number = static_cast<std::size_t>((time - whole.begin) / length);
      return std::min(number, kMoments - 1);
    };
    for (const Request& request : server.requests) {
      if (request.start >= 0) ++of_server[of(request.start)].arrivals;
    }
    for (const LoadState& state : server.load) {
      Moment& moment = of_server[of(state.time)];
      KeepMost(state.waiting, moment.waiting);
      KeepMost(state.running, moment.running);
      KeepMost(state.swapped, moment.swapped);
    }
    for (const CacheState& state : server.cache) {
      if (state.free_blocks < 0 || state.total_blocks <= 0) continue;
      double& least = of_server[of(state.time)].free_share;
      const double share =
          Ratio(std::min(state.free_blocks, state.total_blocks), state.total_blocks);
      least = least < 0 ? share : std::min(least, share);
    }
    for (const Lane& lane : scene.lanes) {
      if (lane.instance != i) continue;
      for (const Span* step : lane.steps) {
        if (step->requests < 0) continue;
        batches[of(step->start)].first += step->requests;
        ++batches[of(step->start)].second;
      }
    }
    for (std::size_t number = 0; number < kMoments; ++number) {
      const auto& [requests, steps] = batches[number];
      if (steps > 0)
        of_server[number].batch_requests =
            static_cast<double>(requests) / static_cast<double>(steps);
    }
    moments.insert(moments.end(), of_server.begin(), of_server.end());
  }
  return moments;
}

Blocks BlocksOf(const ServerPart& server) {
  Blocks blocks;
  const auto add = [&](std::int64_t free, std::int64_t total) {
    if (free < 0 || total <= 0) return;
    KeepMost(total, blocks.total);
    blocks.least_free = blocks.least_free < 0 ? free : std::min(blocks.least_free, free);
    blocks.most_used = std::max(blocks.most_used, 1 - Ratio(std::min(free, total), total));
  };
  for (const CacheState& state : server.cache) add(state.free_blocks, state.total_blocks);
  if (blocks.total >= 0) return blocks;
  for (const Span& span : server.spans) add(span.free_blocks, span.total_blocks);
  return blocks;
}

std::vector<TransfersOfRank> TransfersOf(const Scene& scene) {
  std::map<int, TransfersOfRank> by_rank;
  for (const Request* request : scene.All().requests) {
    if (request->transfer_dur < 0) continue;
    TransfersOfRank& of_rank = by_rank[request->transfer_rank];
    of_rank.rank = request->transfer_rank;
    of_rank.lengths.push_back(request->transfer_dur);
    if (request->transfer_tokens <= 0) continue;
    of_rank.tokens += request->transfer_tokens;
    of_rank.ns_per_token.push_back(static_cast<double>(request->transfer_dur) /
                                   static_cast<double>(request->transfer_tokens));
  }
  std::vector<TransfersOfRank> transfers;
  for (auto& [rank, of_rank] : by_rank) {
    std::ranges::sort(of_rank.lengths);
    transfers.push_back(std::move(of_rank));
  }
  return transfers;
}

}  // namespace mpa::recipes::serving_requests

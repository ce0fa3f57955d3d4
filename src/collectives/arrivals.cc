// SPDX-License-Identifier: Apache-2.0
// When each member came to a collective: from its own record, or from how long others waited.
#include "mpa/collectives/arrivals.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/measure/quantiles.h"

namespace mpa {

class GroupRanks {
 public:
  explicit GroupRanks(const JobCollectives& ranks) {
    for (const RankCollectives& rank : ranks) {
      for (const JobGroup& group : rank.groups) {
        if (!group.ranks.empty()) members_.try_emplace(group.id, group.ranks);
      }
      for (std::size_t text = 0; text < rank.own_rank_of_group.size(); ++text) {
        const std::int32_t own = rank.own_rank_of_group[text];
        if (own >= 0 && rank.rank >= 0) known_[rank.runs.texts[text]][own] = rank.rank;
      }
    }
  }

  // As the capture lists the members; else as they are known to be. Where all that are known have
  // one number in the group and the job, the others are taken to have it, too.
  RankId Of(const std::string& group, std::int32_t group_rank) const {
    if (group_rank < 0) return -1;
    const auto listed = members_.find(group);
    if (listed != members_.end()) {
      const auto at = static_cast<std::size_t>(group_rank);
      return at < listed->second.size() ? listed->second[at] : RankId();
    }
    const auto known = known_.find(group);
    if (known == known_.end()) return -1;
    const auto rank = known->second.find(group_rank);
    if (rank != known->second.end()) return rank->second;
    const bool identical = std::ranges::all_of(
        known->second, [](const auto& pair) { return pair.first == pair.second; });
    return identical ? RankId(group_rank) : RankId();
  }

 private:
  std::map<std::string, std::vector<RankId>> members_;
  std::map<std::string, std::map<std::int32_t, RankId>> known_;  // by group and its rank
};

namespace {

// Two observers note one arrival within it: the time that a signal takes, which no capture records.
constexpr TimeNs kMinTolerance = 50'000;

struct Sighting {
  TimeNs time = 0, sigma = 0;
  bool waited = false;
};

// What several observers together say of a rank that was not captured.
Arrival Judge(const std::vector<Sighting>& sightings) {
  std::vector<TimeNs> waited;
  TimeNs sigma = 0;
  TimeNs bound = std::numeric_limits<TimeNs>::max();
  for (const Sighting& sighting : sightings) {
    sigma = std::max(sigma, sighting.sigma);
    bound = std::min(bound, sighting.time);
    if (sighting.waited) waited.push_back(sighting.time);
  }
  Arrival arrival{.time = bound, .source = ArrivalSource::kBound};
  if (waited.empty()) return arrival;
  const auto [least, most] = std::minmax_element(waited.begin(), waited.end());
  const TimeNs tolerance = std::max(kMinTolerance, 3 * sigma);
  if (*most - *least > tolerance) {
    arrival.time = *most;  // no later than that
    return arrival;
  }
  arrival.time = Median(waited);
  arrival.source = ArrivalSource::kSeen;
  return arrival;
}

// By member, to the common clock. Without one, nobody leaves a barrier before the others. Empty:
// the members cannot be compared.
std::vector<ClockLine> LinesOf(const JobCollectives& ranks, const CollectiveInstance& instance,
                               const RankClocks& clocks) {
  std::vector<ClockLine> lines;
  bool are_known = true;
  for (const CollectiveInstance::Member& member : instance.members) {
    const RankClock& clock = clocks.clocks[member.rank];
    lines.push_back(clock.line);
    are_known =
        are_known && clock.known && clock.root == clocks.clocks[instance.members.front().rank].root;
  }
  if (are_known || lines.size() < 2) return lines;
  if (!instance.is_barrier) return {};
  const auto end_of = [&](const CollectiveInstance::Member& member) {
    const RankRuns::Row& row = ranks[member.rank].get().runs.rows[member.row];
    return row.start + row.dur;
  };
  const TimeNs end = lines[0].Convert(end_of(instance.members[0]));
  for (std::size_t i = 1; i < lines.size(); ++i)
    lines[i].offset += lines[i].Convert(end_of(instance.members[i])) - end;
  return lines;
}

// Members of which there is a record.
class CapturedMembers {
 public:
  CapturedMembers(const JobCollectives& ranks, const CollectiveInstance& instance) {
    for (const CollectiveInstance::Member& member : instance.members) {
      const RankCollectives& rank = ranks[member.rank];
      group_ranks_.push_back(rank.own_rank_of_group[rank.runs.rows[member.row].group]);
      ranks_.push_back(rank.rank);
    }
    std::ranges::sort(group_ranks_);
    std::ranges::sort(ranks_);
    are_known_ =
        group_ranks_.front() >= 0 && std::ranges::adjacent_find(group_ranks_) == group_ranks_.end();
  }
  // Where members do not say which of the group they are, or say the same, others may have seen
  // them.
  bool Has(std::int32_t group_rank) const {
    if (!are_known_) return group_ranks_.size() > 1;
    return std::ranges::binary_search(group_ranks_, group_rank);
  }
  bool Has(RankId rank) const { return rank >= 0 && std::ranges::binary_search(ranks_, rank); }

 private:
  std::vector<std::int32_t> group_ranks_;  // ascending
  std::vector<RankId> ranks_;              // ascending
  bool are_known_ = true;
};

InstanceArrivals ArrivalsOf(const JobCollectives& ranks, const CollectiveInstance& instance,
                            const RankClocks& clocks, const GroupRanks& group_ranks) {
  InstanceArrivals found;
  const std::vector<ClockLine> lines = LinesOf(ranks, instance, clocks);
  if (lines.empty()) return found;
  std::vector<TimeNs> ends;
  std::map<std::int32_t, std::vector<Sighting>> sightings;  // by rank within the group
  const CapturedMembers captured(ranks, instance);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [position, row_number] = instance.members[i];
    const RankCollectives& rank = ranks[position];
    const TimeNs sigma = clocks.clocks[position].sigma;
    const RankRuns::Row& row = rank.runs.rows[row_number];
    const std::int32_t own = rank.own_rank_of_group[row.group];
    ends.push_back(lines[i].Convert(row.start + row.dur));
    found.all.push_back({own, rank.rank, static_cast<std::int64_t>(position),
                         lines[i].Convert(row.start), ArrivalSource::kCaptured});
    for (const SeenPeer& seen : rank.seen[row_number]) {
      if (captured.Has(seen.peer)) continue;
      sightings[seen.peer].push_back({lines[i].Convert(seen.time), sigma, seen.waited});
    }
  }
  for (const auto& [peer, list] : sightings) {
    const RankId rank = group_ranks.Of(instance.group, peer);
    if (captured.Has(rank)) continue;
    Arrival arrival = Judge(list);
    arrival.group_rank = peer;
    arrival.rank = rank;
    found.all.push_back(arrival);
  }
  std::ranges::stable_sort(found.all, [](const Arrival& a, const Arrival& b) {
    return std::tie(a.time, a.group_rank, a.position) < std::tie(b.time, b.group_rank, b.position);
  });
  const auto [first, latest] = std::minmax_element(ends.begin(), ends.end());
  found.apart = *latest - *first;
  found.end = Median(std::move(ends));
  const TimeNs last = found.all.back().time;
  for (const Arrival& arrival : found.all) {
    if (arrival.source == ArrivalSource::kCaptured) found.lost += last - arrival.time;
  }
  return found;
}

}  // namespace

ArrivalFinder::ArrivalFinder(const JobCollectives& ranks, const RankClocks& clocks)
    : ranks_(ranks), clocks_(clocks), group_ranks_(std::make_unique<const GroupRanks>(ranks)) {}

ArrivalFinder::~ArrivalFinder() = default;

InstanceArrivals ArrivalFinder::Of(const CollectiveInstance& instance) const {
  return ArrivalsOf(ranks_, instance, clocks_, *group_ranks_);
}

std::size_t CountRanksOfJob(const JobCollectives& ranks) {
  const GroupRanks group_ranks(ranks);
  auto most = static_cast<std::int64_t>(ranks.size());
  for (const RankCollectives& rank : ranks) {
    if (rank.rank.IsNumber()) most = std::max(most, rank.rank.Number() + 1);
    for (const JobGroup& group : rank.groups)
      most = std::max(most, group.ranks.Largest().Number() + 1);
    for (std::size_t row = 0; row < rank.seen.size(); ++row) {
      const RankRuns::Row& run = rank.runs.rows[row];
      most = std::max<std::int64_t>(most, run.group_ranks);
      for (const SeenPeer& seen : rank.seen[row]) {
        const RankId peer = group_ranks.Of(rank.runs.texts[run.group], seen.peer);
        if (peer.IsNumber()) most = std::max(most, peer.Number() + 1);
      }
    }
  }
  return static_cast<std::size_t>(most);
}

}  // namespace mpa

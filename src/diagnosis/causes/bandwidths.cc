// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/causes/bandwidths.h"

#include <algorithm>

#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

TaskSum Less(const PeerTransfer& transfer, const TaskSum& part) {
  return {transfer.count - part.count, transfer.bytes - part.bytes, transfer.time - part.time};
}

}  // namespace

double MeanSize(const TaskSum& sum) {
  return sum.count == 0 ? 0 : static_cast<double>(sum.bytes) / static_cast<double>(sum.count);
}

bool ComparedTasks::AreSlower(double ratio, const Rules& rules) const {
  const double size = MeanSize(with), own = with.Bandwidth();
  const auto fewest = static_cast<double>(std::min(with.count, without.count));
  if (fewest < rules.compared_tasks || size < rules.link_least_bytes ||
      MeanSize(without) > rules.alike_sizes * size)
    return false;
  return own > 0 && own < ratio * without.Bandwidth();
}

std::map<std::string, ComparedTasks> CompareTasks(const std::vector<DiagnosedRank>& ranks,
                                                  TaskSum PeerTransfer::*part) {
  std::map<std::string, ComparedTasks> by_transport;
  for (const DiagnosedRank& rank : ranks) {
    for (const PeerTransfer& transfer : rank.part->transfers) {
      ComparedTasks& tasks = by_transport[rank.part->names[transfer.transport]];
      Add(transfer.*part, tasks.with);
      Add(Less(transfer, transfer.*part), tasks.without);
    }
  }
  return by_transport;
}

namespace {

void Add(const PeerTransfer& transfer, Traffic& traffic) {
  traffic.bytes += transfer.bytes;
  traffic.time += transfer.time;
}

}  // namespace

LinkSpeeds::LinkSpeeds(const Job& job) : job_(job) {
  Traffic large;  // between cards of a host, in transfers that show the bandwidth itself
  for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
    for (const PeerTransfer& transfer : job_.Part(rank).transfers) {
      // A small transfer shows the latency and not the bandwidth.
      if (transfer.bytes < Whole(job_.rules.link_least_bytes)) continue;
      const Link link = LinkOf(rank, transfer);
      Add(transfer, links_[link]);
      if (link.transport == kCardTransport &&
          static_cast<double>(transfer.bytes) >= job_.rules.port_bytes)
        Add(transfer, large);
    }
  }
  std::map<std::string, std::vector<double>> by_transport;
  for (const auto& [link, use] : links_)
    by_transport[link.transport].push_back(use.GigabytesPerSecond());
  for (auto& [transport, values] : by_transport) {
    // The faster ones are usual: half of the links may end at a slow node.
    usual_[transport] = ValueOfRank(values, NearestRankAbove(values.size(), 75));
  }
  const auto cards = usual_.find(std::string(kCardTransport));
  const double least = job_.rules.card_share * job_.rules.card_gbs;
  if (cards != usual_.end() && cards->second < least && large.time > 0 &&
      large.GigabytesPerSecond() < least) {
    cards->second = job_.rules.card_gbs;
    slow_everywhere_.emplace(kCardTransport);
  }
}

Link LinkSpeeds::LinkOf(std::size_t rank, const PeerTransfer& transfer) const {
  const RankDiagnosis& part = job_.Part(rank);
  const JobOperation& operation =
      job_.operations.all[job_.operations.of_rank[rank][transfer.operation]];
  const std::int64_t own = job_.ranks[rank].rank;
  const std::int64_t peer = RankInJob(operation, transfer.peer);
  return {std::min(own, peer), std::max(own, peer), part.names[transfer.transport]};
}

bool LinkSpeeds::IsSlow(const Link& link) const {
  const auto use = links_.find(link);
  return use != links_.end() && use->second.time > 0 &&
         use->second.GigabytesPerSecond() < job_.rules.link_bandwidth_ratio * UsualOf(link);
}

// Links within a node work side by side, those between nodes share the port of their card.
LinkSpeeds::Data LinkSpeeds::DataOf(std::size_t operation) const {
  Data data;
  for (const auto& member : job_.operations.all[operation].joint.members) {
    const RankDiagnosis& part = job_.Part(member.rank);
    auto at = std::partition_point(
        part.transfers.begin(), part.transfers.end(),
        [&](const PeerTransfer& row) { return row.operation < member.collective; });
    TimeNs through_port = 0;
    for (; at != part.transfers.end() && at->operation == member.collective; ++at) {
      data.bytes = std::max(data.bytes, at->bytes);
      const auto usual = usual_.find(part.names[at->transport]);
      if (usual == usual_.end() || usual->second <= 0) continue;
      // What a slow link takes longer is its own finding.
      const Link link = LinkOf(member.rank, *at);
      const double speed = IsSlow(link) ? links_.at(link).GigabytesPerSecond() : usual->second;
      const auto time = static_cast<TimeNs>(static_cast<double>(at->bytes) / speed);
      through_port += usual->first == kPortTransport ? time : 0;
      data.time = std::max({data.time, time, through_port});
    }
  }
  return data;
}

}  // namespace mpa

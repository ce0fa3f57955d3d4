// SPDX-License-Identifier: Apache-2.0
// Ports of the network that lose packets. What that costs shows in the transfers; the counters say
// why.
#include <algorithm>

#include "diagnose.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

constexpr MetricInfo kLostPackets{"lost_packets", "count", "{} packets damaged, dropped or resent"};

void FindLostPackets(Conclusions& conclusions) {
  const auto& [job, replays, diagnosis] = conclusions;
  Finding found = NewFinding(job, kCommLostPackets);
  std::int64_t packets = 0;
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    const std::int64_t lost = job.Part(rank).analyzers.lost_packets;
    if (lost <= 0) continue;
    packets += lost;
    found.ranks.push_back(job.ranks[rank].rank);
  }
  if (found.ranks.empty()) return;
  if (found.ranks.size() == job.ranks.size()) found.ranks.clear();
  found.Measure(kLostPackets, packets);
  diagnosis.findings.push_back(std::move(found));
}

}  // namespace

const FindingType kCommLostPackets = Fault(
    Area::kCommunication, "comm.lost_packets", {"hardware"}, "network ports lose packets",
    {.looked_at = "counters of RoCE ports: damaged and dropped packets, and those that were sent"
                  " again after a timeout",
     .refuted_by = "the counters do not grow while the capture lasts",
     .problem = "Communication Retransmission Analysis",
     .npu_alone = true,
     .applies = [](const Coverage& job) { return job.counts_packets; },
     .conclude = FindLostPackets,
     .advice = {{{"check optics and PFC/ECN of the network",
                  Check("optics and PFC/ECN of the network", "hccn_tool")}}}});

}  // namespace mpa

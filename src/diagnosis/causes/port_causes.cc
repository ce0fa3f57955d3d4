// SPDX-License-Identifier: Apache-2.0
// A network between hosts that is slow everywhere: no link shows what is usual, but the speed of
// the ports is known.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "finders.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

class PortCauses {
 public:
  explicit PortCauses(const Job& job) : job_(job) {}

  void Find(std::vector<Cause>& causes) const {
    const double usual = UsualBandwidth();
    if (usual <= 0 || usual >= job_.rules.port_share * job_.rules.port_gbs) return;
    Cause cause = NewCause(job_, "link.slow", "ports");
    cause.finding.confidence = Certainty::kMedium;  // their speed is not recorded
    cause.finding.ranks = Ends();
    cause.finding.metrics.push_back({"bandwidth", usual, "GB/s"});
    cause.finding.metrics.push_back({"bandwidth_of_ports", job_.rules.port_gbs, "GB/s"});
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      TimeNs less = 0;
      for (const auto& member : job_.operations.all[i].joint.members) {
        const OperationPart& part = job_.PartOf(member);
        const auto least =
            static_cast<TimeNs>(static_cast<double>(part.port_bytes) / job_.rules.port_gbs);
        less = std::max(less, part.port_time - least);
      }
      if (less > 0) ShortenOperation(job_, i, less, cause.what_if.expect);
    }
    causes.push_back(std::move(cause));
  }

 private:
  // Of the faster operations, in GB/s: what runs beside another one has but a part of the port. 0
  // where there are too few.
  double UsualBandwidth() const {
    std::vector<double> values;
    for (const DiagnosedRank& rank : job_.ranks) {
      for (const OperationPart& part : rank.part->operations) {
        if (part.port_time <= 0 || static_cast<double>(part.port_bytes) < job_.rules.port_bytes)
          continue;
        values.push_back(static_cast<double>(part.port_bytes) /
                         static_cast<double>(part.port_time));
      }
    }
    if (!IsAtLeast(values.size(), job_.rules.least_operations)) return 0;
    return ValueOfRank(values, NearestRankAbove(values.size(), 75));
  }

  // Either end may be the slow one.
  std::vector<std::int64_t> Ends() const {
    std::set<std::int64_t> ends;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      for (const PeerTransfer& transfer : part.transfers) {
        if (part.operations[transfer.operation].port_bytes == 0 ||
            part.names[transfer.transport] != kPortTransport)
          continue;
        ends.insert(job_.ranks[rank].rank);
        ends.insert(RankInJob(
            job_.operations.all[job_.operations.of_rank[rank][transfer.operation]], transfer.peer));
      }
    }
    return {ends.begin(), ends.end()};
  }

  const Job& job_;
};

}  // namespace

void FindSlowPorts(const Job& job, std::vector<Cause>& causes) { PortCauses(job).Find(causes); }

}  // namespace mpa

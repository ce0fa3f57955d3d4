// SPDX-License-Identifier: Apache-2.0
// Links, ports and groups that are slower than others of their kind.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "finder.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr Threshold kLinkSlowShare{
    "share", 0.6, 0, 1, "a group or a rank is slow in at least this share of its operations"},
    kLinkMembers{"members", 3, 2, kMaxCalls,
                 "operations of fewer ranks do not show which of them is slow"},
    kPortShare{"port_share", 0.7, 0, 1,
               "ports are slow if the faster operations reach less than this share of their rate"};

constexpr MetricInfo kBandwidthOfLinks{"bandwidth_of_links", "GB/s", "such links move {}"},
    kBandwidthOfOthers{"bandwidth_of_others", "GB/s", "other links {}"},
    kBandwidthOfPorts{"bandwidth_of_ports", "GB/s", "ports of {}"};

class LinkCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    AddSlowLinks();
    AddSlowMembers();
  }

 private:
  // All slow links that share an end are one cause: its card or its port.
  void AddSlowLinks() {
    std::set<RankId> ends;
    double slowest = 0, usual = 0;
    std::vector<Link> slow;
    for (const auto& [link, use] : speeds_.Links()) {
      if (!speeds_.IsSlow(link)) continue;
      slow.push_back(link);
      ends.insert({link.low, link.high});
      if (slowest == 0 || use.GigabytesPerSecond() < slowest) {
        slowest = use.GigabytesPerSecond();
        usual = speeds_.UsualOf(link);
      }
    }
    if (slow.empty()) return;
    const std::string place =
        slow.size() == 1 ? fmt::format("{}-{}", RankName(slow[0].low), RankName(slow[0].high))
                         : fmt::format("r{}", RankNames(ends, "+"));
    Finding candidate = NewFinding(job_, kLinkSlow, place);
    candidate.ranks.assign(ends.begin(), ends.end());
    candidate.Measure(kBandwidth, slowest);
    if (std::ranges::any_of(slow,
                            [&](const Link& link) { return speeds_.IsSlowEverywhere(link); })) {
      candidate.confidence = Certainty::kMedium;  // their speed is not recorded
      candidate.Measure(kBandwidthOfLinks, usual);
    } else {
      candidate.Measure(kBandwidthOfOthers, usual);
    }
    std::vector<LinkTimes> times(job_.operations.all.size());
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) NoteLinks(rank, times);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (times[i].now > times[i].then)
        ShortenOperation(job_, i, times[i].now - times[i].then, candidate.what_if.expect);
    }
    candidates_.push_back(std::move(candidate));
  }

  // Where peers are not recorded, members of a collective are compared: all move as much data, and
  // those at a slow link take longer while the others wait for them within the operation.
  void AddSlowMembers() {
    std::map<std::string, std::vector<std::size_t>> by_group;
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const JobOperation& operation = job_.operations.all[i];
      if (IsReduction(operation) &&
          IsAtLeast(operation.joint.members.size(), job_.thresholds[kLinkMembers]))
        by_group[operation.group].push_back(i);
    }
    for (const auto& [group, operations] : by_group) AddSlowMembersOf(operations);
  }

 private:
  // How long the links of the slowest rank take for an operation, as they are and if none was slow.
  // Those between nodes share the port of their card; an operation waits for all of its links.
  struct LinkTimes {
    TimeNs now = 0, then = 0;
  };

  void NoteLinks(RankIndex rank, std::vector<LinkTimes>& times) const {
    const auto& transfers = job_.Part(rank).transfers;
    for (std::size_t first = 0; first < transfers.size();) {
      std::size_t last = first;
      while (last < transfers.size() && transfers[last].operation == transfers[first].operation)
        ++last;
      LinkTimes port;
      LinkTimes& of_operation = times[job_.operations.of_rank[rank][transfers[first].operation]];
      for (std::size_t i = first; i < last; ++i) {
        const Link link = speeds_.LinkOf(rank, transfers[i]);
        const TimeNs now = transfers[i].all.time;
        const auto usual = [&] {
          return static_cast<TimeNs>(static_cast<double>(transfers[i].all.bytes) /
                                     speeds_.UsualOf(link));
        };
        const TimeNs then = speeds_.IsSlow(link) ? std::min(now, usual()) : now;
        const bool shares_port = link.transport == kPortTransport;
        port.now += shares_port ? now : 0;
        port.then += shares_port ? then : 0;
        of_operation.now = std::max({of_operation.now, now, port.now});
        of_operation.then = std::max({of_operation.then, then, port.then});
      }
      first = last;
    }
  }

  void AddSlowMembersOf(const std::vector<std::size_t>& operations) {
    std::map<RankId, std::size_t> slow;  // by rank: in how many operations
    std::vector<std::pair<std::size_t, TimeNs>> less;
    double worst = 0;
    for (const std::size_t i : operations) {
      const auto& members = job_.operations.all[i].joint.members;
      std::vector<TimeNs> moved;
      bool has_peers = false;
      for (const auto& member : members) {
        moved.push_back(job_.PartOf(member).moved);
        has_peers = has_peers || !job_.Part(member.rank).transfers.empty();
      }
      if (has_peers) return;
      const std::vector<TimeNs> unsorted = moved;
      std::ranges::sort(moved);
      const TimeNs usual = moved[PercentileIndex(moved.size(), 50)];  // half of them may be slow
      const auto is_slow = [&](TimeNs time) {
        return static_cast<double>(usual) <
               job_.thresholds[kLinkBandwidthRatio] * static_cast<double>(time);
      };
      if (usual <= 0 || !is_slow(moved.back())) continue;
      for (std::size_t at = 0; at < members.size(); ++at) {
        if (is_slow(unsorted[at])) ++slow[job_.ranks[members[at].rank].rank];
      }
      less.emplace_back(i, moved.back() - usual);
      worst = std::max(worst, Share(moved.back(), usual));
    }
    std::erase_if(slow, [&](const auto& rank) {
      return static_cast<double>(rank.second) <
             job_.thresholds[kLinkSlowShare] * static_cast<double>(operations.size());
    });
    if (slow.empty()) return;
    std::vector<RankId> ranks;
    for (const auto& [rank, count] : slow) ranks.push_back(rank);
    Finding candidate = NewFinding(job_, kLinkSlow, fmt::format("r{}", RankNames(ranks, "+")));
    candidate.ranks = std::move(ranks);
    candidate.Measure(kSlowerThanPeers, worst);
    for (const auto& [operation, time] : less)
      ShortenOperation(job_, operation, time, candidate.what_if.expect);
    candidates_.push_back(std::move(candidate));
  }

  const LinkSpeeds& speeds_ = search_.Speeds();
};

// A network between hosts that is slow everywhere: no link shows what is usual, but the speed of
// the ports is known.
class PortCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    const double usual = UsualBandwidth();
    if (usual <= 0 || usual >= job_.thresholds[kPortShare] * job_.thresholds[kPortGbs]) return;
    Finding candidate = NewFinding(job_, kLinkSlow, "ports");
    candidate.variant = &kLinkSlowBetweenHosts;
    candidate.confidence = Certainty::kMedium;  // their speed is not recorded
    candidate.ranks = Ends();
    candidate.Measure(kBandwidth, usual);
    candidate.Measure(kBandwidthOfPorts, job_.thresholds[kPortGbs]);
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      TimeNs less = 0;
      for (const auto& member : job_.operations.all[i].joint.members) {
        const OperationPart& part = job_.PartOf(member);
        const auto least =
            static_cast<TimeNs>(static_cast<double>(part.port_bytes) / job_.thresholds[kPortGbs]);
        less = std::max(less, part.port_time - least);
      }
      if (less > 0) ShortenOperation(job_, i, less, candidate.what_if.expect);
    }
    candidates_.push_back(std::move(candidate));
  }

 private:
  // Of the faster operations, in GB/s: what runs beside another one has but a part of the port. 0
  // where there are too few.
  double UsualBandwidth() const {
    std::vector<double> values;
    for (const DiagnosedRank& rank : job_.ranks) {
      for (const OperationPart& part : rank.part->operations) {
        if (part.port_time <= 0 ||
            static_cast<double>(part.port_bytes) < job_.thresholds[kPortBytes])
          continue;
        values.push_back(Share(part.port_bytes, part.port_time));
      }
    }
    if (!IsAtLeast(values.size(), job_.thresholds[kMinOperations])) return 0;
    return ValueAtPosition(values, PercentileIndexAbove(values.size(), 75));
  }

  // Either end may be the slow one.
  std::vector<RankId> Ends() const {
    std::set<RankId> ends;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
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
};

// Where no links are recorded, groups of one kind are compared: all do the same operations, and the
// one with a slow link takes longer after its last arrival.
class SlowGroups : Finder {
 public:
  using Finder::Finder;

  void Find() {
    for (const DiagnosedRank& rank : job_.ranks) {
      if (!rank.part->transfers.empty()) return;
    }
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) AddOperation(i);
    for (const auto& [kind, groups] : kinds_) Compare(groups);
  }

 private:
  // Stages of a pipeline exchange other amounts, and other hosts have other links.
  using Kind =
      std::tuple<std::string, std::string, std::size_t, std::int32_t, std::size_t, std::int64_t>;
  using Operations = std::vector<std::size_t>;

  void AddOperation(std::size_t number) {
    const JobOperation& operation = job_.operations.all[number];
    const auto& members = operation.joint.members;
    const bool is_barrier =
        IsBarrierKind(operation.kind) && !operation.kind.starts_with("alltoall");
    // An uncaptured member may be the one that the others wait for.
    if (!is_barrier || members.size() < 2 || members.size() != operation.members.size()) return;
    std::set<std::string> hosts;
    for (const auto& member : members) {
      if (job_.stage[member.rank] != job_.stage[members[0].rank]) return;
      hosts.insert(job_.Part(member.rank).host);
    }
    const std::int64_t bytes = job_.Part(members[0].rank).operations[members[0].collective].bytes;
    const Kind kind{operation.kind, operation.group,
                    members.size(), job_.stage[members[0].rank],
                    hosts.size(),   bytes};
    kinds_[kind][operation.joint.series].push_back(number);
  }

  TimeNs UsualOf(const Operations& operations) const {
    std::vector<TimeNs> times;
    for (const std::size_t i : operations) times.push_back(PostOf(job_, i));
    return Median(std::move(times));
  }

  void Compare(const std::map<std::size_t, Operations>& groups) {
    std::vector<TimeNs> usual_times;
    std::set<std::size_t> counts;
    for (const auto& [series, operations] : groups) {
      usual_times.push_back(UsualOf(operations));
      counts.insert(operations.size());
    }
    // Groups that do not do the same cannot be compared.
    if (groups.size() < 2 || counts.size() > 1 ||
        !IsAtLeast(*counts.begin(), job_.thresholds[kMinOperations]))
      return;
    const TimeNs usual = LowerQuartile(std::move(usual_times));
    if (usual <= 0) return;
    for (const auto& [series, operations] : groups) AddSlow(operations, usual);
  }

  void AddSlow(const Operations& operations, TimeNs usual) {
    const auto is_slow = [&](std::size_t i) {
      return static_cast<double>(usual) <
             job_.thresholds[kLinkBandwidthRatio] * static_cast<double>(PostOf(job_, i));
    };
    const auto slow = std::ranges::count_if(operations, is_slow);
    if (static_cast<double>(slow) <
        job_.thresholds[kLinkSlowShare] * static_cast<double>(operations.size()))
      return;
    const std::vector<RankId>& ranks = job_.operations.all[operations[0]].members;
    Finding candidate = NewFinding(job_, kLinkSlow, fmt::format("r{}", RankNames(ranks, "+")));
    candidate.ranks = ranks;
    std::ranges::sort(candidate.ranks);
    candidate.Measure(kSlowerThanPeers, Share(UsualOf(operations), usual));
    for (const std::size_t i : operations) {
      const TimeNs more = PostOf(job_, i) - usual;
      if (more > 0) ShortenOperation(job_, i, more, candidate.what_if.expect);
    }
    candidates_.push_back(std::move(candidate));
  }

  std::map<Kind, std::map<std::size_t, Operations>> kinds_;  // by kind and group
};

AdvicePart CheckCabling() {
  return {"check its cabling and switch ports", Check("cabling and switch ports")};
}

Advice LinkAdvice() {
  return {{{"check the state of the link (hccn_tool)", Check("state of the link", "hccn_tool")},
           CheckCabling()},
          {{"check the state of the link (nvidia-smi nvlink, ibstat)",
            Check("state of the link", "nvidia-smi nvlink")},
           CheckCabling()}};
}

void FindSlowLinks(FindingSearch& search) {
  FindBy<LinkCauses>(search);
  FindBy<PortCauses>(search);
  FindBy<SlowGroups>(search);
}

}  // namespace

const FindingType kLinkSlow =
    Fault(Area::kCommunication, "link.slow", {"communication", "hardware"}, "a link of {} is slow",
          {.looked_at = "bandwidth of each link compared with others of its kind, or with what"
                        " such links of the chip can move",
           .refuted_by = "all links of the kind are equally fast, the transfers are too small to"
                         " show bandwidth, or a sender came late",
           .problem = "slow link",
           .needs = {Record::kLinkLimits, Record::kTransfers},
           .find = FindSlowLinks,
           .advice = LinkAdvice(),
           .thresholds = {&kLinkBandwidthRatio, &kLinkLeastBytes, &kLinkSlowShare, &kLinkMembers,
                          &kCardGbs, &kCardShare, &kPortGbs, &kPortShare, &kPortBytes}});

const FindingVariant kLinkSlowBetweenHosts{"the network between hosts is slow", LinkAdvice()};

}  // namespace mpa

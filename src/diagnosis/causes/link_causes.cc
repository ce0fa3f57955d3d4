// SPDX-License-Identifier: Apache-2.0
// Links that are slower than others of their kind.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "finders.h"
#include "link_speeds.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

class LinkCauses {
 public:
  LinkCauses(const Job& job, const LinkSpeeds& speeds, std::vector<Cause>& causes)
      : job_(job), speeds_(speeds), causes_(causes) {}

  // All slow links that share an end are one cause: its card or its port.
  void AddSlowLinks() {
    std::set<std::int64_t> ends;
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
    const std::string place = slow.size() == 1 ? fmt::format("{}-{}", slow[0].low, slow[0].high)
                                               : fmt::format("r{}", fmt::join(ends, "+"));
    Cause cause = NewCause(job_, "link.slow", place);
    cause.finding.ranks.assign(ends.begin(), ends.end());
    cause.finding.metrics.push_back({"bandwidth", slowest, "GB/s"});
    if (std::any_of(slow.begin(), slow.end(),
                    [&](const Link& link) { return speeds_.IsSlowEverywhere(link); })) {
      cause.finding.confidence = Certainty::kMedium;  // their speed is not recorded
      cause.finding.metrics.push_back({"bandwidth_of_links", usual, "GB/s"});
    } else {
      cause.finding.metrics.push_back({"bandwidth_of_others", usual, "GB/s"});
    }
    std::vector<LinkTimes> times(job_.operations.all.size());
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) NoteLinks(rank, times);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (times[i].now > times[i].then)
        ShortenOperation(job_, i, times[i].now - times[i].then, cause.what_if.expect);
    }
    causes_.push_back(std::move(cause));
  }

  // Where peers are not recorded, members of a collective are compared: all move as much data, and
  // those at a slow link take longer while the others wait for them within the operation.
  void AddSlowMembers() {
    std::map<std::string, std::vector<std::size_t>> by_group;
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const JobOperation& operation = job_.operations.all[i];
      if (IsReduction(operation) &&
          IsAtLeast(operation.joint.members.size(), job_.rules.link_members))
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

  void NoteLinks(std::size_t rank, std::vector<LinkTimes>& times) const {
    const auto& transfers = job_.Part(rank).transfers;
    for (std::size_t first = 0; first < transfers.size();) {
      std::size_t last = first;
      while (last < transfers.size() && transfers[last].operation == transfers[first].operation)
        ++last;
      LinkTimes port;
      LinkTimes& of_operation = times[job_.operations.of_rank[rank][transfers[first].operation]];
      for (std::size_t i = first; i < last; ++i) {
        const Link link = speeds_.LinkOf(rank, transfers[i]);
        const TimeNs now = transfers[i].time;
        const auto usual = [&] {
          return static_cast<TimeNs>(static_cast<double>(transfers[i].bytes) /
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
    std::map<std::int64_t, std::size_t> slow;  // by rank: in how many operations
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
      std::sort(moved.begin(), moved.end());
      const TimeNs usual = moved[NearestRank(moved.size(), 50)];  // half of them may be slow
      const auto is_slow = [&](TimeNs time) {
        return static_cast<double>(usual) <
               job_.rules.link_bandwidth_ratio * static_cast<double>(time);
      };
      if (usual <= 0 || !is_slow(moved.back())) continue;
      for (std::size_t at = 0; at < members.size(); ++at) {
        if (is_slow(unsorted[at])) ++slow[job_.ranks[members[at].rank].rank];
      }
      less.emplace_back(i, moved.back() - usual);
      worst = std::max(worst, static_cast<double>(moved.back()) / static_cast<double>(usual));
    }
    std::erase_if(slow, [&](const auto& rank) {
      return static_cast<double>(rank.second) <
             job_.rules.link_slow_share * static_cast<double>(operations.size());
    });
    if (slow.empty()) return;
    std::vector<std::int64_t> ranks;
    for (const auto& [rank, count] : slow) ranks.push_back(rank);
    Cause cause = NewCause(job_, "link.slow", fmt::format("r{}", fmt::join(ranks, "+")));
    cause.finding.ranks = std::move(ranks);
    cause.finding.metrics.push_back({"slower_than_peers", worst, "ratio"});
    for (const auto& [operation, time] : less)
      ShortenOperation(job_, operation, time, cause.what_if.expect);
    causes_.push_back(std::move(cause));
  }

  const Job& job_;
  const LinkSpeeds& speeds_;
  std::vector<Cause>& causes_;
};

}  // namespace

void FindSlowLinks(const Job& job, const LinkSpeeds& speeds, std::vector<Cause>& causes) {
  LinkCauses found(job, speeds, causes);
  found.AddSlowLinks();
  found.AddSlowMembers();
}

}  // namespace mpa

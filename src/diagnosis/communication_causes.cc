// SPDX-License-Identifier: Apache-2.0
// Links that are slower than others of their kind, and collectives that could cost less.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cause.h"

namespace mpa {
namespace {

struct Link {
  std::int64_t low = -1, high = -1;  // ranks
  std::string transport;
  auto operator<=>(const Link&) const = default;
};

struct Use {
  std::int64_t bytes = 0;
  TimeNs time = 0;
  double Bandwidth() const { return time > 0 ? static_cast<double>(bytes) / static_cast<double>(time) : 0; }
};

class CommunicationCauses {
 public:
  CommunicationCauses(const Job& job, std::vector<Cause>& causes) : job_(job), causes_(causes) {}

  void Find() {
    SumLinks();
    AddSlowLinks();
    AddSmall();
    AddNotOverlapped();
  }

 private:
  const JobOperation& OperationOf(std::size_t rank, std::size_t collective) const {
    return job_.operations.all[job_.operations.of_rank[rank][collective]];
  }

  Link LinkOf(std::size_t rank, const PeerTransfer& transfer) const {
    const RankDiagnosis& part = job_.Part(rank);
    const std::int64_t own = job_.ranks[rank].rank;
    const std::int64_t peer = RankInJob(OperationOf(rank, transfer.operation), transfer.peer);
    return {std::min(own, peer), std::max(own, peer), part.names[transfer.transport]};
  }

  void SumLinks() {
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      for (const PeerTransfer& transfer : job_.Part(rank).transfers) {
        // It says nothing of the bandwidth, but of the latency.
        if (transfer.bytes < Whole(job_.rules.link_least_bytes)) continue;
        Use& use = links_[LinkOf(rank, transfer)];
        use.bytes += transfer.bytes;
        use.time += transfer.time;
      }
    }
    std::map<std::string, std::vector<double>> by_transport;
    for (const auto& [link, use] : links_) by_transport[link.transport].push_back(use.Bandwidth());
    for (auto& [transport, values] : by_transport) {
      std::sort(values.begin(), values.end());
      // The faster ones are usual: half of the links may end at a slow node.
      usual_[transport] = values[values.size() * 3 / 4];
    }
  }

  bool IsSlow(const Link& link) const {
    const auto use = links_.find(link);
    return use != links_.end() && use->second.Bandwidth() < job_.rules.link_bandwidth_ratio * usual_.at(link.transport);
  }

  // All slow links that share an end are one cause: its card or its port.
  void AddSlowLinks() {
    std::set<std::int64_t> ends;
    double slowest = 0, usual = 0;
    std::vector<Link> slow;
    for (const auto& [link, use] : links_) {
      if (!IsSlow(link)) continue;
      slow.push_back(link);
      ends.insert({link.low, link.high});
      if (slowest == 0 || use.Bandwidth() < slowest) {
        slowest = use.Bandwidth();
        usual = usual_.at(link.transport);
      }
    }
    if (slow.empty()) return;
    const std::string place = slow.size() == 1 ? fmt::format("{}-{}", slow[0].low, slow[0].high) : fmt::format("r{}", fmt::join(ends, "+"));
    Cause cause = NewCause(job_, "link.slow", place);
    cause.finding.ranks.assign(ends.begin(), ends.end());
    cause.finding.metrics.push_back({"bandwidth", slowest, "GB/s"});
    cause.finding.metrics.push_back({"bandwidth_of_others", usual, "GB/s"});
    std::vector<TimeNs> less(job_.operations.all.size(), 0);
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) NoteSlow(rank, less);
    for (std::size_t i = 0; i < less.size(); ++i) {
      if (less[i] > 0) ShortenOperation(i, less[i], cause.what_if.expect);
    }
    causes_.push_back(std::move(cause));
  }

  // What the slow links of a rank took longer than they would have at the usual bandwidth, beyond
  // the slowest of the other links, which the operation waits for as well.
  void NoteSlow(std::size_t rank, std::vector<TimeNs>& less) const {
    const auto& transfers = job_.Part(rank).transfers;
    for (std::size_t first = 0; first < transfers.size();) {
      std::size_t last = first;
      while (last < transfers.size() && transfers[last].operation == transfers[first].operation) ++last;
      TimeNs longest_slow = 0, longest_other = 0;
      for (std::size_t i = first; i < last; ++i) {
        const Link link = LinkOf(rank, transfers[i]);
        if (!IsSlow(link)) {
          longest_other = std::max(longest_other, transfers[i].time);
          continue;
        }
        const auto usual = static_cast<TimeNs>(static_cast<double>(transfers[i].bytes) / usual_.at(link.transport));
        longest_slow = std::max(longest_slow, transfers[i].time);
        longest_other = std::max(longest_other, std::min(usual, transfers[i].time));
      }
      TimeNs& of_operation = less[job_.operations.of_rank[rank][transfers[first].operation]];
      of_operation = std::max(of_operation, longest_slow - longest_other);
      first = last;
    }
  }

  void ShortenOperation(std::size_t operation, TimeNs time, Removal& removal) const {
    for (const ReplayGraph::Edge edge : job_.graph.leaves[operation]) removal.waits.push_back({edge, time});
  }

  // From the last arrival to the end.
  TimeNs PostOf(std::size_t operation) const {
    TimeNs post = 0;
    for (const ReplayGraph::Edge edge : job_.graph.leaves[operation]) post = std::max(post, job_.graph.graph.Weight(edge));
    return post;
  }

  // What the longest of its links takes for the data alone.
  TimeNs TransferOf(std::size_t operation, std::int64_t& bytes) const {
    TimeNs longest = 0;
    for (const auto& member : job_.operations.all[operation].joint.members) {
      const auto& transfers = job_.Part(member.rank).transfers;
      auto at = std::partition_point(transfers.begin(), transfers.end(), [&](const PeerTransfer& row) { return row.operation < member.collective; });
      for (; at != transfers.end() && at->operation == member.collective; ++at) {
        bytes = std::max(bytes, at->bytes);
        const double usual = usual_.contains(job_.Part(member.rank).names[at->transport]) ? usual_.at(job_.Part(member.rank).names[at->transport]) : 0;
        if (usual > 0) longest = std::max(longest, static_cast<TimeNs>(static_cast<double>(at->bytes) / usual));
      }
    }
    return longest;
  }

  // Reductions of gradients and the like. Those of tensor parallelism are on the way of the data:
  // nothing can run beside them, and none can wait for another.
  bool IsApart(const JobOperation& operation) const {
    return operation.group != "tp" && IsReduction(operation);
  }

  static bool IsReduction(const JobOperation& operation) {
    return operation.kind == "allreduce" || operation.kind == "reducescatter" || operation.kind == "allgather";
  }

  // Many operations of a group that take mostly latency: in fewer and larger ones it would be paid
  // once.
  void AddSmall() {
    std::map<std::string, std::vector<std::size_t>> by_group;
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      if (IsApart(job_.operations.all[i])) by_group[job_.operations.all[i].group].push_back(i);
    }
    for (const auto& [group, operations] : by_group) {
      Cause cause = NewCause(job_, "comm.small", group);
      std::size_t small = 0;
      std::int64_t all_bytes = 0;
      for (const std::size_t i : operations) {
        std::int64_t bytes = 0;
        const TimeNs transfer = TransferOf(i, bytes), post = PostOf(i);
        if (bytes == 0 || static_cast<double>(post) < job_.rules.small_latency_ratio * static_cast<double>(transfer)) continue;
        ++small;
        all_bytes += bytes;
        ShortenOperation(i, post - transfer, cause.what_if.expect);
      }
      const auto steps = static_cast<double>(std::max<std::size_t>(1, job_.steps)), count = static_cast<double>(small);
      const double least = job_.rules.small_count_share * static_cast<double>(operations.size());
      if (small == 0 || count < job_.rules.small_calls * steps || count < least) continue;
      cause.finding.metrics.push_back({"calls_per_step", count / steps, "count"});
      cause.finding.metrics.push_back({"mean_size", static_cast<double>(all_bytes) / count, "bytes"});
      causes_.push_back(std::move(cause));
    }
  }

  // Reductions of gradients that the device waits for although it could compute meanwhile.
  void AddNotOverlapped() {
    std::map<std::string, std::vector<std::size_t>> by_group;
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const JobOperation& operation = job_.operations.all[i];
      if (IsApart(operation)) by_group[operation.group].push_back(i);
    }
    for (const auto& [group, operations] : by_group) {
      Cause cause = NewCause(job_, "comm.not_overlapped", group);
      TimeNs post_of_all = 0;
      const auto start = [&](std::size_t i) { return job_.graph.graph.Start(job_.graph.joints[i]); };
      std::map<std::int32_t, TimeNs> last;  // start, by step
      for (const std::size_t i : operations) {
        const auto [found, is_new] = last.try_emplace(job_.operations.all[i].step, start(i));
        found->second = std::max(found->second, start(i));
      }
      for (const std::size_t i : operations) {
        const TimeNs post = PostOf(i);
        post_of_all += post;
        ShortenOperation(i, ShareOf(post, job_.rules.overlap_share), cause.what_if.expect);
        // Nothing is left to compute when the last one of a step begins.
        if (start(i) < last[job_.operations.all[i].step]) ShortenOperation(i, post, cause.what_if.bound);
      }
      if (post_of_all == 0) continue;
      cause.finding.metrics.push_back({"time_per_step", static_cast<double>(post_of_all) / static_cast<double>(std::max<std::size_t>(1, job_.steps)), "ns"});
      causes_.push_back(std::move(cause));
    }
  }

  const Job& job_;
  std::vector<Cause>& causes_;
  std::map<Link, Use> links_;
  std::map<std::string, double> usual_;  // bandwidth by transport
};

}  // namespace

void FindCommunicationCauses(const Job& job, std::vector<Cause>& causes) {
  CommunicationCauses(job, causes).Find();
}

}  // namespace mpa

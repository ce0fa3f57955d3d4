// SPDX-License-Identifier: Apache-2.0
// Transfers that are slower than others of their kind for a reason of their own: their size, what
// runs beside them, time-outs, the buffer that they have to pass.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "finders.h"
#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/causes/cause.h"

namespace mpa {
namespace {

class TransferCauses {
 public:
  TransferCauses(const Job& job, std::vector<Cause>& causes)
      : job_(job), rules_(job.rules), causes_(causes) {}

  void Find() {
    AddCompared("comm.unaligned", &PeerTransfer::odd, rules_.odd_ratio, "bandwidth_aligned");
    AddCompared("comm.contention", &PeerTransfer::beside, rules_.beside_ratio, "bandwidth_alone");
    AddRetransmit();
    AddBuffer();
  }

 private:
  std::size_t OperationOf(std::size_t rank, std::uint32_t collective) const {
    return job_.operations.of_rank[rank][collective];
  }

  // Tasks that have something in common against those of the same transport that have it not.
  void AddCompared(std::string_view id, TaskSum PeerTransfer::*part, double ratio,
                   const char* metric) {
    for (const auto& [transport, tasks] : CompareTasks(job_.ranks, part)) {
      if (!tasks.AreSlower(ratio, rules_)) continue;
      const double own = tasks.with.Bandwidth(), usual = tasks.without.Bandwidth();
      Cause cause = NewCause(job_, id, transport);
      std::vector<TimeNs> less(job_.operations.all.size(), 0);
      for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
        for (const PeerTransfer& transfer : job_.Part(rank).transfers) {
          if (job_.Part(rank).names[transfer.transport] != transport) continue;
          TimeNs& of_operation = less[OperationOf(rank, transfer.operation)];
          of_operation = std::max(of_operation, ShareOf((transfer.*part).time, 1 - own / usual));
        }
      }
      for (std::size_t i = 0; i < less.size(); ++i) {
        if (less[i] > 0) ShortenOperation(job_, i, less[i], cause.what_if.expect);
      }
      cause.finding.metrics.push_back({"bandwidth", own, "GB/s"});
      cause.finding.metrics.push_back({metric, usual, "GB/s"});
      cause.finding.metrics.push_back({"mean_size", MeanSize(tasks.with), "bytes"});
      causes_.push_back(std::move(cause));
    }
  }

  static double RatioOf(const LongTask& task) {
    return static_cast<double>(task.dur) / static_cast<double>(std::max<TimeNs>(1, task.usual));
  }
  bool IsResent(std::size_t rank, const LongTask& task) const {
    return job_.Part(rank).names[task.transport] == kPortTransport &&
           RatioOf(task) >= rules_.retransmit_ratio;
  }

  // By operation.
  std::map<std::size_t, std::set<std::size_t>> ResendingRanks() const {
    std::map<std::size_t, std::set<std::size_t>> ranks;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      for (const LongTask& task : job_.Part(rank).long_tasks) {
        if (IsResent(rank, task)) ranks[OperationOf(rank, task.operation)].insert(rank);
      }
    }
    return ranks;
  }

  // RDMA sends again what got lost, long after.
  void AddRetransmit() {
    std::map<std::size_t, TimeNs> less;
    std::set<std::int64_t> ends;
    double worst = 0;
    const std::map<std::size_t, std::set<std::size_t>> resending = ResendingRanks();
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      for (const LongTask& task : job_.Part(rank).long_tasks) {
        if (!IsResent(rank, task)) continue;
        const double ratio = RatioOf(task);
        const std::size_t operation = OperationOf(rank, task.operation);
        // Data that take long on all of several ranks wait for a late one.
        const std::size_t members = job_.operations.all[operation].joint.members.size();
        if (members > 2 && resending.at(operation).size() == members) continue;
        less[operation] = std::max(less[operation], task.dur - task.usual);
        ends.insert({job_.ranks[rank].rank, RankInJob(job_.operations.all[operation], task.peer)});
        worst = std::max(worst, ratio);
      }
    }
    if (less.empty()) return;
    Cause cause = NewCause(job_, "comm.retransmit", fmt::format("r{}", fmt::join(ends, "+")));
    for (const auto& [operation, time] : less)
      ShortenOperation(job_, operation, time, cause.what_if.expect);
    cause.finding.ranks.assign(ends.begin(), ends.end());
    cause.finding.metrics.push_back({"beyond_usual", worst, "ratio"});
    causes_.push_back(std::move(cause));
  }

  // What does not fit the buffer goes through it in turns.
  void AddBuffer() {
    const auto& settings = job_.Part(0).settings;
    const auto said = settings.find("HCCL_BUFFSIZE");
    double buffer = rules_.buffer_bytes;
    if (said != settings.end()) buffer = std::strtod(said->second.c_str(), nullptr) * (1 << 20);
    if (buffer <= 0) return;
    struct Sizes {
      TaskSum fits, exceeds;
      std::vector<std::size_t> large;
    };
    std::map<std::string, Sizes> by_kind;  // and group
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const JobOperation& operation = job_.operations.all[i];
      if (operation.joint.members.empty()) continue;
      const auto& member = operation.joint.members[0];
      const auto bytes = job_.Part(member.rank).operations[member.collective].bytes;
      // Smaller messages are held up by their start.
      if (static_cast<double>(bytes) * rules_.buffer_reach < buffer) continue;
      Sizes& sizes = by_kind[operation.kind + "/" + operation.group];
      const bool is_large = static_cast<double>(bytes) > buffer;
      Add({1, bytes, PostOf(job_, i)}, is_large ? sizes.exceeds : sizes.fits);
      if (is_large) sizes.large.push_back(i);
    }
    for (const auto& [kind, sizes] : by_kind) {
      const double own = sizes.exceeds.Bandwidth(), usual = sizes.fits.Bandwidth();
      const auto fewest = static_cast<double>(std::min(sizes.exceeds.count, sizes.fits.count));
      if (fewest < rules_.compared_tasks || own >= rules_.buffer_ratio * usual) continue;
      Cause cause = NewCause(job_, "comm.buffer", kind);
      if (said == settings.end()) cause.finding.confidence = Certainty::kLow;
      for (const std::size_t i : sizes.large)
        ShortenOperation(job_, i, ShareOf(PostOf(job_, i), 1 - own / usual), cause.what_if.expect);
      cause.finding.metrics.push_back({"mean_size", MeanSize(sizes.exceeds), "bytes"});
      cause.finding.metrics.push_back({"bandwidth", own, "GB/s"});
      cause.finding.metrics.push_back({"bandwidth_below", usual, "GB/s"});
      causes_.push_back(std::move(cause));
    }
  }

  const Job& job_;
  const Rules& rules_;
  std::vector<Cause>& causes_;
};

}  // namespace

void FindTransferCauses(const Job& job, std::vector<Cause>& causes) {
  TransferCauses(job, causes).Find();
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Transfers that are slower than others of their kind for a reason of their own: their size, what
// runs beside them, time-outs, the buffer that they have to pass.
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

constexpr Threshold kOddRatio{
    "ratio", 0.7, 0, 1,
    "tasks with unaligned sizes reach less than this share of the bandwidth of the others"},
    kCopiedShare{"copied_share", 0.2, 0, 1,
                 "an operation copies first if that takes this share of its time"},
    kUncopiedShare{"uncopied_share", 0.05, 0, 1, "and does not if it takes less than this share"},
    kRetransmitRatio{"ratio", 20, kLongTaskRatio, 1e6,
                     "a task takes this many times the usual time for its size"},
    kBufferBytes{"bytes", 200 << 20, 1, kMaxBytes, "HCCL_BUFFSIZE where it is not recorded"},
    kBufferRatio{"ratio", 0.85, 0, 1,
                 "messages beyond it reach less than this share of the bandwidth"},
    kBufferReach{"reach", 8, 1, 1e6,
                 "they are compared with messages down to one in this many of it"};

constexpr MetricInfo kBeyondUsual{"beyond_usual", "ratio", "{} times the usual time"},
    kBandwidthBelow{"bandwidth_below", "GB/s", "smaller ones {}"},
    kBandwidthAligned{"bandwidth_aligned", "GB/s", "aligned ones {}"},
    kBandwidthAlone{"bandwidth_alone", "GB/s", "alone {}"},
    kCopiedPerCall{"copied_per_call", "ns", "{} of copies within the device, before each"},
    kOtherOperations{"other_calls_per_step", "count", "{} like them without"};

class TransferCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    AddCompared(kCommUnaligned, &PeerTransfer::odd, thresholds_[kOddRatio], kBandwidthAligned);
    AddCompared(kCommContention, &PeerTransfer::beside, thresholds_[kBesideRatio], kBandwidthAlone);
    AddCopied();
    AddRetransmit();
    AddBuffer();
  }

 private:
  std::size_t OperationOf(RankIndex rank, std::uint32_t collective) const {
    return job_.operations.of_rank[rank][collective];
  }

  // Tasks that have something in common against those of the same transport that have it not.
  void AddCompared(const FindingType& finding, Traffic PeerTransfer::*part, double ratio,
                   const MetricInfo& metric) {
    for (const auto& [transport, tasks] : CompareTasks(job_.ranks, part)) {
      if (!tasks.AreSlower(ratio, thresholds_)) continue;
      const double own = tasks.with.GigabytesPerSecond(),
                   usual = tasks.without.GigabytesPerSecond();
      Finding candidate = NewFinding(job_, finding, transport);
      std::vector<TimeNs> less(job_.operations.all.size(), 0);
      for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
        for (const PeerTransfer& transfer : job_.Part(rank).transfers) {
          if (job_.Part(rank).names[transfer.transport] != transport) continue;
          TimeNs& of_operation = less[OperationOf(rank, transfer.operation)];
          of_operation = std::max(of_operation, ShareOf((transfer.*part).time, 1 - own / usual));
        }
      }
      for (std::size_t i = 0; i < less.size(); ++i) {
        if (less[i] > 0) ShortenOperation(job_, i, less[i], candidate.what_if.expect);
      }
      candidate.Measure(kBandwidth, own);
      candidate.Measure(metric, usual);
      candidate.Measure(kMeanSize, MeanSize(tasks.with));
      candidates_.push_back(std::move(candidate));
    }
  }

  // The longest copy of a member within itself, before it has to do with others.
  TimeNs CopiedFirst(const JobOperation& operation) const {
    TimeNs copied = 0;
    for (const JointOperation::Member& member : operation.joint.members)
      copied = std::max(copied, job_.PartOf(member).copied);
    return copied;
  }

  // What is sent from an address that engines cannot read is copied first, as a whole. Others of
  // the same kind and size, which are not, show that this need not be.
  void AddCopied() {
    struct Alike {
      std::vector<std::size_t> copied;
      std::vector<TimeNs> usual;  // that the others copy
    };
    std::map<std::tuple<std::string, std::string, std::int64_t>, Alike> by_kind;
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const JobOperation& operation = job_.operations.all[i];
      if (operation.joint.members.empty() || !job_.Counts(operation.step)) continue;
      const std::int64_t bytes = job_.PartOf(operation.joint.members.front()).bytes;
      Alike& alike = by_kind[{operation.kind, operation.group, bytes}];
      const TimeNs copied = CopiedFirst(operation), time = std::max<TimeNs>(1, PostOf(job_, i));
      const double share = Share(copied, time);
      if (share >= thresholds_[kCopiedShare]) alike.copied.push_back(i);
      if (share < thresholds_[kUncopiedShare]) alike.usual.push_back(copied);
    }
    Finding candidate = NewFinding(job_, kCommUnaligned, "copies");
    candidate.variant = &kCommCopiesFirst;
    std::size_t calls = 0, others = 0;
    TimeNs time = 0;
    for (auto& [kind, alike] : by_kind) {
      constexpr std::size_t kLeast = 2;
      if (alike.copied.size() < kLeast || alike.usual.size() < kLeast) continue;
      calls += alike.copied.size();
      others += alike.usual.size();
      const TimeNs usual = Median(std::move(alike.usual));
      for (const std::size_t i : alike.copied) {
        const TimeNs less = CopiedFirst(job_.operations.all[i]) - usual;
        time += less;
        ShortenOperation(job_, i, less, candidate.what_if.expect);
      }
    }
    if (calls == 0) return;
    const auto steps = static_cast<double>(std::max<std::size_t>(1, job_.CountedSteps()));
    candidate.Measure(kCopiedPerCall, Share(time, calls));
    candidate.Measure(kCallsPerStep, static_cast<double>(calls) / steps);
    candidate.Measure(kOtherOperations, static_cast<double>(others) / steps);
    candidates_.push_back(std::move(candidate));
  }

  static double RatioOf(const LongTask& task) {
    return Share(task.dur, std::max<TimeNs>(1, task.usual));
  }
  bool IsResent(RankIndex rank, const LongTask& task) const {
    return job_.Part(rank).names[task.transport] == kPortTransport &&
           RatioOf(task) >= thresholds_[kRetransmitRatio];
  }

  // By operation.
  std::map<std::size_t, std::set<std::size_t>> ResendingRanks() const {
    std::map<std::size_t, std::set<std::size_t>> ranks;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      for (const LongTask& task : job_.Part(rank).long_tasks) {
        if (IsResent(rank, task)) ranks[OperationOf(rank, task.operation)].insert(rank);
      }
    }
    return ranks;
  }

  // RDMA sends again what got lost, long after.
  void AddRetransmit() {
    std::map<std::size_t, TimeNs> less;
    std::set<RankId> ends;
    double worst = 0;
    const std::map<std::size_t, std::set<std::size_t>> resending = ResendingRanks();
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
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
    Finding candidate = NewFinding(job_, kCommRetransmit, fmt::format("r{}", RankNames(ends, "+")));
    for (const auto& [operation, time] : less)
      ShortenOperation(job_, operation, time, candidate.what_if.expect);
    candidate.ranks.assign(ends.begin(), ends.end());
    candidate.Measure(kBeyondUsual, worst);
    candidates_.push_back(std::move(candidate));
  }

  // A message larger than the buffer passes through it in several turns.
  void AddBuffer() {
    const auto& settings = job_.Part(0).settings;
    const auto said = settings.find("HCCL_BUFFSIZE");
    double buffer = thresholds_[kBufferBytes];
    if (said != settings.end()) buffer = std::strtod(said->second.c_str(), nullptr) * (1 << 20);
    if (buffer <= 0) return;
    struct Sizes {
      Traffic fits, exceeds;
      std::vector<std::size_t> large;
    };
    std::map<std::string, Sizes> by_kind;  // and group
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const JobOperation& operation = job_.operations.all[i];
      if (operation.joint.members.empty()) continue;
      const auto& member = operation.joint.members[0];
      const auto bytes = job_.Part(member.rank).operations[member.collective].bytes;
      // Smaller messages are held up by their start.
      if (static_cast<double>(bytes) * thresholds_[kBufferReach] < buffer) continue;
      Sizes& sizes = by_kind[operation.kind + "/" + operation.group];
      const bool is_large = static_cast<double>(bytes) > buffer;
      (is_large ? sizes.exceeds : sizes.fits).Add({1, bytes, PostOf(job_, i)});
      if (is_large) sizes.large.push_back(i);
    }
    for (const auto& [kind, sizes] : by_kind) {
      const double own = sizes.exceeds.GigabytesPerSecond(),
                   usual = sizes.fits.GigabytesPerSecond();
      const auto fewest = static_cast<double>(std::min(sizes.exceeds.count, sizes.fits.count));
      if (fewest < thresholds_[kComparedTasks] || own >= thresholds_[kBufferRatio] * usual)
        continue;
      Finding candidate = NewFinding(job_, kCommBuffer, kind);
      if (said == settings.end()) candidate.confidence = Certainty::kLow;
      for (const std::size_t i : sizes.large)
        ShortenOperation(job_, i, ShareOf(PostOf(job_, i), 1 - own / usual),
                         candidate.what_if.expect);
      candidate.Measure(kMeanSize, MeanSize(sizes.exceeds));
      candidate.Measure(kBandwidth, own);
      candidate.Measure(kBandwidthBelow, usual);
      candidates_.push_back(std::move(candidate));
    }
  }
};

Traffic Less(const Traffic& all, const Traffic& part) {
  return {all.count - part.count, all.bytes - part.bytes, all.time - part.time};
}

}  // namespace

double MeanSize(const Traffic& sum) { return sum.count == 0 ? 0 : Share(sum.bytes, sum.count); }

bool ComparedTasks::AreSlower(double ratio, const Thresholds& thresholds) const {
  const double size = MeanSize(with), own = with.GigabytesPerSecond();
  const auto fewest = static_cast<double>(std::min(with.count, without.count));
  if (fewest < thresholds[kComparedTasks] || size < thresholds[kLinkLeastBytes] ||
      MeanSize(without) > thresholds[kAlikeSizes] * size)
    return false;
  return own > 0 && own < ratio * without.GigabytesPerSecond();
}

std::map<std::string, ComparedTasks> CompareTasks(const std::vector<DiagnosedRank>& ranks,
                                                  Traffic PeerTransfer::*part) {
  std::map<std::string, ComparedTasks> by_transport;
  for (const DiagnosedRank& rank : ranks) {
    for (const PeerTransfer& transfer : rank.part->transfers) {
      ComparedTasks& tasks = by_transport[rank.part->names[transfer.transport]];
      tasks.with.Add(transfer.*part);
      tasks.without.Add(Less(transfer.all, transfer.*part));
    }
  }
  return by_transport;
}

LinkSpeeds::LinkSpeeds(const Job& job) : job_(job) {
  Traffic large;  // between cards of a host, in transfers that show the bandwidth itself
  for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
    for (const PeerTransfer& transfer : job_.Part(rank).transfers) {
      // A small transfer shows the latency and not the bandwidth.
      if (transfer.all.bytes < Whole(job_.thresholds[kLinkLeastBytes])) continue;
      const Link link = LinkOf(rank, transfer);
      links_[link].Add(transfer.all);
      if (link.transport == kCardTransport &&
          static_cast<double>(transfer.all.bytes) >= job_.thresholds[kPortBytes])
        large.Add(transfer.all);
    }
  }
  std::map<std::string, std::vector<double>> by_transport;
  for (const auto& [link, use] : links_)
    by_transport[link.transport].push_back(use.GigabytesPerSecond());
  for (auto& [transport, values] : by_transport)
    usual_[transport] = UsualBandwidth(std::move(values));
  const auto cards = usual_.find(std::string(kCardTransport));
  const double least = job_.thresholds[kCardShare] * job_.thresholds[kCardGbs];
  if (cards != usual_.end() && cards->second < least && large.time > 0 &&
      large.GigabytesPerSecond() < least) {
    cards->second = job_.thresholds[kCardGbs];
    slow_everywhere_.emplace(kCardTransport);
  }
}

Link LinkSpeeds::LinkOf(RankIndex rank, const PeerTransfer& transfer) const {
  const RankDiagnosis& part = job_.Part(rank);
  const JobOperation& operation =
      job_.operations.all[job_.operations.of_rank[rank][transfer.operation]];
  const RankId own = job_.ranks[rank].rank;
  const RankId peer = RankInJob(operation, transfer.peer);
  return {std::min(own, peer), std::max(own, peer), part.names[transfer.transport]};
}

bool LinkSpeeds::IsSlow(const Link& link) const {
  const auto use = links_.find(link);
  return use != links_.end() && use->second.time > 0 &&
         use->second.GigabytesPerSecond() < job_.thresholds[kLinkBandwidthRatio] * UsualOf(link);
}

// Links within a node work side by side, those between nodes share the port of their card.
LinkSpeeds::Data LinkSpeeds::DataOf(std::size_t operation) const {
  Data data;
  for (const auto& member : job_.operations.all[operation].joint.members) {
    const RankDiagnosis& part = job_.Part(member.rank);
    auto at = std::ranges::partition_point(
        part.transfers, [&](const PeerTransfer& row) { return row.operation < member.collective; });
    TimeNs through_port = 0;
    for (; at != part.transfers.end() && at->operation == member.collective; ++at) {
      data.bytes = std::max(data.bytes, at->all.bytes);
      const auto usual = usual_.find(part.names[at->transport]);
      if (usual == usual_.end() || usual->second <= 0) continue;
      // What a slow link takes longer is its own finding.
      const Link link = LinkOf(member.rank, *at);
      const double speed = IsSlow(link) ? links_.at(link).GigabytesPerSecond() : usual->second;
      const auto time = static_cast<TimeNs>(static_cast<double>(at->all.bytes) / speed);
      through_port += usual->first == kPortTransport ? time : 0;
      data.time = std::max({data.time, time, through_port});
    }
  }
  return data;
}

const FindingType kCommUnaligned = Opportunity(
    Area::kCommunication, "comm.unaligned", {"framework"},
    "message sizes are not multiples of 512 bytes",
    {.looked_at = "bandwidth of tasks whose sizes are not multiples of 512 bytes, compared with"
                  " others of the transport; what collectives copy before they send",
     .refuted_by = "both are equally fast, or the sizes are not comparable; all collectives of a"
                   " size copy as much",
     .problem = "Byte Alignment Analysis",
     .needs = {Record::kTransfers},
     .applies = HasTransfers,
     .find = FindBy<TransferCauses>,
     .advice = {{If(Trains, {"pad the buckets to multiples of 512 bytes",
                             Change("buckets", "multiples of 512 bytes")}),
                 If(DoesNotTrain, {"pad what is sent to multiples of 512 bytes",
                                   Change("messages", "multiples of 512 bytes")})}},
     .thresholds = {&kOddRatio, &kCopiedShare, &kUncopiedShare}});

const FindingVariant kCommCopiesFirst{
    "some collectives copy their data within the device first",
    {{{"send whole tensors whose address is a multiple of 128 bytes (contiguous, no slices)",
       Change("what is sent", "contiguous, from addresses that are multiples of 128 bytes")}}}};

const FindingType kCommContention = Opportunity(
    Area::kCommunication, "comm.contention", {"framework"}, "computing slows concurrent transfers",
    {.looked_at = "bandwidth of tasks during computing, and of those without",
     .refuted_by = "both are equally fast",
     .problem = "Bandwidth Contention Analysis",
     .needs = {Record::kTransfers},
     .applies = HasTransfers,
     .advice = {{{"compare the step with and without the overlap, and keep the faster one",
                  Check("the step with and without the overlap")}}},
     .thresholds = {&kBesideRatio}});

const FindingType kCommRetransmit = Fault(
    Area::kCommunication, "comm.retransmit", {"hardware", "communication"},
    "transfers of {} time out",
    {.looked_at = "RDMA tasks that take many times the usual time for their size",
     .refuted_by = "all members of the operation take equally long: they wait for a late rank",
     .problem = "Communication Retransmission Analysis",
     .needs = {Record::kTransfers},
     .applies = HasTransfers,
     .advice = {{{"check optics and PFC/ECN of the network",
                  Check("optics and PFC/ECN of the network", "hccn_tool")},
                 {"check HCCL_RDMA_TIMEOUT", Check("HCCL_RDMA_TIMEOUT")}},
                {{"check optics and PFC/ECN of the network",
                  Check("optics and PFC/ECN of the network", "ibstat")}}},
     .thresholds = {&kRetransmitRatio}});

const FindingType kCommBuffer = Opportunity(
    Area::kCommunication, "comm.buffer", {"framework"}, "messages exceed the buffer of HCCL",
    {.looked_at = "bandwidth of messages above HCCL_BUFFSIZE compared with smaller ones",
     .refuted_by = "both are equally fast, or the messages fit",
     .needs = {Record::kTransfers},
     .applies = HasTransfers,
     .advice = {{{"raise HCCL_BUFFSIZE (each group takes twice its size of device memory)",
                  Change("HCCL_BUFFSIZE", "above the message")}}},
     .thresholds = {&kBufferBytes, &kBufferRatio, &kBufferReach}});

}  // namespace mpa

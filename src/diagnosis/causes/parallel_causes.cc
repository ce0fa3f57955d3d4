// SPDX-License-Identifier: Apache-2.0
// Stages of a pipeline that have more layers than others.
#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "finder.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/causes/micro_batches.h"
#include "small_operations.h"

namespace mpa {
namespace {

constexpr Threshold kExposedShare{"share", 0.1, 0, 1,
                                  "exposed communication takes at least this share of the step"},
    kExposedGain{"gain", 0.5, 0, 1, "a fix removes this share of it"},
    kStageRatio{"ratio", 1.05, 1, 1000,
                "a stage has too many layers from this multiple of the mean"},
    kZeroCalls{"calls", 20, 1, kMaxCalls,
               "clearing gradients runs at least this many kernels per step"};

constexpr MetricInfo kImbalance{"imbalance", "ratio", "{} times the mean"};

class PipelineCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    for (const std::int32_t role : job_.stage) stages_.insert(role);
    // A stage that was not captured may be the one with most layers.
    if (stages_.size() < 2 || !ShapeOfPipeline(job_).complete) return;
    AddImbalance();
  }

 private:
  // How often a stage runs a kind of kernel, per rank.
  std::map<std::pair<std::string, std::string>, double> CountsOf(std::int32_t stage) const {
    std::map<std::pair<std::string, std::string>, double> counts;
    double ranks = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      if (job_.stage[rank] != stage) continue;
      ranks += 1;
      const RankDiagnosis& part = job_.Part(rank);
      for (const GraphNode& node : part.graph.nodes) {
        if (node.kind != NodeKind::kKernel || node.step < 0) continue;
        const KernelKind& kind = part.KindOf(node);
        counts[{part.names[kind.type], part.names[kind.shapes]}] += 1;
      }
    }
    for (auto& [kind, count] : counts) count /= ranks;
    return counts;
  }

  // The layers are what all stages have: the kinds of kernels that each of them runs, counted.
  // Embedding and head are apart.
  void AddImbalance() {
    std::map<std::int32_t, std::map<std::pair<std::string, std::string>, double>> counts;
    for (const std::int32_t stage : stages_) counts[stage] = CountsOf(stage);
    std::map<std::pair<std::string, std::string>, double> mean;
    for (const auto& [kind, count] : counts.begin()->second) {
      double sum = 0;
      bool everywhere = true;
      for (const auto& [stage, of_stage] : counts) {
        const auto found = of_stage.find(kind);
        everywhere = everywhere && found != of_stage.end();
        if (found != of_stage.end()) sum += found->second;
      }
      if (everywhere) mean[kind] = sum / static_cast<double>(stages_.size());
    }
    std::map<std::int32_t, double> load;
    for (const auto& [stage, of_stage] : counts) {
      std::vector<double> ratios;
      for (const auto& [kind, usual] : mean) ratios.push_back(of_stage.at(kind) / usual);
      if (ratios.empty()) return;
      std::nth_element(ratios.begin(),
                       ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2),
                       ratios.end());
      load[stage] = ratios[ratios.size() / 2];
    }
    const auto heaviest =
        std::ranges::max_element(load, {}, [](const auto& a) { return a.second; });
    // Less is another mixture of operators.
    if (heaviest->second < job_.thresholds[kStageRatio]) return;
    Finding candidate = NewFinding(job_, kPpStageImbalance, "s" + std::to_string(heaviest->first));
    candidate.Measure(kImbalance, heaviest->second);
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      if (job_.stage[rank] == heaviest->first) candidate.ranks.push_back(job_.ranks[rank].rank);
      Balance(rank, mean, load[job_.stage[rank]], candidate.what_if.expect);
    }
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const std::int32_t stage = StageOf(job_.operations.all[i]);
      if (stage < 0) continue;
      for (const ReplayGraph::Edge edge : job_.graph.categories[i]) {
        const auto post = static_cast<double>(job_.graph.graph.Weight(edge));
        candidate.what_if.expect.waits.push_back(
            {edge, static_cast<TimeNs>(post * (1 - 1 / load[stage]))});
      }
    }
    candidates_.push_back(std::move(candidate));
  }

  // The stage whose layers an operation belongs to; -1: it is once a step, or joins stages.
  std::int32_t StageOf(const JobOperation& operation) const {
    if (IsPairKind(operation.kind) || operation.group == "dp" || operation.joint.members.empty())
      return -1;
    const std::int32_t stage = job_.stage[operation.joint.members[0].rank];
    for (const auto& member : operation.joint.members) {
      if (job_.stage[member.rank] != stage) return -1;
    }
    return stage;
  }

  // Light stages get what heavy ones lose.
  void Balance(RankIndex rank, const std::map<std::pair<std::string, std::string>, double>& mean,
               double load, Removal& removal) const {
    const RankDiagnosis& part = job_.Part(rank);
    for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
      const GraphNode& node = part.graph.nodes[i];
      if (node.kind != NodeKind::kKernel || node.step < 0) continue;
      const KernelKind& kind = part.KindOf(node);
      if (!mean.contains({part.names[kind.type], part.names[kind.shapes]})) continue;
      removal.durations.push_back(
          {job_.graph.first_node[rank] + i,
           static_cast<TimeNs>(static_cast<double>(node.dur) * (1 - 1 / load))});
    }
  }

  std::set<std::int32_t> stages_;
};

}  // namespace

// What data-parallel training asks of its ranks beside the model: how often gradients and buffers
// are exchanged, how long the device waits for that, how gradients are cleared.

namespace {

class DataParallelCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const JobOperation& operation = job_.operations.all[i];
      if (operation.group != "tp") by_group_[operation.group].push_back(i);
    }
    AddUnbucketed();
    AddBroadcasts();
    AddExposed();
    AddClearing();
  }

 private:
  std::vector<std::size_t> OfKind(const std::vector<std::size_t>& operations,
                                  std::string_view kind) const {
    std::vector<std::size_t> found;
    std::ranges::copy_if(operations, std::back_inserter(found),
                         [&](std::size_t i) { return job_.operations.all[i].kind == kind; });
    return found;
  }

  void DropCall(std::size_t operation, double share, Removal& removal) const {
    for (const auto& member : job_.operations.all[operation].joint.members) {
      const std::uint32_t arrive =
          job_.Part(member.rank).graph.collectives[member.collective].arrive;
      DropIssuing(job_, member.rank, issuing_[member.rank].Of(arrive), share, removal);
    }
  }

  // Sizes of transfers tell small operations. Where they are not recorded, as on GPUs, many
  // reductions of one group in a step tell that each parameter has its own: all but a few could go
  // together, and each of those then takes none of the time that the shortest one takes to start.
  void AddUnbucketed() {
    for (const auto& [group, operations] : by_group_) {
      const std::vector<std::size_t> reductions = OfKind(operations, "allreduce");
      const bool sizes_known = std::ranges::any_of(
          job_.ranks, [](const DiagnosedRank& rank) { return !rank.part->transfers.empty(); });
      const double calls = CallsPerStep(job_, reductions);
      if (sizes_known || calls < job_.thresholds[kBucketCalls]) continue;
      std::int64_t bytes = 0;
      TimeNs start = std::numeric_limits<TimeNs>::max();
      for (const std::size_t i : reductions) {
        bytes += BytesOf(i);
        start = std::min(start, PostOf(job_, i));
      }
      const double mean = Share(bytes, reductions.size());
      if (mean > job_.thresholds[kSmallBytes]) continue;
      const double per_step = mean * calls;
      const double left = std::max(per_step / job_.thresholds[kSmallBytes], 1.0);
      const double gone = std::max(0.0, 1 - left / calls);
      Finding candidate = NewFinding(job_, kCommSmall, group);
      for (const std::size_t i : reductions) {
        ShortenOperation(job_, i, ShareOf(start, gone), candidate.what_if.expect);
        DropCall(i, gone, candidate.what_if.expect);
      }
      candidate.Measure(kCallsPerStep, calls);
      if (bytes > 0) candidate.Measure(kMeanSize, mean);
      candidates_.push_back(std::move(candidate));
    }
  }

  std::int64_t BytesOf(std::size_t operation) const {
    const auto& members = job_.operations.all[operation].joint.members;
    return members.empty() ? 0 : job_.PartOf(members[0]).bytes;
  }

  // DDP sends the buffers of the model from its first rank to all others before each forward pass.
  void AddBroadcasts() {
    for (const auto& [group, operations] : by_group_) {
      const std::vector<std::size_t> broadcasts = OfKind(operations, "broadcast");
      const double calls = CallsPerStep(job_, broadcasts);
      if (calls < 1 || OfKind(operations, "allreduce").empty()) continue;
      Finding candidate = NewFinding(job_, kCommBroadcast, group);
      candidate.confidence = Certainty::kLow;  // the capture does not say what is sent
      for (const std::size_t i : broadcasts) {
        ShortenOperation(job_, i, PostOf(job_, i), candidate.what_if.expect);
        DropCall(i, 1, candidate.what_if.expect);
      }
      candidate.Measure(kCallsPerStep, calls);
      candidates_.push_back(std::move(candidate));
    }
  }

  // Where nothing tells waiting for others from transferring, collectives beside which nothing is
  // computed are the limit of the step, whichever it is.
  void AddExposed() {
    double unsplit = 0, steps = 0;
    for (const DiagnosedRank& rank : job_.ranks) {
      for (std::size_t step = job_.first_step; step < rank.part->steps.size(); ++step) {
        for (const UnsplitPiece& piece : rank.part->steps[step].unsplit)
          unsplit += static_cast<double>(piece.end - piece.begin);
        ++steps;
      }
    }
    if (job_.ranks.size() > 1 || steps == 0 ||
        unsplit / steps < job_.thresholds[kExposedShare] * static_cast<double>(job_.step_time))
      return;
    const Exposure exposure(job_);
    for (const auto& [group, operations] : by_group_) {
      Finding candidate = NewFinding(job_, kCommExposed, group);
      TimeNs time = 0;
      for (const std::size_t i : operations) {
        const TimeNs exposed = exposure.Of(i);
        if (exposed <= 0) continue;
        ShortenOperation(job_, i, ShareOf(exposed, job_.thresholds[kExposedGain]),
                         candidate.what_if.expect);
        ShortenOperation(job_, i, exposed, candidate.what_if.bound);
        if (job_.operations.all[i].step >= static_cast<std::int32_t>(job_.first_step))
          time += exposed;
      }
      if (candidate.what_if.expect.waits.empty()) continue;
      candidate.confidence = Certainty::kLow;
      candidate.Measure(kTimePerStep, PerStep(job_, time));
      candidates_.push_back(std::move(candidate));
    }
  }

  // Gradients that are filled with zeros, one by one, instead of being dropped.
  void AddClearing() {
    Finding candidate = NewFinding(job_, kOpZeroGrad);
    double calls = 0, time = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const auto& nodes = job_.Part(rank).graph.nodes;
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        if (!nodes[i].clears_gradients || nodes[i].step < 0) continue;
        DropDeviceWork(job_, rank, i, candidate.what_if.expect);
        DropIssuing(job_, rank, issuing_[rank].Of(i), 1, candidate.what_if.expect);
        if (nodes[i].step < static_cast<std::int32_t>(job_.first_step)) continue;
        ++calls;
        time += static_cast<double>(nodes[i].dur);
      }
    }
    if (calls / RankSteps() < job_.thresholds[kZeroCalls]) return;
    MeasureSums(calls, time, candidate);
    candidates_.push_back(std::move(candidate));
  }

  std::map<std::string, std::vector<std::size_t>> by_group_;
};

}  // namespace

const FindingType kPpStageImbalance = Fault(
    Area::kBalance, "pp.stage_imbalance", {"model"}, "the pipeline stage of {} has more work",
    {.looked_at = "time of kernels of all stages, per micro-batch",
     .refuted_by = "the stages take equally long, or one of them was not captured",
     .categories = ComputeCategories(),
     .needs = {Record::kStages},
     .applies = HasStages,
     .find = FindBy<PipelineCauses>,
     .advice = {{{"move layers to other stages", Change("layers of the pipeline stages", "even")},
                 {"give the stages of embedding and logits fewer layers",
                  Change("layers beside embedding and logits", "fewer")}}},
     .thresholds = {&kStageRatio}});

const FindingType kCommExposed = Opportunity(
    Area::kCommunication, "comm.exposed", {"framework", "communication"},
    "nothing is computed during the collectives",
    {.looked_at = "collectives of the only captured rank during which nothing is computed",
     .refuted_by =
         "computing runs during them; several ranks distinguish waiting from transferring",
     .applies = [](const Coverage& job) { return job.operations && job.ranks == 1; },
     .find = FindBy<DataParallelCauses>,
     .advice = {{{"capture all ranks, to see whether they wait or transfer",
                  Capture({{"ranks", std::string("all")}})},
                 If(Trains, {"reduce less often (accumulate gradients) or less data",
                             Change("gradients", "accumulated")}),
                 If(DoesNotTrain, {"exchange less data, or meanwhile compute what does not need it",
                                   Change("collectives", "less data, or during computing")})}},
     .thresholds = {&kExposedShare, &kExposedGain}});

const FindingType kCommBroadcast = Opportunity(
    Area::kCommunication, "comm.broadcast", {"model", "framework"},
    "buffers of the model are broadcast in every step",
    {.looked_at = "broadcasts of buffers at the start of each step",
     .refuted_by = "they belong to a pipeline or to the optimizer, or occur in only one step",
     .advice = {{{"DistributedDataParallel(broadcast_buffers=False) if ranks may differ in them",
                  SetOption("DistributedDataParallel.broadcast_buffers", false)}}}});

const FindingType kOpZeroGrad = Opportunity(
    Area::kDevices, "op.zero_grad", {"model"}, "gradients are filled with zeros one by one",
    {.looked_at = "kernels that fill gradients with zeros, launched by zero_grad",
     .refuted_by = "few of them, or zeros that the program asked for elsewhere",
     .advice = {{If(Trains,
                    {{"zero_grad(set_to_none=True)"}, SetOption("zero_grad.set_to_none", true)}),
                 If(DoesNotTrain, {"no zero_grad() without a backward pass",
                                   Change("zero_grad", "none without a backward pass")})}},
     .thresholds = {&kZeroCalls}});

}  // namespace mpa

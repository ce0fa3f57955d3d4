// SPDX-License-Identifier: Apache-2.0
// Reductions of gradients and the like that could be fewer, or run beside computing.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "finder.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "small_operations.h"

namespace mpa {
namespace {

constexpr Threshold kOverlapShare{"gain", 0.65, 0, 1,
                                  "a good schedule hides at most this share of the transfers"};

constexpr MetricInfo kOverlapped{"overlapped", "share", "{} overlapped"};

class ReductionCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    AddSmall();
    FindSmallOnTheWay(job_, speeds_, exposure_, candidates_);
    AddNotOverlapped();
  }

 private:
  // The reductions of gradients and the like, by group. Those on the way of the data are left out:
  // nothing can run beside them, and none can wait for another.
  std::map<std::string, std::vector<std::size_t>> ReductionsByGroup() const {
    std::map<std::string, std::vector<std::size_t>> by_group;
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const JobOperation& operation = job_.operations.all[i];
      if (operation.group != "tp" && IsReduction(operation)) by_group[operation.group].push_back(i);
    }
    std::erase_if(by_group, [&](const auto& group) { return exposure_.OnTheWay(group.second); });
    return by_group;
  }

  // Many operations of a group that take mostly latency: in fewer and larger ones it would be paid
  // once, and the hosts would issue fewer.
  void AddSmall() {
    for (const auto& [group, operations] : ReductionsByGroup()) {
      Finding candidate = NewFinding(job_, kCommSmall, group);
      std::vector<std::size_t> small;
      std::map<std::pair<std::int32_t, std::size_t>, Small> merged;  // by step and series
      std::int64_t all_bytes = 0;
      for (const std::size_t i : operations) {
        const LinkSpeeds::Data data = speeds_.DataOf(i);
        if (!IsSmallOperation(job_, i, data)) continue;
        small.push_back(i);
        all_bytes += data.bytes;
        Small& of_step = merged[MergedWith(i)];
        of_step.bytes += data.bytes;
        ++of_step.count;
        ShortenOperation(job_, i, OwnTimeOf(job_, i) - data.time, candidate.what_if.expect);
      }
      const double calls = CallsPerStep(job_, small), count = static_cast<double>(small.size());
      if (small.empty() || calls < job_.thresholds[kSmallCalls] ||
          count < job_.thresholds[kSmallCountShare] * static_cast<double>(operations.size()))
        continue;
      candidate.Measure(kCallsPerStep, calls);
      candidate.Measure(kMeanSize, static_cast<double>(all_bytes) / count);
      for (const std::size_t i : small) {
        const double gone = merged.at(MergedWith(i)).ShareGone(job_.thresholds);
        for (const auto& member : job_.operations.all[i].joint.members) {
          const std::uint32_t arrive =
              job_.Part(member.rank).graph.collectives[member.collective].arrive;
          DropIssuing(job_, member.rank, issuing_[member.rank].Of(arrive), gone,
                      candidate.what_if.expect);
        }
      }
      candidates_.push_back(std::move(candidate));
    }
  }

  // Those that larger operations can replace: of one group and one step.
  std::pair<std::int32_t, std::size_t> MergedWith(std::size_t operation) const {
    const JobOperation& of = job_.operations.all[operation];
    return {of.step, of.joint.series};
  }

  struct Small {
    std::int64_t bytes = 0, count = 0;
    double ShareGone(const Thresholds& thresholds) const {
      const double left = std::max(static_cast<double>(bytes) / thresholds[kSmallBytes], 1.0);
      return std::max(0.0, 1 - left / static_cast<double>(count));
    }
  };

  // Reductions of gradients that the device waits for although it could compute meanwhile. The last
  // backward pass makes the gradients one bucket after the other; what then is left to send when it
  // ends is all that has to show.
  void AddNotOverlapped() {
    if (Infers(job_) || job_.Serves()) return;
    for (const auto& [group, operations] : ReductionsByGroup()) {
      std::map<std::int32_t, std::vector<std::size_t>> by_step;
      for (const std::size_t i : operations) by_step[job_.operations.all[i].step].push_back(i);
      Finding candidate = NewFinding(job_, kCommNotOverlapped, group);
      double exposed_of_all = 0, post_of_all = 0;
      for (auto& [step, of_step] : by_step) {
        const auto start = [&](std::size_t i) {
          return job_.graph.graph.Start(job_.graph.joints[i]);
        };
        StableSort(of_step, {}, start);
        // One group of several with that name at a time: they work side by side.
        std::map<std::size_t, std::vector<std::size_t>> by_series;
        for (const std::size_t i : of_step)
          by_series[job_.operations.all[i].joint.series].push_back(i);
        for (const auto& [series, row] : by_series) {
          TimeNs post = 0, exposed = 0;
          for (const std::size_t i : row) {
            post += PostOf(job_, i);
            exposed += exposure_.Of(i);
          }
          const double must =
              std::max(LeastExposed(row, step),
                       (1 - job_.thresholds[kOverlapShare]) * static_cast<double>(post));
          const double share =
              exposed <= 0 ? 0 : std::max(0.0, 1 - must / static_cast<double>(exposed));
          for (std::size_t at = 0; at < row.size(); ++at) {
            const TimeNs of_operation = PostOf(job_, row[at]);
            ShortenOperation(job_, row[at], ShareOf(of_operation, share), candidate.what_if.expect);
            if (at + 1 < row.size())
              ShortenOperation(job_, row[at], of_operation, candidate.what_if.bound);
          }
          exposed_of_all += Share(exposed, by_series.size());
          post_of_all += Share(post, by_series.size());
        }
      }
      if (post_of_all <= 0 || exposed_of_all <= 0) continue;
      candidate.Measure(kTimePerStep,
                        exposed_of_all / static_cast<double>(std::max<std::size_t>(1, job_.steps)));
      candidate.Measure(kOverlapped, std::max(0.0, 1 - exposed_of_all / post_of_all));
      candidates_.push_back(std::move(candidate));
    }
  }

  // What the backward pass leaves of the gradients to send when it ends: a bucket goes when it is
  // full. Where it is not recorded when they are made, it makes them evenly, in two thirds of what
  // a micro-batch computes.
  double LeastExposed(const std::vector<std::size_t>& row, std::int32_t step) const {
    if (!job_.Holds(step)) return 0;
    const RankIndex rank = job_.operations.all[row[0]].joint.members[0].rank;
    const double backward =
        static_cast<double>(job_.work[rank][static_cast<std::size_t>(step)].compute) * 2 / 3 /
        micro_batches_;
    const std::vector<double> sizes = SizesOf(row);
    const double all = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    const std::optional<GradientCurve> curve = CurveOf(row, step, all);
    double end = -backward, made = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      made += sizes[i];
      const double ready =
          curve ? -static_cast<double>(curve->LeadOf(made)) : backward * (made / all - 1);
      end = (i == 0 ? ready : std::max(end, ready)) + static_cast<double>(PostOf(job_, row[i]));
    }
    return std::max(0.0, end);
  }

  // None where it is not known, and of rows that gather parameters, too: the backward pass does not
  // make these.
  std::optional<GradientCurve> CurveOf(const std::vector<std::size_t>& row, std::int32_t step,
                                       double bytes) const {
    if (std::ranges::any_of(
            row, [&](std::size_t i) { return job_.operations.all[i].kind == "allgather"; }))
      return {};
    const JointOperation::Member& last = job_.operations.all[row.back()].joint.members[0];
    const RankDiagnosis& part = job_.Part(last.rank);
    const KernelsOfSteps& kernels = kernels_.try_emplace(last.rank, part).first->second;
    GradientCurve curve(part, kernels.Of(step), bytes, static_cast<std::int64_t>(micro_batches_),
                        job_.PartOf(last).start);
    if (!curve.IsKnown()) return {};
    return curve;
  }

  // In bytes; equal where the size of one is not recorded.
  std::vector<double> SizesOf(const std::vector<std::size_t>& operations) const {
    std::vector<double> sizes;
    for (const std::size_t i : operations) {
      const auto bytes = job_.PartOf(job_.operations.all[i].joint.members[0]).bytes;
      if (bytes <= 0) return std::vector<double>(operations.size(), 1.0);
      sizes.push_back(static_cast<double>(bytes));
    }
    return sizes;
  }

  // Every micro-batch of a step runs all products as often: what the numbers of times have in
  // common.
  static double MicroBatches(const Job& job) {
    std::int64_t common = 0;
    for (RankIndex rank; rank < job.ranks.size(); ++rank) {
      const RankDiagnosis& part = job.Part(rank);
      std::vector<std::int64_t> counts(part.kinds.size(), 0);
      for (const GraphNode& node : part.graph.nodes) {
        const bool is_product = node.category == TimeCategory::kMatmul ||
                                node.category == TimeCategory::kConvolution ||
                                node.category == TimeCategory::kAttention;
        if (node.kind == NodeKind::kKernel && is_product &&
            node.step == static_cast<std::int32_t>(job.first_step))
          ++counts[static_cast<std::size_t>(node.row)];
      }
      for (const std::int64_t count : counts) common = std::gcd(common, count);
    }
    return static_cast<double>(std::max<std::int64_t>(1, common));
  }

  const LinkSpeeds& speeds_ = search_.Speeds();
  const Exposure exposure_{job_};
  const double micro_batches_ = MicroBatches(job_);
  mutable std::map<std::size_t, KernelsOfSteps> kernels_;  // by rank, of those that were asked for
};

}  // namespace

const FindingType kCommNotOverlapped = Opportunity(
    Area::kCommunication, "comm.not_overlapped", {"framework", "model"},
    "transfers could overlap computing",
    {.looked_at =
         "transfers of reductions during which no kernel runs, and what could run meanwhile",
     .refuted_by = "what is computed next needs the result, or computing already runs meanwhile",
     .applies = [](const Coverage& job) { return job.operations && !job.serves; },
     .find = FindBy<ReductionCauses>,
     .advice = {{If(Trains, {"overlap gradient reduction with the backward pass",
                             Change("gradient reduction", "during the backward pass")}),
                 If(Trains, {"tune bucket sizes", Change("bucket size", "tuned")}),
                 If(DoesNotTrain, {"meanwhile compute what does not need the transfers",
                                   Change("collectives", "beside computing")})}},
     .thresholds = {&kOverlapShare, &kBesideNs, &kAloneShare}});

const FindingType kCommSmall = Opportunity(
    Area::kCommunication, "comm.small", {"model", "framework"}, "many collectives are small",
    {.looked_at = "the number of operations that take a multiple of the time their data needs",
     .refuted_by = "large messages, or few operations",
     .problem = "Packet Analysis",
     .needs = {Record::kSizes},
     .advice = {{If(Trains, {"use larger buckets", Change("bucket size", "larger")}),
                 If(Trains, {"accumulate gradients", Change("gradients", "accumulated")}),
                 If(DoesNotTrain, {"join what is sent at the same time into one collective",
                                   Change("small collectives", "joined")})}},
     .thresholds = {&kSmallLatencyRatio, &kSmallCountShare, &kSmallCalls, &kSmallBytes,
                    &kSmallVectorGain, &kBucketCalls}});

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
// Collectives of a server for which its tokens wait, because nothing is computed beside them.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "finder.h"
#include "mpa/base/rank.h"
#include "small_operations.h"

namespace mpa {
namespace {

constexpr Threshold kDecodeShare{"share", 0.15, 0, 1,
                                 "decode steps wait for transfers for this share of their time"},
    kDecodeGain{"gain", 0.65, 0, 1, "a good schedule hides at most this share of the transfers"};

constexpr MetricInfo kShareOfDecode{"share_of_decode", "share", "{} of the decode steps"};

class ExposedDecode : Finder {
 public:
  using Finder::Finder;

  void Find() {
    const std::vector<Decode> steps = DecodingSteps();
    TimeNs decoding = 0;
    for (std::size_t step = job_.first_step; step < steps.size(); ++step)
      decoding += steps[step].time;
    std::map<std::string, std::vector<std::size_t>> by_group;
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      if (IsOfDecode(i)) by_group[job_.operations.all[i].group].push_back(i);
    }
    for (const auto& [group, operations] : by_group) Add(group, operations, steps, decoding);
  }

 private:
  // The ranks that decode in a step of the job; sums of all of them.
  struct Decode {
    TimeNs time = 0;
    TimeNs alone = 0;    // they compute without transfers beside it
    TimeNs exposed = 0;  // collectives of all groups
    // No more of the transfers can run beside the computing than there is of it.
    double Hidden() const { return std::clamp(Share(alone, exposed), 0.0, 1.0); }
  };

  std::vector<Decode> DecodingSteps() const {
    std::vector<Decode> steps(job_.steps);
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const std::vector<StepPart>& parts = job_.Part(rank).steps;
      for (std::size_t step = 0; step < std::min(job_.steps, parts.size()); ++step) {
        if (!Decodes(rank, step)) continue;
        for (const TimeNs category : parts[step].categories) steps[step].time += category;
        steps[step].alone += job_.work[rank][step].compute;
      }
    }
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      if (!IsOfDecode(i)) continue;
      Decode& step = steps[static_cast<std::size_t>(job_.operations.all[i].step)];
      step.exposed += Members(i) * exposure_.Of(i);
      step.alone -= Members(i) * (PostOf(job_, i) - exposure_.Of(i));
    }
    return steps;
  }

  bool Decodes(RankIndex rank, std::size_t step) const {
    const std::vector<StepPart>& steps = job_.Part(rank).steps;
    return step < steps.size() && steps[step].batch.phase == ServingPhase::kDecode;
  }

  bool IsOfDecode(std::size_t operation) const {
    const JobOperation& of = job_.operations.all[operation];
    return job_.Holds(of.step) && std::ranges::all_of(of.joint.members, [&](const auto& member) {
             return Decodes(member.rank, static_cast<std::size_t>(of.step));
           });
  }

  TimeNs Members(std::size_t operation) const {
    return static_cast<TimeNs>(job_.operations.all[operation].joint.members.size());
  }

  void Add(const std::string& group, const std::vector<std::size_t>& operations,
           const std::vector<Decode>& steps, TimeNs decoding) {
    Finding candidate = NewFinding(job_, kServeCommunication, group);
    TimeNs shown = 0;  // of all members, in steps that count
    for (const std::size_t i : operations) {
      const JobOperation& operation = job_.operations.all[i];
      const TimeNs exposed = exposure_.Of(i);
      if (exposed <= 0) continue;
      const double hidden = steps[static_cast<std::size_t>(operation.step)].Hidden();
      ShortenOperation(job_, i, ShareOf(exposed, hidden * thresholds_[kDecodeGain]),
                       candidate.what_if.expect);
      ShortenOperation(job_, i, ShareOf(exposed, hidden), candidate.what_if.bound);
      if (job_.Counts(operation.step)) shown += Members(i) * exposed;
    }
    const double share = decoding > 0 ? Share(shown, decoding) : 0;
    if (share < thresholds_[kDecodeShare]) return;
    // What a schedule hides depends on the model.
    candidate.confidence = Certainty::kLow;
    candidate.Measure(kShareOfDecode, share);
    candidate.Measure(kCallsPerStep, CallsPerStep(job_, operations));
    candidates_.push_back(std::move(candidate));
  }

  const Exposure exposure_{job_};
};

}  // namespace

const FindingType kServeCommunication = Opportunity(
    Area::kCommunication, "serve.communication", {"framework"},
    "tokens wait for collectives that no computing hides",
    {.looked_at = "exposed transfers in decode steps",
     .refuted_by = "most of it is waiting for other ranks, or is hidden",
     .applies = [](const Coverage& job) { return job.serves && job.operations && job.ranks > 1; },
     .find = FindBy<ExposedDecode>,
     .advice = {{{"run two halves of the batch in turn (dual batch overlap), so that one computes"
                  " while the other transfers",
                  Change("batch", "two halves that overlap")},
                 {"use kernels that compute and transfer at once (matmul with allreduce, dispatch"
                  " and combine of experts)",
                  Change("collectives of the model", "fused with computing")}}},
     .thresholds = {&kDecodeShare, &kDecodeGain}});

}  // namespace mpa

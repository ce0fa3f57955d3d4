// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/measure/intervals.h"

namespace mpa {

/// What of the operations of a job shows, because nothing is computed beside them.
class Exposure {
 public:
  explicit Exposure(const Job& job);

  /// Behind the last arrival, of the mean member.
  TimeNs Of(std::size_t operation) const { return exposed_[operation]; }
  /// True where most of the operations stand alone between kernels: what is computed needs them.
  bool OnTheWay(const std::vector<std::size_t>& operations) const;

 private:
  void Measure(const Job& job, std::size_t operation, const std::vector<Intervals>& computes);

  std::vector<TimeNs> exposed_;
  std::vector<bool> between_kernels_;
};

struct Finding;

/// True for jobs with kernels that only models run that answer, not models that learn.
bool Infers(const Job& job);

/// The least of the captured members of an operation: what all of them have in common.
TimeNs LeastOfMembers(const Job& job, std::size_t operation, TimeNs OperationPart::*time);
/// From the last arrival to the end, without the time in which a slow peer holds all members up.
TimeNs OwnTimeOf(const Job& job, std::size_t operation);
/// True for one that takes mostly latency. `data`: of the operation.
bool IsSmallOperation(const Job& job, std::size_t operation, const LinkSpeeds::Data& data);
/// True if data of any captured member leave its host.
bool CrossesPort(const Job& job, std::size_t operation);
/// Of the mean rank that takes part, and per step.
double CallsPerStep(const Job& job, const std::vector<std::size_t>& operations);

/// Small operations of inference. What is computed next needs each of them, so that larger ones
/// cannot replace them; the vector cores start them sooner.
void FindSmallOnTheWay(const Job& job, const LinkSpeeds& speeds, const Exposure& exposure,
                       std::vector<Finding>& candidates);

/// The kernels of a rank by step, in order of start.
class KernelsOfSteps {
 public:
  /// Refers to the part, which must outlive it.
  explicit KernelsOfSteps(const RankDiagnosis& part);
  std::span<const GraphNode* const> Of(std::int32_t step) const;

 private:
  std::vector<std::vector<const GraphNode*>> of_step_;
};

/// When the last backward pass of a step has made how much of the gradients, by the kernels that
/// add them to those of earlier passes. Large layers, as the embedding of a vocabulary, make them
/// unevenly.
class GradientCurve {
 public:
  /// Of one rank and its kernels of a `step`. `bytes`: of all gradients that are reduced. `until`:
  /// when the reduction of the last of them began, on the clock of the rank. `passes`: backward
  /// passes of a step.
  GradientCurve(const RankDiagnosis& part, std::span<const GraphNode* const> step, double bytes,
                std::int64_t passes, TimeNs until);

  /// False where such kernels, or their sizes, are not recorded for most of the bytes.
  bool IsKnown() const { return !made_.empty(); }
  /// How long before the end of the pass the first `bytes` are made, in time that the device
  /// computes. What no kernel adds counts as made at the end.
  TimeNs LeadOf(double bytes) const;

 private:
  struct Made {
    double bytes = 0;  // of this one and those before it
    TimeNs lead = 0;
  };
  std::vector<Made> made_;
  double slack_ = 0;  // sizes are rounded up for the reduction
};

}  // namespace mpa

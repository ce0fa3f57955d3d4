// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/job/job.h"
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

struct Cause;

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
                       std::vector<Cause>& causes);

}  // namespace mpa

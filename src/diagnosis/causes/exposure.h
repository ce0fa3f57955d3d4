// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

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

}  // namespace mpa

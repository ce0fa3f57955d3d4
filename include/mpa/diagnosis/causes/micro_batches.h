// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/replay/replay.h"

namespace mpa {

/// The pipeline of a job: what its groups and the operations between two ranks say.
struct PipelineShape {
  std::int64_t stages = 1, micro_batches = 0;
  /// A rank of every stage was captured.
  bool complete = true;
  /// The share of a step in which a stage has nothing to do although all is even.
  double IdealBubble() const {
    if (stages < 2 || micro_batches < 1) return 0;
    return static_cast<double>(stages - 1) / static_cast<double>(micro_batches + stages - 1);
  }
};
PipelineShape ShapeOfPipeline(const Job& job);

/// The work of a job that every micro-batch repeats, and how long it takes with twice as many
/// micro-batches of half the size.
///
/// A step of twice as many micro-batches is the recorded one with all of that work cut in half,
/// which is replayed, and as many micro-batches again: each takes what the busiest stage needs for
/// one. What a micro-batch costs whatever its size stays as it is: the host's work, adding up
/// gradients, the start of a kernel, the latency of an operation. Stages that were not captured
/// speed up as those that were.
class MicroBatches {
 public:
  MicroBatches(const Job& job, const PipelineShape& shape);

  /// The mean length of a counted step, in ns, with twice as many micro-batches of half the size.
  /// `made`: what else is taken out.
  TimeNs DoubledStep(std::span<const Removal* const> made) const;

 private:
  struct Repeated {
    std::vector<bool> nodes;       // of the rank's graph
    std::vector<bool> operations;  // by collective of the rank
    TimeNs least_kernel = 0;
  };

  Repeated RepeatedBy(RankIndex rank) const;
  // Of a mean step: what all micro-batches take, and the waits for other stages.
  struct Load {
    TimeNs busy = 0, waits = 0;
  };
  Removal Halved(std::span<const Removal* const> made) const;
  void ShortenWaits(double share, Removal& removal) const;
  Load BusiestStage(std::span<const Removal* const> removals) const;
  Load LoadOf(RankIndex rank, std::size_t step, const std::vector<TimeNs>& start,
              const std::vector<TimeNs>& less) const;

  const Job& job_;
  const PipelineShape shape_;
  std::vector<Repeated> repeated_;  // by rank
  TimeNs least_operation_ = 0;      // from the last arrival to the end
  std::vector<TimeNs> unseen_;      // by operation: the wait for a stage that was not captured
};

}  // namespace mpa

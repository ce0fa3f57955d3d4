// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "labels.h"

namespace mpa::recipes::pp {
namespace {

enum Phase : std::int32_t {
  kWarmUp,
  kInterleavedForward,
  kOneBackwardOneWeightOneForward,
  kOverlap,
  kOneBackwardOverlap,
  kInterleavedBackward,
  kCoolDown
};

class ScheduleMaker {
 public:
  ScheduleMaker(std::int64_t stages, std::int64_t micro_batches, std::int64_t stage)
      : stages_(stages),
        micro_batches_(micro_batches),
        stage_(stage),
        forward1_(micro_batches),
        backward1_(micro_batches) {}

  std::vector<ScheduledBox> Make() {
    const std::int64_t behind = stages_ - stage_ - 1;  // stages behind this one
    for (std::int64_t i = 0; i < 2 * behind; ++i) Add(kWarmUp, Number(forward0_));
    for (std::int64_t i = 0; i <= stage_; ++i) {
      Add(kInterleavedForward, Number(forward0_));
      Add(kInterleavedForward, Number(forward1_));
    }
    for (std::int64_t i = 0; i < behind; ++i) AddOneOfEach();
    AddOverlaps(micro_batches_ - 2 * stages_ + stage_ + 1);
    for (std::int64_t i = 0; i < behind; ++i) {
      AddLogits(kOneBackwardOverlap);
      Add(kOneBackwardOverlap, Backward(backward1_));
      Add(kOneBackwardOverlap, Both(forward1_, backward0_));
    }
    for (std::int64_t i = 0; i <= stage_; ++i) {
      if (i % 2 == 0) AddLogits(kInterleavedBackward);
      Add(kInterleavedBackward, Backward(i % 2 == 0 ? backward1_ : backward0_));
    }
    AddCoolDown(/*first_half=*/stage_ % 2 == 0);
    return std::move(boxes_);
  }

 private:
  // Each use of a counter advances it.
  static std::string Number(std::int64_t& counter) { return fmt::format("{}", counter++); }
  static std::string Backward(std::int64_t& counter) { return fmt::format("{}B", counter++); }
  static std::string Both(std::int64_t& forward, std::int64_t& backward) {
    return fmt::format("{}F+{}B", forward++, backward++);
  }

  void Add(Phase phase, std::string name) { boxes_.push_back({std::move(name), phase}); }
  // The first stage computes the loss, too.
  void AddLogits(Phase phase) {
    if (stage_ == 0) Add(phase, "logits");
  }

  void AddOneOfEach() {
    constexpr Phase kPhase = kOneBackwardOneWeightOneForward;
    AddLogits(kPhase);
    Add(kPhase, fmt::format("{}b", backward1_));
    Add(kPhase, fmt::format("{}w", backward1_++));
    Add(kPhase, Number(forward1_));
  }

  void AddOverlaps(std::int64_t pairs) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      AddLogits(kOverlap);
      if (i == 0 && stage_ == stages_ - 1) {
        Add(kOverlap, fmt::format("{}F", forward0_++));
        Add(kOverlap, Backward(backward1_));
      } else {
        Add(kOverlap, Both(forward0_, backward1_));
      }
      Add(kOverlap, Both(forward1_, backward0_));
    }
  }

  // The halves take turns until both are done.
  void AddCoolDown(bool first_half) {
    while (backward0_ < micro_batches_ || backward1_ < 2 * micro_batches_) {
      std::int64_t& counter = first_half ? backward0_ : backward1_;
      if (counter < (first_half ? micro_batches_ : 2 * micro_batches_)) {
        Add(kCoolDown, Backward(counter));
      }
      first_half = !first_half;
    }
  }

  const std::int64_t stages_, micro_batches_, stage_;
  // Of the first way through the stages, and of the second.
  std::int64_t forward0_ = 0, backward0_ = 0, forward1_, backward1_;
  std::vector<ScheduledBox> boxes_;
};

}  // namespace

std::vector<ScheduledBox> DualPipeVSchedule(std::int64_t stages, std::int64_t micro_batches,
                                            std::int64_t stage) {
  const bool is_real = stages > 0 && stages <= kMostStages && stage >= 0 && stage < stages &&
                       micro_batches >= 2 * stages && micro_batches <= kMostMicroBatches;
  return is_real ? ScheduleMaker(stages, micro_batches, stage).Make() : std::vector<ScheduledBox>();
}

}  // namespace mpa::recipes::pp

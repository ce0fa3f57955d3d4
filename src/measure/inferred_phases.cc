// SPDX-License-Identifier: Apache-2.0
// What steps without names do, by their kernels.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/base/text.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/serving_kernels.h"
#include "mpa/model/serving_batch.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

enum class Work : std::uint8_t { kOther, kDecodes, kReads, kAttends, kMultiplies };

Work WorkOf(std::string_view type) {
  const std::string lower = ToLower(type);
  switch (ClassOfType(type)) {
    case KernelClass::kMatmul:
      return IsBatchedProduct(type) ? Work::kOther : Work::kMultiplies;
    case KernelClass::kAttention:
      // These kernels of CANN do either.
      if (ContainsAny(lower, {"fusedinferattention"})) return Work::kAttends;
      return ContainsAny(lower, {"pagedattention", "paged_attention", "incre"}) ? Work::kDecodes
                                                                                : Work::kReads;
    default:
      return Work::kOther;
  }
}

// Kernels of a step by what they do, and the tokens of its products.
struct StepKernels {
  std::int64_t decoding = 0, reading = 0;
  std::unordered_map<std::int64_t, int> products;  // by first dimension

  std::int64_t Tokens() const {
    const auto most =
        std::ranges::max_element(products, {}, [](const auto& entry) { return entry.second; });
    return most == products.end() ? -1 : most->first;
  }
};

class PhaseFinder {
 public:
  explicit PhaseFinder(RankTrace& trace) : trace_(trace), items_(FindDeviceItems(trace)) {}

  void Find() {
    for (const StringId type : trace_.kernels.op_type) {
      const auto [known, is_new] = work_.try_emplace(type, Work::kOther);
      if (!is_new) continue;
      known->second = WorkOf(trace_.strings.View(type));
      serves_ |= IsInference(trace_.strings.View(type));
      learns_ |= ContainsAny(ToLower(trace_.strings.View(type)), {"grad", "backward", "_bwd"});
    }
    if (!serves_ || learns_) return;
    if (trace_.steps.Empty())
      OfGraphs();
    else
      OfSteps();
  }

 private:
  void OfSteps() {
    const StepBounds bounds(trace_);
    std::vector<StepKernels> steps(bounds.Count());
    for (const DeviceItem& item : items_) {
      if (item.table != PieceTable::kKernels) continue;
      if (const auto step = bounds.OfDeviceWork(item.link, item.begin))
        Add(static_cast<std::size_t>(item.row), steps[*step]);
    }
    for (std::size_t i = 0; i < steps.size(); ++i)
      Mark(bounds.HostBegin(i), bounds.HostEnd(i) - bounds.HostBegin(i), steps[i]);
  }

  void OfGraphs() {
    const LaunchCalls calls(trace_);
    std::map<TimeNs, std::pair<TimeNs, StepKernels>> steps;  // by start of the call; its end
    for (const DeviceItem& item : items_) {
      if (item.table != PieceTable::kKernels || item.model < 0) continue;
      const auto call = calls.LastGraph(item.begin);
      if (!call) continue;
      auto& [end, kernels] = steps[call->begin];
      end = call->end;
      Add(static_cast<std::size_t>(item.row), kernels);
    }
    for (const auto& [begin, step] : steps) Mark(begin, step.first - begin, step.second);
  }

  void Add(std::size_t kernel, StepKernels& step) const {
    switch (work_.at(trace_.kernels.op_type[kernel])) {
      case Work::kDecodes:
        ++step.decoding;
        break;
      case Work::kReads:
        ++step.reading;
        break;
      case Work::kMultiplies:
        if (const auto rows = FirstDimension(trace_.strings.View(trace_.kernels.shapes[kernel]));
            rows > 0)
          ++step.products[rows];
        break;
      default:
        break;
    }
  }

  void Mark(TimeNs start, TimeNs dur, const StepKernels& step) {
    if (step.decoding + step.reading == 0 || step.Tokens() < 0) return;
    const ServingPhase phase = step.reading == 0    ? ServingPhase::kDecode
                               : step.decoding == 0 ? ServingPhase::kPrefill
                                                    : ServingPhase::kMixed;
    trace_.serving_marks.Append({.start = start,
                                 .dur = dur,
                                 .phase = static_cast<std::int8_t>(phase),
                                 .tokens = step.Tokens()});
  }

  RankTrace& trace_;
  const std::vector<DeviceItem> items_;
  std::unordered_map<StringId, Work> work_;  // by type
  bool serves_ = false, learns_ = false;
};

}  // namespace

void InferServingMarks(RankTrace& trace) {
  if (trace.serving_marks.Empty() && !trace.kernels.Empty()) PhaseFinder(trace).Find();
}

}  // namespace mpa

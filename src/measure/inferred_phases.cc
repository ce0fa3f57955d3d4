// SPDX-License-Identifier: Apache-2.0
// What steps without names do, by their kernels.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/base/text.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/serving_kernels.h"
#include "mpa/model/launches.h"
#include "mpa/model/serving_batch.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

enum class Work : std::uint8_t { kOther, kDecodes, kReads, kAttends, kMultiplies };

// How often a graph is launched that decodes, where nothing else tells.
constexpr std::size_t kRepeats = 3;

Work WorkOf(std::string_view type, DeviceKind device) {
  const std::string lower = ToLower(type);
  switch (device == DeviceKind::kGpu ? ClassOfName(type) : ClassOfType(type)) {
    case KernelClass::kMatmul:
      return IsBatchedProduct(type) ? Work::kOther : Work::kMultiplies;
    case KernelClass::kAttention:
      // These kernels do either.
      if (ContainsAny(lower, {"fusedinferattention", "unified_attention"})) return Work::kAttends;
      return ContainsAny(lower, {"pagedattention", "paged_attention", "incre", "splitkv"})
                 ? Work::kDecodes
                 : Work::kReads;
    default:
      return Work::kOther;
  }
}

// Kernels of a step by what they do, and the tokens of its products.
struct StepKernels {
  std::int64_t decoding = 0, reading = 0, attending = 0;
  std::unordered_map<std::int64_t, int> products;  // by first dimension
  std::vector<StringId> names;                     // in order

  std::int64_t Tokens() const {
    const auto most =
        std::ranges::max_element(products, {}, [](const auto& entry) { return entry.second; });
    return most == products.end() ? -1 : most->first;
  }
  ServingPhase Phase() const {
    if (decoding + reading == 0) return ServingPhase::kUnknown;
    if (reading == 0) return ServingPhase::kDecode;
    return decoding == 0 ? ServingPhase::kPrefill : ServingPhase::kMixed;
  }
};

class PhaseFinder {
 public:
  explicit PhaseFinder(RankTrace& trace)
      : trace_(trace),
        texts_(trace.device == DeviceKind::kGpu ? trace.kernels.name : trace.kernels.op_type) {}

  void Find() {
    std::vector<bool> known(trace_.strings.Size());
    work_.resize(known.size(), Work::kOther);
    for (const StringId text : texts_) {
      if (known[Index(text)]) continue;
      known[Index(text)] = true;
      const std::string_view name = trace_.strings.View(text);
      work_[Index(text)] = WorkOf(name, trace_.device);
      serves_ |= IsInference(name);
      learns_ |= ContainsAny(ToLower(name), {"grad", "backward", "_bwd"});
    }
    if (learns_) return;
    if (const std::vector<StageStep> stages = FindStageSteps(trace_); !stages.empty()) {
      OfStages(stages);
    } else if (serves_ && !trace_.steps.Empty()) {
      OfSteps();
    } else if (serves_) {
      OfGraphs();
    }
  }

 private:
  std::vector<StepKernels> KernelsOf(const StepBounds& bounds) const {
    std::vector<StepKernels> steps(bounds.Count());
    for (const DeviceItem& item : FindDeviceItems(trace_)) {
      if (item.table != PieceTable::kKernels) continue;
      if (const auto step = bounds.OfDeviceWork(item.link, item.begin))
        Add(static_cast<std::size_t>(item.row), steps[*step]);
    }
    return steps;
  }

  // The names of the server say when they are; what they do, where they do not say, its kernels.
  void OfStages(const std::vector<StageStep>& stages) {
    Steps of_server;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const TimeNs end = i + 1 < stages.size() ? stages[i + 1].start : stages[i].end;
      of_server.Append({.id = static_cast<std::int32_t>(i), .start = stages[i].start, .end = end});
    }
    const std::vector<StepKernels> steps = KernelsOf(StepBounds(trace_, of_server, 0));
    for (std::size_t i = 0; i < stages.size(); ++i) {
      ServingPhase phase = stages[i].phase;
      if (phase == ServingPhase::kUnknown) phase = steps[i].Phase();
      Append(stages[i].start, stages[i].end - stages[i].start, phase, steps[i].Tokens());
    }
  }

  void OfSteps() {
    const StepBounds bounds(trace_, kAsRecorded);
    const std::vector<StepKernels> steps = KernelsOf(bounds);
    for (std::size_t i = 0; i < steps.size(); ++i)
      Mark(bounds.HostBegin(i), bounds.HostEnd(i) - bounds.HostBegin(i), steps[i]);
  }

  void OfGraphs() {
    const LaunchCalls calls(trace_);
    const LaunchIndex launches(trace_);
    std::map<TimeNs, std::pair<TimeNs, StepKernels>> steps;  // by start of the call; its end
    for (const DeviceItem& item : FindDeviceItems(trace_)) {
      if (item.table != PieceTable::kKernels) continue;
      const auto call = GraphCall(item, calls, launches);
      if (!call) continue;
      auto& [end, kernels] = steps[call->begin];
      end = call->end;
      Add(static_cast<std::size_t>(item.row), kernels);
    }
    std::map<std::vector<StringId>, std::size_t> repeats;
    for (const auto& [begin, step] : steps) ++repeats[step.second.names];
    for (const auto& [begin, step] : steps) {
      const StepKernels& kernels = step.second;
      const bool attends = kernels.decoding + kernels.attending > 0 && kernels.reading == 0;
      if (attends && repeats[kernels.names] >= kRepeats)
        Append(begin, step.first - begin, ServingPhase::kDecode, kernels.Tokens());
      else
        Mark(begin, step.first - begin, kernels);
    }
  }

  // That launched the graph of which the kernel is part. Replays of GPUs are known as such.
  std::optional<Interval> GraphCall(const DeviceItem& item, const LaunchCalls& calls,
                                    const LaunchIndex& launches) const {
    if (trace_.device == DeviceKind::kNpu) {
      const auto call = item.model >= 0 ? calls.LastGraph(item.begin) : std::nullopt;
      return call ? std::optional(Interval{call->begin, call->end}) : std::nullopt;
    }
    const auto launch = launches.Find(item.link);
    const std::int32_t row = launch ? trace_.launches.replay[*launch] : -1;
    if (row < 0) return std::nullopt;
    const auto replay = static_cast<std::size_t>(row);
    const GraphReplays& replays = trace_.graph_replays;
    return Interval{replays.start[replay], replays.start[replay] + replays.dur[replay]};
  }

  void Add(std::size_t kernel, StepKernels& step) const {
    step.names.push_back(trace_.kernels.name[kernel]);
    switch (work_[Index(texts_[kernel])]) {
      case Work::kDecodes:
        ++step.decoding;
        break;
      case Work::kReads:
        ++step.reading;
        break;
      case Work::kAttends:
        AddAttention(kernel, step);
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

  void AddAttention(std::size_t kernel, StepKernels& step) const {
    ++step.attending;
    switch (PhaseOfFusedAttention(trace_.strings.View(trace_.kernels.shapes[kernel]),
                                  trace_.strings.View(trace_.kernels.input_types[kernel]))) {
      case ServingPhase::kDecode:
        ++step.decoding;
        break;
      case ServingPhase::kPrefill:
        ++step.reading;
        break;
      default:
        break;
    }
  }

  void Mark(TimeNs start, TimeNs dur, const StepKernels& step) {
    const ServingPhase phase = step.Phase();
    if (phase == ServingPhase::kUnknown || step.Tokens() < 0) return;
    Append(start, dur, phase, step.Tokens());
  }

  void Append(TimeNs start, TimeNs dur, ServingPhase phase, std::int64_t tokens) {
    trace_.serving_marks.Append(
        {.start = start, .dur = dur, .phase = static_cast<std::int8_t>(phase), .tokens = tokens});
  }

  RankTrace& trace_;
  const std::vector<StringId>& texts_;  // by kernel: its type, on a GPU its name
  std::vector<Work> work_;              // by text
  bool serves_ = false, learns_ = false;
};

}  // namespace

void InferServingMarks(RankTrace& trace) {
  if (trace.serving_marks.Empty() && !trace.kernels.Empty()) PhaseFinder(trace).Find();
}

}  // namespace mpa

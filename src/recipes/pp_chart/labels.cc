// SPDX-License-Identifier: Apache-2.0
#include "labels.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/io/json_document.h"

namespace mpa::recipes::pp {
namespace {

bool IsSize(std::int64_t number) { return number > 0 && number <= kMaxRanks; }

// A size that the job states; 1 where it states none, empty where it is invalid.
std::optional<std::int64_t> SizeIn(const nlohmann::json& args, const char* name) {
  const auto found = args.find(name);
  if (found == args.end()) return 1;
  if (!found->is_number_integer() || !IsSize(found->get<std::int64_t>())) return std::nullopt;
  return found->get<std::int64_t>();
}

void TakeSizes(const std::string& distributed_args, PipelineLayout& layout) {
  const auto args = io::TryParseJson(distributed_args);
  if (!args.is_object()) return;
  const auto stages = SizeIn(args, "pipeline_model_parallel_size");
  std::int64_t ranks = 1;
  for (const char* name :
       {"tensor_model_parallel_size", "context_parallel_size", "data_parallel_size"}) {
    const auto size = SizeIn(args, name);
    if (!size || !IsSize(ranks * *size)) return;
    ranks *= *size;
  }
  layout.stages = stages;
  layout.ranks_of_stage = ranks;
}

}  // namespace

std::optional<std::int64_t> PipelineLayout::StageOf(RankId rank) const {
  if (!stages || !ranks_of_stage || !rank.IsNumber()) return std::nullopt;
  const std::int64_t stage = rank.Number() / *ranks_of_stage;
  return stage < *stages ? std::optional(stage) : std::nullopt;
}

PipelineLayout LayoutOf(const Ranks& ranks, const RecipeArguments& arguments) {
  PipelineLayout layout;
  for (const auto& [rank, part] : ranks) {
    if (layout.type.empty()) layout.type = ToLower(part.type);
    if (!layout.micro_batches && part.micro_batches > 0) layout.micro_batches = part.micro_batches;
    if (!layout.stages && !part.distributed_args.empty()) TakeSizes(part.distributed_args, layout);
  }
  const auto tensor = arguments[kTensorSize], pipeline = arguments[kStages],
             data = arguments[kDataSize];
  if (pipeline && IsSize(*pipeline)) layout.stages = pipeline;
  if (tensor && data && IsSize(*tensor) && IsSize(*data)) layout.ranks_of_stage = *tensor * *data;
  if (const auto count = arguments[kMicroBatches]) layout.micro_batches = count;
  if (arguments.Has(kType.name)) layout.type = arguments[kType];
  return layout;
}

namespace {

LabelledBox Plain(const PassBox& box) {
  return {box.start, box.end, box.forward ? "FP" : "BP", box.forward ? 0 : 1};
}

// Without those that begin before the end of the one before: they are parts of it.
std::vector<PassBox> Apart(const std::vector<PassBox>& boxes) {
  std::vector<PassBox> kept;
  for (const PassBox& box : boxes) {
    if (kept.empty() || box.start >= kept.back().end) kept.push_back(box);
  }
  return kept;
}

void NoteMisfit(RankId rank, std::int32_t step, std::size_t found, std::size_t expected,
                Misfit& misfit) {
  if (misfit.steps++ > 0) return;
  misfit.rank = rank;
  misfit.step = step;
  misfit.found = found;
  misfit.expected = expected;
}

// Every step by the schedule of the stage; what lies outside of steps stays plain.
std::vector<LabelledBox> ByScheduleOf(const OfRank<PipelinePart>& rank,
                                      const std::vector<ScheduledBox>& schedule, Misfit& misfit) {
  const std::vector<PassBox> boxes = Apart(rank.part.boxes);
  std::map<std::int32_t, std::vector<std::size_t>> steps;
  std::vector<LabelledBox> labelled;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    labelled.push_back(Plain(boxes[i]));
    steps[boxes[i].step].push_back(i);
  }
  for (const auto& [step, of_step] : steps) {
    if (of_step.size() != schedule.size()) {
      NoteMisfit(rank.rank, step, of_step.size(), schedule.size(), misfit);
      continue;
    }
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      labelled[of_step[i]].name = schedule[i].name;
      labelled[of_step[i]].type = schedule[i].type;
    }
  }
  return labelled;
}

}  // namespace

std::vector<std::vector<LabelledBox>> LabelBoxes(const Ranks& ranks, const PipelineLayout& layout,
                                                 Misfit& misfit) {
  const bool scheduled = layout.type == "dualpipev" && layout.stages && layout.micro_batches;
  std::map<std::int64_t, std::vector<ScheduledBox>> schedules;  // by stage
  std::vector<std::vector<LabelledBox>> result;
  for (const auto& rank : ranks) {
    const auto stage = scheduled ? layout.StageOf(rank.rank) : std::nullopt;
    if (stage && !schedules.contains(*stage)) {
      schedules[*stage] = DualPipeVSchedule(*layout.stages, *layout.micro_batches, *stage);
    }
    if (stage && !schedules[*stage].empty()) {
      result.push_back(ByScheduleOf(rank, schedules[*stage], misfit));
      continue;
    }
    if (layout.type == "dualpipev") ++misfit.unknown_stages;
    std::vector<LabelledBox>& plain = result.emplace_back();
    for (const PassBox& box : rank.part.boxes) plain.push_back(Plain(box));
  }
  return result;
}

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
  // More boxes than this are not of a real job.
  constexpr std::int64_t kMaxMicroBatches = 1 << 16, kMaxStages = 1 << 12;
  const bool is_real = stages > 0 && stages <= kMaxStages && stage >= 0 && stage < stages &&
                       micro_batches >= 2 * stages && micro_batches <= kMaxMicroBatches;
  return is_real ? ScheduleMaker(stages, micro_batches, stage).Make() : std::vector<ScheduledBox>();
}

}  // namespace mpa::recipes::pp

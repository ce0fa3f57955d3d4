// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa::recipes::pp {

/// A box of the chart of a pipeline.
struct ScheduledBox {
  std::string name;       ///< "3", "4b", "3F+5B", "logits"
  std::int32_t type = 0;  ///< phase of the schedule, from 0 (warm-up) to 6 (cool-down)
};

/// What a stage of a DualPipeV pipeline runs in a step, in order. Micro-batches pass every stage
/// twice; the second time they are numbered from `micro_batches` on. A pipeline of that kind has at
/// least twice as many micro-batches as stages; else the list is empty.
std::vector<ScheduledBox> DualPipeVSchedule(std::int64_t stages, std::int64_t micro_batches,
                                            std::int64_t stage);

/// A marked piece of the forward or backward pass of a micro-batch, on the device.
struct PassBox {
  TimeNs start = 0, end = 0;
  std::int32_t step = -1;  ///< -1: in none
  bool forward = false;
};

struct PipelinePart {
  std::vector<PassBox> boxes;       ///< in order of start
  std::int64_t without_device = 0;  ///< marked pieces that were not recorded on the device
  std::string distributed_args, type;
  std::int64_t micro_batches = -1;
};

using Ranks = std::vector<OfRank<PipelinePart>>;

/// How the job is laid out as a pipeline; what the capture and the options do not say is empty.
struct PipelineLayout {
  std::string type;  ///< in lower case
  std::optional<std::int64_t> stages, micro_batches;
  std::optional<std::int64_t> ranks_of_stage;

  /// The stage of a rank; empty where it is unknown.
  std::optional<std::int64_t> StageOf(RankId rank) const;
};

inline constexpr std::string_view kTypes[] = {"1f1b", "dualpipev"},
                                  kAsCaptured = ToTranslate("from the capture");
inline constexpr Option<std::string> kType{.name = "pp_type",
                                           .type_name = "NAME",
                                           .help = "Kind of the pipeline",
                                           .usual_text = kAsCaptured,
                                           .choices = kTypes};
inline constexpr Option<std::optional<std::int64_t>> kMicroBatches{
    "microbatch_num", "N", "Micro-batches of a step", "", kAsCaptured},
    kStages{"pp", "N", "Stages of the pipeline", "", kAsCaptured},
    kTensorSize{"tp", "N", "Tensor parallel size, together with --dp", "", kAsCaptured},
    kDataSize{"dp", "N", "Data parallel size, together with --tp", "", kAsCaptured};

/// From the options, else from the first rank that says it.
PipelineLayout LayoutOf(const Ranks& ranks, const RecipeArguments& arguments);

struct LabelledBox {
  TimeNs start = 0, end = 0;
  std::string name;
  std::int32_t type = 0;
};

/// How many pieces did not fit the schedule.
struct Misfit {
  std::int64_t steps = 0;
  RankId rank{};  ///< of the first
  std::int64_t step = -1;
  std::size_t found = 0, expected = 0;  ///< there
  std::int64_t unknown_stages = 0;      ///< ranks
};

/// The boxes of the ranks: named after the schedule of a DualPipeV pipeline, else "FP" (type 0) and
/// "BP" (type 1). A step with another number of boxes than the schedule keeps those.
std::vector<std::vector<LabelledBox>> LabelBoxes(const Ranks& ranks, const PipelineLayout& layout,
                                                 Misfit& misfit);

}  // namespace mpa::recipes::pp

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpa/recipe/arguments.h"
#include "part.h"

namespace mpa::recipes::pp {

/// How the job is laid out as a pipeline; what the capture and the options do not say is empty.
struct PipelineLayout {
  std::string type;  ///< in lower case
  std::optional<std::int64_t> stages, micro_batches;
  std::optional<std::int64_t> ranks_of_stage;

  /// The stage of a rank; empty where it is unknown.
  std::optional<std::int64_t> StageOf(std::int64_t rank) const;
};

/// From the options, else from the first rank that says it.
PipelineLayout LayoutOf(const Ranks& ranks, const RecipeArguments& arguments);

}  // namespace mpa::recipes::pp

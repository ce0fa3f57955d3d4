// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

#include <nlohmann/json.hpp>

#include "mpa/base/text.h"

namespace mpa::recipes::pp {
namespace {

constexpr std::int64_t kMostRanks = 1 << 24;

bool IsSize(std::int64_t number) { return number > 0 && number <= kMostRanks; }

// A size that the job states; 1 where it does not, empty where it makes no sense.
std::optional<std::int64_t> SizeIn(const nlohmann::json& args, const char* name) {
  const auto found = args.find(name);
  if (found == args.end()) return 1;
  if (!found->is_number_integer() || !IsSize(found->get<std::int64_t>())) return std::nullopt;
  return found->get<std::int64_t>();
}

void TakeSizes(const std::string& distributed_args, PipelineLayout& layout) {
  const auto args = nlohmann::json::parse(distributed_args, nullptr, /*allow_exceptions=*/false);
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

std::optional<std::int64_t> PipelineLayout::StageOf(std::int64_t rank) const {
  if (!stages || !ranks_of_stage || rank < 0) return std::nullopt;
  const std::int64_t stage = rank / *ranks_of_stage;
  return stage < *stages ? std::optional(stage) : std::nullopt;
}

PipelineLayout LayoutOf(const Ranks& ranks, const RecipeArguments& arguments) {
  PipelineLayout layout;
  for (const auto& [rank, part] : ranks) {
    if (layout.type.empty()) layout.type = ToLower(part.type);
    if (!layout.micro_batches && part.micro_batches > 0) layout.micro_batches = part.micro_batches;
    if (!layout.stages && !part.distributed_args.empty()) TakeSizes(part.distributed_args, layout);
  }
  const auto given = [&](const char* name) {
    return NumberArgument<std::int64_t>(arguments, name);
  };
  const auto tensor = given("tp"), pipeline = given("pp"), data = given("dp");
  if (pipeline && IsSize(*pipeline)) layout.stages = pipeline;
  if (tensor && data && IsSize(*tensor) && IsSize(*data)) layout.ranks_of_stage = *tensor * *data;
  if (const auto count = given("microbatch_num")) layout.micro_batches = count;
  if (const auto type = arguments.find("pp_type"); type != arguments.end()) {
    layout.type = type->second;
  }
  return layout;
}

}  // namespace mpa::recipes::pp

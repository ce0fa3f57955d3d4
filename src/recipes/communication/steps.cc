// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/io/json_document.h"
#include "sums.h"

namespace mpa::recipes::communication {
namespace {

using RankSet = std::set<RankId>;

bool Shares(const RankSet& a, const RankSet& b) {
  return std::ranges::any_of(a, [&](RankId rank) { return b.contains(rank); });
}

// Joins the sets that share a rank, directly or through others; in order of their smallest ranks.
std::vector<RankSet> Joined(const std::vector<RankSet>& sets) {
  std::vector<RankSet> joined;
  for (RankSet set : sets) {
    for (auto other = joined.begin(); other != joined.end();) {
      if (Shares(set, *other)) {
        set.insert(other->begin(), other->end());
        other = joined.erase(other);
      } else {
        ++other;
      }
    }
    joined.push_back(std::move(set));
  }
  std::ranges::sort(joined);
  return joined;
}

constexpr std::array kTimes = {
    &StepTimes::Row::computing,  &StepTimes::Row::exposed_communication,
    &StepTimes::Row::overlapped, &StepTimes::Row::communication,
    &StepTimes::Row::free,       &StepTimes::Row::stage,
    &StepTimes::Row::bubble,     &StepTimes::Row::exposed_without_receive,
    &StepTimes::Row::preparing};

std::string StepText(std::int32_t step) { return step < 0 ? "" : std::to_string(step); }

}  // namespace

Grid::Grid(const Ranks& ranks, std::string& problem) {
  for (const auto& rank : ranks) {
    if (rank.part.job.distributed_args.empty()) continue;
    const auto args = io::TryParseJson(rank.part.job.distributed_args);
    if (!args.is_object()) continue;
    bool whole_numbers = true;
    const auto size = [&](const char* name) {
      const auto found = args.find(name);
      if (found == args.end()) return std::int64_t{1};
      constexpr std::int64_t kMax = 1 << 24;
      if (!found->is_number_integer() || found->get<std::int64_t>() < 0 ||
          found->get<std::int64_t>() > kMax) {
        whole_numbers = false;
        return std::int64_t{1};
      }
      return std::max(found->get<std::int64_t>(), std::int64_t{1});
    };
    const std::int64_t world = size("world_size");
    const std::int64_t tensor = size("tensor_model_parallel_size");
    const std::int64_t pipeline = size("pipeline_model_parallel_size");
    const std::int64_t data = size("data_parallel_size") * size("context_parallel_size");
    if (!whole_numbers || world != tensor * pipeline * data) {
      problem =
          Say("distributed_args: world_size {} is not tensor {} x pipeline {} x data"
              " and context {}; no parallel indices",
              world, tensor, pipeline, data);
      return;
    }
    world_ = world;
    tensor_ = tensor;
    data_ = data;
    return;
  }
}

std::optional<GridPlace> Grid::Of(RankId rank) const {
  if (!Known() || rank < 0 || rank >= world_) return std::nullopt;
  const std::int64_t of_stage = tensor_ * data_;
  const std::int64_t in_stage = rank.Number() % of_stage;
  return GridPlace{in_stage / tensor_, rank.Number() / of_stage, in_stage % tensor_};
}

std::vector<RankSet> StagesOf(const std::vector<Group>& groups) {
  std::vector<RankSet> pipelines, others;
  for (const Group& group : groups) {
    if (group.p2p && ToLower(group.process_group).starts_with("pp"))
      pipelines.push_back(group.ranks);
  }
  if (pipelines.empty()) return {};
  pipelines = Joined(pipelines);
  const auto crosses_stages = [&](const Group& group) {
    return std::ranges::any_of(pipelines, [&](const RankSet& pipeline) {
      return std::ranges::count_if(group.ranks,
                                   [&](RankId rank) { return pipeline.contains(rank); }) > 1;
    });
  };
  for (const Group& group : groups) {
    if (!group.p2p && !crosses_stages(group)) others.push_back(group.ranks);
  }
  return Joined(others);
}

std::vector<StepTraceRow> StepTrace(const Ranks& ranks, const std::vector<Group>& groups,
                                    const Grid& grid) {
  std::vector<StepTraceRow> rows;
  const std::vector<RankSet> stages = StagesOf(groups);
  std::map<std::pair<std::int32_t, std::size_t>, StepTimes::Row> longest;
  for (const auto& [rank, part] : ranks) {
    for (const StepTimes::Row& times : part.step_times) {
      rows.push_back({.step = StepText(times.step),
                      .rank = rank,
                      .ranks = {},
                      .times = times,
                      .place = grid.Of(rank)});
      for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        if (!stages[stage].contains(rank)) continue;
        const auto [found, is_new] = longest.try_emplace({times.step, stage}, times);
        for (const auto time : kTimes) {
          found->second.*time = std::max(found->second.*time, times.*time);
        }
      }
    }
  }
  for (const auto& [key, times] : longest) {
    rows.push_back({.step = StepText(key.first),
                    .stage = true,
                    .ranks = stages[key.second],
                    .times = times,
                    .place = {}});
  }
  return rows;
}

}  // namespace mpa::recipes::communication

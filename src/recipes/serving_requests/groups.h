// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpa/measure/intervals.h"
#include "mpa/measure/request_times.h"
#include "mpa/recipe/make_recipe.h"
#include "part.h"

namespace mpa::recipes::serving_requests {

using Servers = std::vector<const ServerPart*>;

/// Requests that are looked at together: all, those of an instance, those of a data parallel rank
/// of it.
struct Group {
  int instance = -1, dp_rank = -1;  ///< -1: all; positions in Servers
  std::string name{};               ///< of the instance; empty: all of several
  std::vector<const Request*> requests{};
  std::array<std::vector<TimeNs>, kRequestTimes> times{};  ///< in ascending order, known ones
  std::int64_t prompt_tokens = 0, reply_tokens = 0;        ///< of those that state them
  Interval window{};                                       ///< from the first start to the last end

  std::size_t Count() const { return requests.size(); }
  TimeNs At(RequestTime time, int percent) const;  ///< -1: unknown
  TimeNs Sum(RequestTime time) const;
  std::size_t Known(RequestTime time) const;
  double Seconds() const { return static_cast<double>(window.end - window.begin) / 1e9; }
  double HitRate() const;  ///< of the tokens of its prompts; -1: unknown
};

/// All requests first, then those of each instance where there are several, and of each data
/// parallel rank where an instance has several.
std::vector<Group> GroupsOf(const Servers& servers);

/// "instance a, dp 3"; empty for all requests of a single instance.
std::string WhereText(const std::string& instance, int dp_rank, bool has_instances);

}  // namespace mpa::recipes::serving_requests

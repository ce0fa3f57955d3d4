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

/// The time at a percentile of times in ascending order; -1: there are none.
TimeNs At(const std::vector<TimeNs>& sorted, int percent);
TimeNs SumOf(const std::vector<TimeNs>& times);
/// `part` of `whole`; 0 without a whole.
double Ratio(TimeNs part, TimeNs whole);
double Ratio(std::size_t part, std::size_t whole);

/// Requests that are looked at together: all, those of an instance, those of a data parallel rank
/// of it.
struct Group {
  int instance = -1, dp_rank = -1;  ///< -1: all; positions in Servers
  std::string name{};               ///< of the instance; empty: all of several
  std::vector<const Request*> requests{};
  std::array<std::vector<TimeNs>, kRequestTimes> times{};  ///< in ascending order, known ones
  std::int64_t prompt_tokens = 0, reply_tokens = 0;        ///< of those that state them
  Interval window{};                                       ///< from the first start to the last end

  const std::vector<TimeNs>& TimesOf(RequestTime time) const {
    return times[static_cast<std::size_t>(time)];
  }
  TimeNs At(RequestTime time, int percent) const {
    return serving_requests::At(TimesOf(time), percent);
  }
  TimeNs Sum(RequestTime time) const { return SumOf(TimesOf(time)); }
  /// Of the time of its requests what they wait in the queue, 0 to 1.
  double QueueShare() const;
  double Seconds() const { return static_cast<double>(window.end - window.begin) / 1e9; }
  // Unknown: -1.
  double RequestsPerSecond() const { return PerSecond(static_cast<double>(requests.size())); }
  double ReplyTokensPerSecond() const { return PerSecond(static_cast<double>(reply_tokens)); }
  double HitRate() const;            ///< of the tokens of its prompts
  std::int64_t Preemptions() const;  ///< prompts that were read again

 private:
  double PerSecond(double amount) const { return Seconds() > 0 ? amount / Seconds() : -1; }
};

/// All requests first, then those of each instance where there are several, and of each data
/// parallel rank where an instance has several.
std::vector<Group> GroupsOf(const Servers& servers);

/// "instance a, dp 3"; empty for all requests of a single instance.
std::string WhereText(const std::string& instance, int dp_rank, bool has_instances);

}  // namespace mpa::recipes::serving_requests

// SPDX-License-Identifier: Apache-2.0
// Requests by instance and data parallel rank.
#include "groups.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/measure/quantiles.h"

namespace mpa::recipes::serving_requests {
namespace {

Group Made(int instance, int dp_rank, std::string name, std::vector<const Request*> requests) {
  Group group{.instance = instance,
              .dp_rank = dp_rank,
              .name = std::move(name),
              .requests = std::move(requests)};
  bool is_first = true;
  for (const Request* request : group.requests) {
    const TimesOfRequest times =
        mpa::TimesOf(request->first_token, request->dur, request->queued, request->reply_tokens);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (times[i] >= 0) group.times[i].push_back(times[i]);
    }
    group.prompt_tokens += std::max<std::int64_t>(request->prompt_tokens, 0);
    group.reply_tokens += std::max<std::int64_t>(request->reply_tokens, 0);
    if (request->start < 0) continue;
    const TimeNs end = request->start + std::max<TimeNs>(request->dur, 0);
    group.window = {is_first ? request->start : std::min(group.window.begin, request->start),
                    is_first ? end : std::max(group.window.end, end)};
    is_first = false;
  }
  for (std::vector<TimeNs>& times : group.times) std::ranges::sort(times);
  return group;
}

}  // namespace

TimeNs At(const std::vector<TimeNs>& sorted, int percent) {
  return sorted.empty() ? -1 : Percentile(sorted, percent);
}

TimeNs SumOf(const std::vector<TimeNs>& times) {
  return std::accumulate(times.begin(), times.end(), TimeNs{0});
}

double Ratio(TimeNs part, TimeNs whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

double Ratio(std::size_t part, std::size_t whole) {
  return Ratio(static_cast<TimeNs>(part), static_cast<TimeNs>(whole));
}

double Group::QueueShare() const {
  const TimeNs whole = Sum(RequestTime::kEndToEnd);
  return Ratio(std::min(Sum(RequestTime::kQueue), whole), whole);
}

std::int64_t Group::Preemptions() const {
  std::int64_t count = -1;
  for (const Request* request : requests) {
    if (request->preemptions >= 0) count = std::max<std::int64_t>(count, 0) + request->preemptions;
  }
  return count;
}

double Group::HitRate() const {
  double hit = 0, tokens = 0;
  for (const Request* request : requests) {
    if (request->hit_rate < 0 || request->prompt_tokens <= 0) continue;
    hit += request->hit_rate * static_cast<double>(request->prompt_tokens);
    tokens += static_cast<double>(request->prompt_tokens);
  }
  return tokens > 0 ? hit / tokens : -1;
}

std::vector<Group> GroupsOf(const Servers& servers) {
  std::vector<Group> groups(1);
  std::vector<const Request*> all;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    std::vector<const Request*> of_instance;
    std::set<int> dp_ranks;
    for (const Request& request : servers[i]->requests) {
      of_instance.push_back(&request);
      if (request.dp_rank >= 0) dp_ranks.insert(request.dp_rank);
    }
    all.insert(all.end(), of_instance.begin(), of_instance.end());
    const int instance = static_cast<int>(i);
    if (servers.size() > 1) groups.push_back(Made(instance, -1, servers[i]->name, of_instance));
    if (dp_ranks.size() < 2) continue;
    for (const int dp_rank : dp_ranks) {
      std::vector<const Request*> of_rank;
      std::ranges::copy_if(of_instance, std::back_inserter(of_rank),
                           [&](const Request* one) { return one->dp_rank == dp_rank; });
      groups.push_back(Made(instance, dp_rank, servers[i]->name, std::move(of_rank)));
    }
  }
  groups.front() = Made(-1, -1, servers.size() == 1 ? servers.front()->name : "", std::move(all));
  return groups;
}

std::string WhereText(const std::string& instance, int dp_rank, bool has_instances) {
  std::string text;
  if (has_instances && !instance.empty()) text = Say("instance {}", Printable(instance));
  if (dp_rank >= 0) text += fmt::format("{}dp {}", text.empty() ? "" : ", ", dp_rank);
  return text;
}

}  // namespace mpa::recipes::serving_requests

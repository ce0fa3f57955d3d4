// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "recipes/rl_roles/iteration_account.h"

namespace mpa::recipes::rl_roles {

inline constexpr const char* kRollout = "rollout_generate";
inline constexpr const char* kUpdate = "actor_update";

/// Captures of roles by hand.
class JobBuilder {
 public:
  /// Its device has the number of the rank; -1: none is known.
  CaptureRoles& Capture(std::int64_t rank, const std::string& group = "", bool has_device = true) {
    CaptureRoles& capture = captures_.emplace_back();
    capture.group = group;
    capture.name = "rank" + std::to_string(rank);
    capture.directories = ReadDirectories(group);
    capture.device = has_device ? rank : -1;
    capture.collectives.rank = rank;
    return capture;
  }
  /// The device computes all of the time.
  static void Run(CaptureRoles& capture, std::string_view role, TimeNs begin, TimeNs end) {
    RoleRun& run = capture.runs.emplace_back();
    run.role = role;
    run.begin = begin;
    run.end = run.finish = end;
    run.times.computing = end - begin;
  }
  JobRoles Job() const {
    Ranks ranks;
    for (const CaptureRoles& capture : captures_)
      ranks.push_back({capture.collectives.rank, capture});
    return RolesOfJob(ranks);
  }

 private:
  std::deque<CaptureRoles> captures_;
};

}  // namespace mpa::recipes::rl_roles

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "job_roles.h"
#include "mpa/measure/intervals.h"

/// Where the time of an iteration went, on all devices that take part in it.
namespace mpa::rl_roles {

/// A role in an iteration, all devices together.
struct RoleAccount {
  std::int64_t iteration = 0;
  std::string role;
  std::size_t devices = 0;
  TimeNs begin = 0, end = 0;  ///< first and last on any device
  TimeNs wall = 0;            ///< time in which it runs on any device
  TimeNs overlap = 0;         ///< of it while another role runs as well
  DeviceTimes times = {};     ///< of all devices
  TimeNs waiting = 0;  ///< of devices that run no role while this one, the first to begin, runs
  TimeNs gain = 0;     ///< by which all iterations were shorter if it took half of its time

  RoleKind Kind() const { return KindOf(role); }
  TimeNs DeviceTime() const { return times.Sum(); }
};

/// A time in which no role runs.
struct Bubble {
  std::int64_t iteration = 0;
  Interval time;
  std::string before, behind;  ///< the role that ended last, and the one that begins
};

/// When devices finished generating.
struct Tail {
  std::size_t devices = 0;  ///< that generate
  TimeNs begin = 0;
  TimeNs first = 0, median = 0, last = 0;  ///< when devices finished
  std::int64_t last_rank = -1;
  TimeNs idle = 0;  ///< of all devices, from their own finish to the last one
  DecodeSteps decode;

  /// Of the device time from the begin to the last finish, in percent.
  double IdlePercent() const;
};

/// wall * devices = roles + bubble + waiting + other - shared, to the nanosecond.
struct IterationAccount {
  std::int64_t iteration = 0;
  Interval time;
  std::size_t devices = 0;
  std::vector<RoleAccount> roles;  ///< in order of their begins
  std::vector<Bubble> bubbles;
  Tail tail;
  TimeNs bubble = 0;   ///< of all devices: no role runs anywhere
  TimeNs waiting = 0;  ///< of devices that run no role while another device runs one
  TimeNs other = 0;    ///< devices run a role of another iteration
  TimeNs shared = 0;   ///< counted twice, because two roles run on one device at once

  TimeNs Wall() const { return time.end - time.begin; }
  TimeNs DeviceTime() const { return Wall() * static_cast<TimeNs>(devices); }
  TimeNs RoleTime() const;
  TimeNs BubbleWall() const;
};

std::vector<IterationAccount> AccountIterations(const JobRoles& job);

/// How much shorter the captures were if this role took half of its time, in ns. A stretch of a
/// role begins as long as it does now behind the last stretch that ended before it, of any role;
/// stretches that overlap do not wait for each other.
TimeNs GainOfHalving(const JobRoles& job, const std::string& role);

}  // namespace mpa::rl_roles

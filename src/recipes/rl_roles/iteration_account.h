// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "capture_roles.h"
#include "mpa/base/rank.h"
#include "mpa/measure/intervals.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/report.h"
#include "role_names.h"

/// Where the time of an iteration went, on all devices that take part in it.
namespace mpa::recipes::rl_roles {

using Ranks = std::vector<OfRank<CaptureRoles>>;

// The roles of all captures on one clock, by device and iteration.

/// A run of a role on a device.
struct JobRun {
  const CaptureRoles* capture = nullptr;
  const RoleRun* run = nullptr;
  RankId rank{};  ///< as CapturedOn has it
  std::size_t device = 0;
  std::int64_t iteration = 0;
  TimeNs begin = 0, end = 0, finish = 0;  ///< on the common clock

  TimeNs Length() const { return end - begin; }
  RoleKind Kind() const { return KindOf(run->role); }
};

struct JobRoles {
  std::vector<JobRun> runs;  ///< by iteration, in order of time
  std::vector<std::string> notes;
  bool partial = false;  ///< captures without a role are left out

  /// Its iterations in order.
  std::vector<std::vector<JobRun>> Iterations() const;
};

/// Iterations are those that directories name; where they name none, a new one begins on a device
/// when a role comes again after another one. Throws Error (kInput) when there is no role, or not
/// the iteration that was chosen.
JobRoles RolesOfJob(const Ranks& ranks);

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
  RankId last_rank{};
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

}  // namespace mpa::recipes::rl_roles

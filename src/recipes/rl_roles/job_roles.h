// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "capture_roles.h"
#include "job_devices.h"
#include "role_names.h"

/// The roles of all captures on one clock, by device and iteration.
namespace mpa::rl_roles {

/// A run of a role on a device.
struct JobRun {
  const CaptureRoles* capture = nullptr;
  const RoleRun* run = nullptr;
  std::int64_t rank = -1;  ///< as CapturedOn has it
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

}  // namespace mpa::rl_roles

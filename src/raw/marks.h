// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "control_files.h"
#include "host_records.h"
#include "join_tasks.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// Fills session.marks from the host records and finds their sides on the devices (`logs` has one
/// entry for each of session.info.devices).
void ReadMarks(const HostInput& input, const ControlFiles& files,
               const std::vector<DeviceLog>& logs, Session& session);

/// Fills session.model_runs from the marks of the devices.
void FindModelRuns(const ControlFiles& files, const std::vector<DeviceLog>& logs, Session& session);

}  // namespace mpa::raw

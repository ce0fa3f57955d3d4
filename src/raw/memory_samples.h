// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control_files.h"
#include "host_records.h"
#include "mpa/raw/session.h"
#include "slices.h"

/// ReadSession() calls these for Parts::kMemory.
namespace mpa::raw {

/// Adds the samples of device and module memory of one device; once for each, in their order.
void ReadMemorySamples(const DataFiles& files, const Side& side, const Device& device,
                       Session& session);

/// Fills session.op_memory from task_memory_info in order of time. `begin`: of the collection on
/// the host; what was recorded before it is left out.
void ReadOpMemory(const HostInput& input, TimeNs begin, Session& session);

}  // namespace mpa::raw

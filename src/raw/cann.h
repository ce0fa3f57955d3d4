// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control_files.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// Fills the tables of what the driver and CANN recorded: calls, tasks, kernels, copies,
/// collectives, counters, samples and marks, as far as they are wanted.
void ReadCann(const ControlFiles& files, Parts wanted, Session& session);

}  // namespace mpa::raw

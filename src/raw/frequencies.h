// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control_files.h"
#include "mpa/raw/session.h"
#include "slices.h"

namespace mpa::raw {

/// Adds the changes of the cube cores' clock that `device` recorded (lpmFreqConv.data) to
/// session.frequencies, in order of time; first the value that holds when the collection begins.
/// ReadSession() calls it once for each device, in their order, for Parts::kFrequency and, since
/// counters need it, for Parts::kCounters.
void ReadFrequencies(const DataFiles& files, const Side& side, const Device& device,
                     Session& session);

}  // namespace mpa::raw

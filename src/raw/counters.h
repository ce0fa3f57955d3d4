// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control_files.h"
#include "mpa/raw/session.h"
#include "slices.h"

namespace mpa::raw {

/// Adds what the counters of one device say of its kernels to session.counters, and points
/// session.kernels there. ReadSession() calls it once for each device, in their order, for
/// Parts::kCounters, when kernels and frequencies are complete. `wide_streams`: ids of streams use
/// 15 bits.
void ReadCounters(const DataFiles& files, const Side& side, const Device& device, bool wide_streams,
                  Session& session);

}  // namespace mpa::raw

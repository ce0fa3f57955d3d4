// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control_files.h"
#include "mpa/raw/session.h"
#include "slices.h"

namespace mpa::raw {

/// Adds the AI CPU records of one device to the session: its kernels (aicpu.data,
/// DATA_PREPROCESS.AICPU) to session.ai_cpu, and its input data (aicpu.data, DATA_PREPROCESS.DP) to
/// session.input_queue. Called once for each device, after the kernels were found. `wide_streams`
/// as in AddressOf().
void ReadAiCpu(const DataFiles& files, const Side& side, const Device& device, bool wide_streams,
               Session& session);

/// Puts session.ai_cpu and session.input_queue in order.
void SortAiCpu(Session& session);

}  // namespace mpa::raw

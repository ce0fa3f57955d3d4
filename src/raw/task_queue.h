// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "framework_clock.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// Fills queue from torch.op_mark. In order of start.
void ReadTaskQueue(const std::filesystem::path& file, const FrameworkClock& clock, Session& part);

/// Finds the operators that handed the work over.
void FindEnqueuingOps(const TorchOps& ops, QueueRanges& queue);

}  // namespace mpa::raw

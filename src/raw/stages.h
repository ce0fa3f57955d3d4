// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework_clock.h"
#include "mpa/raw/session.h"

/// The steps in which ReadSession() fills a session.
namespace mpa::raw {

/// Fills the framework tables (ops, queue, python, collections, allocations, backward, and of the
/// steps the host side) from the files in `directory`. It touches nothing else of `part` but
/// strings and issues, so it may run beside the reading of CANN into another session.
void ReadFramework(const std::filesystem::path& directory, const FrameworkClock& clock,
                   Parts wanted, Session& part);

/// Finds the device work of the operators, and with it the device side of the steps. Needs the
/// framework tables, calls, tasks and collectives.
void LinkDeviceWork(Session& session);

/// Fills activities from tasks, kernels and collectives.
void FindActivities(Session& session);

}  // namespace mpa::raw

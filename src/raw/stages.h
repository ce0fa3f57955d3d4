// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "clock.h"
#include "control_files.h"
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

/// Fills the tables of what the driver and CANN recorded: calls, tasks, kernels, copies,
/// collectives, counters, samples and marks, as far as they are wanted.
void ReadCann(const ControlFiles& files, Parts wanted, Session& session);

/// Fills python from torch.python_tracer_func and torch.python_tracer_hash. Calls that have not
/// returned end with the last event of their thread.
void ReadPythonCalls(const std::filesystem::path& directory, const FrameworkClock& clock,
                     Session& part);

/// Fills queue from torch.op_mark. In order of start.
void ReadTaskQueue(const std::filesystem::path& file, const FrameworkClock& clock, Session& part);

/// Finds the operators that handed the work over.
void FindEnqueuingOps(const TorchOps& ops, QueueRanges& queue);

/// Fills ops from torch.op_range; shapes, types and stacks only if wanted.
void ReadOperators(const std::filesystem::path& file, const FrameworkClock& clock, Parts wanted,
                   Session& part);

/// The host side of the steps, from the operators.
void FindSteps(const TorchOps& ops, const StringPool& strings, Steps& steps);

/// Of several operators of one pass with one sequence number the one that starts last counts.
void FindBackwardPairs(const TorchOps& ops, BackwardPairs& pairs);

}  // namespace mpa::raw

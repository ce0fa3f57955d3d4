// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpa/raw/session.h"

/// What the profiler's timeline and tables call things.
namespace mpa::raw {

/// The name of a task (row in session.tasks): that of its kernel, otherwise its type.
StringId TaskName(const Session& session, std::size_t task);

/// The type of a task: the core of its kernel where that is recorded, otherwise the type in the
/// host record or, where that says nothing, in the device record.
StringId TaskType(const Session& session, std::size_t task);

/// "AscendCL", "Node", ...: what stands before the '@' in the name of a call.
std::string_view LevelName(Level level);

/// True for a kernel (row in session.kernels) that kernel_details.csv lists: not what only arranges
/// collectives.
bool IsListed(const Session& session, std::size_t kernel);

}  // namespace mpa::raw

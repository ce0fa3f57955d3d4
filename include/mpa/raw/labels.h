// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/raw/session.h"

/// The names that the profiler's timeline and tables use. Tasks, kernels and calls are given by
/// their rows in the tables of the session.
namespace mpa::raw {

/// The name of a task: that of its kernel, otherwise its type.
StringId TaskName(const Session& session, std::size_t task);

/// The type of a task in tables: the core of its kernel if it is recorded, otherwise the type in
/// the host record or, if the host record has none, in the device record.
StringId TaskType(const Session& session, std::size_t task);

/// The same on the timeline, where copies have the type in the device record, except on HWTS chips.
StringId TimelineTaskType(const Session& session, std::size_t task);

/// True for a copy between memories.
bool IsCopy(const Session& session, std::size_t task);

/// For each collective the task at which the arrow from its operator ends: the first copy that it
/// makes; -1: none, the arrow ends at the collective itself.
std::vector<std::int32_t> FirstCopiesOfCollectives(const Session& session);

/// False for pieces of collectives and of caches that run as kernels; kernel_details.csv leaves
/// them out.
bool IsListedKernel(const Session& session, std::size_t kernel);

/// False for counters that cannot occur on their kind of core ("aiv_mac_ratio"); kernel_details.csv
/// leaves them out.
bool IsListedCounter(std::string_view name);

/// The name of a call: of a piece of a collective its item, else its own.
StringId CallName(const HostCalls& calls, std::size_t call);

/// Lists of the framework are shown one entry a line: ";" becomes ";" CR LF.
std::string ListLines(std::string_view list);

/// "AscendCL", "Node", "Communication": before the "@" of a call on the timeline.
std::string_view LevelPrefix(Level level);

}  // namespace mpa::raw

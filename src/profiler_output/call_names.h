// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "mpa/raw/session.h"

/// How the profiler names the calls of CANN.
namespace mpa::profiler_output {

/// "acl", "node", "communication".
std::string_view LevelName(raw::Level level);

/// "AscendCL", "Node", "Communication": before the "@" of a call on the timeline.
std::string_view LevelPrefix(raw::Level level);

/// The kind of an acl call ("ACL_NN"); empty for a number that has no name.
std::string_view AclMode(std::uint32_t type);

/// The name of the call in tables: of a piece of a collective its item, else its own.
StringId CallName(const raw::HostCalls& calls, std::size_t call);

}  // namespace mpa::profiler_output

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "mpa/raw/session.h"

/// How the profiler names the calls of CANN.
namespace mpa::profiler_output {

/// "acl", "node", "communication".
std::string_view LevelName(raw::Level level);

/// The kind of an acl call ("ACL_NN"); empty for a number that has no name.
std::string_view AclMode(std::uint32_t type);

}  // namespace mpa::profiler_output

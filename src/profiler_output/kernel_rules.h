// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "mpa/profiler_output/summary_files.h"
#include "mpa/raw/session.h"

/// Which columns and kernels the tables show.
namespace mpa::profiler_output {

/// Level 0 recorded no types and shapes; the profiler leaves those columns and tables out.
inline bool IsLevel0(const raw::Session& session) { return session.info.level == 0; }

/// HWTS chips have no mixed cores and no FFTS+ groups.
bool HasMixedCores(const raw::Session& session);

// How the profiler names the calls of CANN.

/// "acl", "node", "communication".
std::string_view LevelName(raw::Level level);

/// The kind of an acl call ("ACL_NN"); empty for a number that has no name.
std::string_view AclMode(std::uint32_t type);

}  // namespace mpa::profiler_output

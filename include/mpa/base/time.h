// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpa {

/// Nanoseconds: a point in time (since the epoch of the capture's clock) or a duration.
/// Never converted to double except for display.
using TimeNs = std::int64_t;

}  // namespace mpa

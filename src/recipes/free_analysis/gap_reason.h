// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gaps.h"

/// Why the device was idle: what the host did between the dispatches around a gap.
namespace mpa::free_analysis {

enum class Cause : std::uint8_t {
  kDevice,     ///< other tasks ran on the device
  kFramework,  ///< the framework dispatched nothing
  kRuntime,    ///< the runtime (CANN) was late with what the framework had dispatched
  kHost,       ///< the host; the capture does not say which of the two
  kUnknown,    ///< the capture does not say what dispatched the work
};
constexpr Cause LastOf(Cause) { return Cause::kUnknown; }

struct Reason {
  Cause cause = Cause::kUnknown;
  std::optional<TimeNs> framework_idle;  ///< between the ends of the two operators
  std::optional<TimeNs> runtime_idle;    ///< between the ends of the two calls
  std::string text;
};

Reason ReasonOf(const Gap& gap);

}  // namespace mpa::free_analysis

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/raw/session.h"

namespace mpa::raw {

/// The durations of operator_details.csv in ns; element i belongs to row i of Session.ops. "Self"
/// excludes the time of the operators inside.
struct OperatorTimes {
  std::vector<TimeNs> host_self, host_total;
  std::vector<double> device_self, device_total;
  /// Only of kernels whose core is AI_CORE.
  std::vector<double> cube_self, cube_total;
};

OperatorTimes SumOperatorTimes(const Session& session);

}  // namespace mpa::raw

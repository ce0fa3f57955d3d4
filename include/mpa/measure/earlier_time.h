// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/base/time.h"

namespace mpa {

/// How long the device was busy, before the first window of an account, with what was launched
/// before the capture; see FindEarlierWork(). It is neither idle time nor part of a step.
struct EarlierTime {
  TimeNs time = 0;           ///< from the begin of the first step on the host; 0: none
  bool was_recorded = true;  ///< the kernels are in the capture
};

/// "left out: 8.371 ms, device busy with earlier work (not in the trace)"; empty: there is none.
std::string EarlierTimeText(const EarlierTime& earlier);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/capture/capture.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// A loaded capture, with its steps.
struct LoadedCapture {
  const RankInput& input;
  const RankTrace& trace;
};

/// In what the captures are not alike, as the gate sees it, and in steps and size of the job; empty
/// when they are.
std::string NotAlike(const LoadedCapture& base, const LoadedCapture& comparison);

}  // namespace mpa

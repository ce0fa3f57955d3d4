// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// Kernels that choose tokens, by row: launched within a function or range whose name says so
/// ("vllm/v1/sample/sampler.py(90): forward"), or named so themselves (ArgMax, Multinomial). Where
/// the host is not recorded the name of the kernel alone tells.
std::vector<bool> FindSampling(const RankTrace& trace);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

/// "33 calls a step", "kernels 1.31 times as long as on other ranks": a metric for people. Empty
/// for metrics that only programs read.
std::string MetricText(const Metric& metric);

/// The ranks of a finding, with their states where they are not analysed: "rank 5 (damaged)".
std::string CulpritsText(const Finding& finding);

}  // namespace mpa

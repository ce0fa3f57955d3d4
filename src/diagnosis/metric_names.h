// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/diagnosis/diagnosis.h"

namespace mpa {

/// "33 calls a step", "kernels 1.31 times as long as on other ranks": a metric for people. Empty
/// for metrics that only programs read.
std::string MetricText(const Metric& metric, Language language);

/// "ranks 0-3, 7"; in Chinese without the word.
std::string RanksText(const std::vector<std::int64_t>& ranks, Language language);

/// "12.3": ms of a time in ns.
std::string Ms(TimeNs time);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

/// The first screen: at most 25 lines of 80 columns.
std::vector<std::string> DiagnosisScreen(const Diagnosis& diagnosis, Language language,
                                         std::size_t findings);

}  // namespace mpa

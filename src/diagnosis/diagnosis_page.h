// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/diagnosis/diagnosis.h"

namespace mpa {

/// The diagnosis as one HTML page without scripts, which loads nothing.
std::string DiagnosisPage(const Diagnosis& diagnosis, Language language);

}  // namespace mpa

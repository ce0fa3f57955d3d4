// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

/// The chain of evidence of one finding of the diagnosis: what was measured, on which ranks and in
/// which steps, where it shows (at most so many places), what hides it, and what to do.
std::vector<std::string> WhyLines(const Diagnosis& diagnosis, const FoundCause& finding,
                                  Language language, std::size_t places);

}  // namespace mpa

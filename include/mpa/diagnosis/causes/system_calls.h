// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

/// Notes what most of these calls into the operating system, the places of a finding, are for.
void NoteSystemCalls(const std::vector<Evidence>& calls, AdviceFacts& facts);

}  // namespace mpa

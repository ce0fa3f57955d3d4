// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/diagnosis/part/part.h"

namespace mpa {

/// Throws Error (kCorrupt) when a number of the part names a row that is not there. Parts that were
/// read from files may hold anything.
void CheckPart(const RankDiagnosis& part);

}  // namespace mpa

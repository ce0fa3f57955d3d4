// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/report/page.h"

namespace mpa {

/// What the page of a diagnosis says.
Page DiagnosisPage(const Diagnosis& diagnosis, Language language);

}  // namespace mpa

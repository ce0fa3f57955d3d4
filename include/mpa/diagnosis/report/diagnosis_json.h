// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

/// What the JSON document of a diagnosis holds.
struct DiagnosisJsonOptions {
  std::size_t findings = 20;
  std::size_t evidence = 5;                ///< of each finding
  std::size_t max_chars = 0;               ///< 0: as long as it is; else 600 or more
  Language language = Language::kEnglish;  ///< of the texts for people
};

/// One object of schema mpa.diagnosis/1; see docs/diagnosis.schema.json. A document that is
/// too long loses, in this order: places but the first of each finding, accounts but the median
/// one, notes, what could not be judged, metrics, the ends of long lists and texts, findings from
/// the last one on. "omitted" counts what went.
std::string DiagnosisJson(const Diagnosis& diagnosis, const DiagnosisJsonOptions& options);

}  // namespace mpa

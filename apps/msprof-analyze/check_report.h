// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/capture/survey.h"
#include "mpa/pipeline/analyzer_checks.h"

namespace mpa {

/// What `check` prints: the survey, and per rank a verdict for each of AllAnalyzerChecks().
struct CheckReport {
  Survey survey;
  std::vector<std::vector<Verdict>> verdicts;

  /// Some analyzer runs on some rank.
  bool Usable() const;
};

/// One screen for people; ranks of which the same is to be said are one block.
std::string FormatCheckText(const CheckReport& report, bool color);

/// One JSON document; keys are only ever added under the same schema_version.
std::string FormatCheckJson(const CheckReport& report);

}  // namespace mpa

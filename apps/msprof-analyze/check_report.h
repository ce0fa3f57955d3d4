// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mpa/capture/survey.h"
#include "mpa/pipeline/analyzer_checks.h"
#include "mpa/writers/agent.h"

namespace mpa {

/// What `check` prints: the survey, and what was found out of each rank.
struct CheckReport {
  Survey survey;
  std::vector<JudgedCapture> judged;
  std::vector<CheckedGroup> groups;
  bool tried = false;  ///< the captures were read, and every analysis was tried

  /// Some analyzer runs on some rank.
  bool Usable() const;
};

/// One screen for people; ranks of which the same is to be said are one block.
std::string FormatCheckText(const CheckReport& report, bool color);

/// The same, line by line.
std::vector<std::string> CheckLines(const CheckReport& report);

/// "npu_text", "can_run": in documents.
std::string_view Name(CaptureKind kind);
std::string_view Name(Ability ability);

/// Which analyses can run on which ranks, then the captures.
void TellAgent(const CheckReport& report, AgentAnswer& answer);

/// One JSON document; keys are only ever added under the same schema_version.
std::string FormatCheckJson(const CheckReport& report);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "diagnosis/set_rule.h"
#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

/// A job of two ranks and one step of 100 ms, without findings.
inline Diagnosis MadeDiagnosis() {
  Diagnosis diagnosis;
  diagnosis.ranks = {0, 1};
  diagnosis.world = 8;
  diagnosis.steps = {50};
  diagnosis.level = "Level1";
  diagnosis.formats = {"text"};
  diagnosis.step = diagnosis.step_after_fixes = 100'000'000;
  diagnosis.accounting.push_back({0,
                                  50,
                                  100'000'000,
                                  {{"comp.matmul", 30'400'000},
                                   {"comm.wait_peer", 20'400'000},
                                   {"comm.transfer", 10'400'000},
                                   {"free.python", 38'400'000},
                                   {"free.gc", 400'000}}});
  return diagnosis;
}

/// The finding of that id, which must be there.
inline const FindingType& FindingNamed(std::string_view id) {
  return **std::find_if(Catalogue().begin(), Catalogue().end(),
                        [&](const FindingType* finding) { return finding->id == id; });
}

inline Finding MadeFinding(std::string_view id, TimeNs gain) {
  Finding finding;
  finding.type = &FindingNamed(id);
  finding.key = id;
  finding.kind = finding.type->kind;
  finding.gain = finding.alone = finding.gain_max = gain;
  finding.steps = {50};
  finding.metrics = {{&kCallsPerStep, 3}, {&kTimePerStep, 5e6}};
  finding.evidence.push_back({.rank = 0,
                              .source = "trace_view.json",
                              .table = "host_ops",
                              .name = "aten::to",
                              .start = 7,
                              .dur = 9});
  return finding;
}

}  // namespace mpa

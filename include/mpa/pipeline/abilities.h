// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mpa/capture/survey.h"

namespace mpa {

enum class Ability { kCanRun, kRunsWithLess, kCannotRun };

/// Something that an analyzer misses in a capture.
struct Lack {
  std::string reason;   ///< what is missing and what stays unknown without it
  std::string setting;  ///< of the profiler, or what else would bring it
};

/// What an analyzer can do with the capture of one rank.
struct Verdict {
  Ability ability = Ability::kCanRun;
  std::vector<Lack> lacks;
};

struct AnalyzerCheck {
  std::string_view name;  ///< "<command>: <analyzer>"
  Verdict (*judge)(const RankFacts& facts);
};

/// One entry per analyzer that this program has, in the order of --help.
const std::vector<AnalyzerCheck>& AllAnalyzerChecks();

}  // namespace mpa

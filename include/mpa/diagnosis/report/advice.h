// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

/// Something to do about a finding, for programs.
struct Action {
  using Value = std::variant<std::string, int, bool>;
  std::string_view what;  ///< "capture", "set_env", "set_option", "check", "change"
  std::vector<std::pair<std::string_view, Value>> args;
  bool of_ranks = false;  ///< the ranks of the finding are an argument, too
};

/// The setting of the profiler that captures more.
inline constexpr std::string_view kProfilerLevel = "profiler_level";

/// The same for people and for programs.
struct AdvicePart {
  Wording text;
  Action action;
  std::string_view setting = {};  ///< what it sets; empty: nothing that captures record
  bool against_poor =
      false;  ///< only where a rank has a value that costs time; else the default is as good
  bool (*fits)(const AdviceFacts& facts) = nullptr;  ///< null: always
};

/// What to do about a finding, the cheapest first.
struct Advice {
  std::vector<AdvicePart> parts;
  std::vector<AdvicePart> of_gpu = {};  ///< the same for a GPU; empty: no other
};

/// What there is to do about small collectives that cannot become fewer.
inline constexpr std::string_view kSmallOnTheWay = "comm.small/on_the_way";

/// Of an id of the catalogue; without parts where a finding brings its own.
const Advice& AdviceOn(std::string_view id);

/// That of its id; of a rank that is late by work that has a finding of its own, the advice on that
/// work.
const Advice& AdviceOn(const FoundCause& finding);

/// No advice names more.
inline constexpr std::size_t kMostActions = 2;

/// The parts that hold for a finding: without those that do not fit how its ranks ran and were
/// captured, and those whose settings they have already.
std::vector<const AdvicePart*> PartsOf(const FoundCause& finding);
/// What the parts say, for programs.
std::vector<Action> ActionsOf(const FoundCause& finding);
/// What the catalogue advises for a job of which only the facts are known.
std::string UsualAdvice(std::string_view id, const AdviceFacts& facts, Language language);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/capture/ability.h"
#include "mpa/capture/survey.h"
#include "mpa/compare/comparison.h"
#include "mpa/promises/promise.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

/// An analysis: a comparison or a recipe.
struct AnalyzerCheck {
  std::string name;  ///< "<command>: <analysis>"
  Verdict (*can_run)(const RankFacts& facts);
  const Comparison* comparison = nullptr;
  const Recipe* recipe = nullptr;
};

/// Asks every analysis of this program, in the order of --help.
const std::vector<AnalyzerCheck>& AllAnalyzerChecks();

/// What is found out of a capture beside its facts.
struct JudgedCapture {
  std::vector<Verdict> verdicts;      ///< of each of AllAnalyzerChecks()
  std::vector<KeptPromise> promises;  ///< empty: it was not read
};

/// The setting of a Lack about contents that only the events show.
inline constexpr const char* kTrialTells = "check --try reads them";

/// What an analysis can do with a capture, if what is unknown of it is there.
Verdict JudgeByFacts(const AnalyzerCheck& check, const RankFacts& facts);

/// Why a capture lacks each of kRecordedContents, in the words of the analyses that would say more
/// with it; without a reason where none would.
std::vector<Lack> WhyMissing(const RankFacts& facts);

/// What each of AllAnalyzerChecks() can do with each rank, from the facts alone. Where that depends
/// on what only the events tell, the verdict says on what.
std::vector<JudgedCapture> JudgeCaptures(const std::vector<RankFacts>& ranks);

/// The same, found out by reading the captures in `directory`, which takes as long as their
/// analyses do: what the survey left unknown is filled in, the promises that they keep are judged,
/// and every analysis is tried.
std::vector<JudgedCapture> TryCaptures(const std::filesystem::path& directory,
                                       const OpenOptions& options, std::vector<RankFacts>& ranks);

/// Captures of one job, engine, role or session.
struct CheckedGroup {
  std::string name;  ///< a directory, what the names of captures have in common, "session 1"
  std::vector<RankId> ranks;  ///< in order; without those that are unknown
  std::vector<std::filesystem::path> captures;
};

/// The groups that commands tell apart and never analyse together; empty: all captures are of one
/// job, or nothing tells them apart.
std::vector<CheckedGroup> GroupCaptures(const Survey& survey);

/// Adds to the facts of raw captures, as warnings, what commands that read them say is lost or
/// damaged. `read`: their records are read; else control files, names and sizes alone are judged.
void TellRawDamage(bool read, std::vector<RankFacts>& ranks);

}  // namespace mpa

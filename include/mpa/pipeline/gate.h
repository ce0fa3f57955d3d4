// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mpa/capture/capture.h"
#include "mpa/change/job_causes.h"
#include "mpa/gate/baseline.h"
#include "mpa/gate/run_summary.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

/// Where a run comes from: a capture, a directory with those of all ranks, a baseline file, or a
/// history, of which the newest runs stand for a baseline.
struct RunInput {
  std::string option;  ///< "-d" or "-bp": messages begin with it
  std::filesystem::path path;
};

/// What costs a job time, by the parts that a recipe makes of its ranks.
struct JobCauseFinder {
  Recipe recipe;
  std::function<JobCauses(const std::vector<RankPart>& parts, const AbsentRanks& absent)> causes;
};

/// How runs are summarised.
struct LoadRunsRequest {
  gate::SummaryRequest summary;
  gate::RankStat rank_stat = gate::RankStat::kWorst;
  OpenOptions open;
  std::int64_t memory_bytes = 0;  ///< for all ranks being read; 0: no limit
  /// Captures that are given twice are only named in the notes.
  bool count_repeated = false;
  std::size_t history_runs = 10;  ///< that a history gives
  /// For runs of several ranks; null: their causes are not looked for.
  const JobCauseFinder* search = nullptr;
};

/// What became of one input; a baseline file may hold several runs. Without runs where the input is
/// the same capture as an earlier one of its side, which the notes say.
struct LoadedRuns {
  std::vector<gate::RunSummary> runs;
  std::optional<gate::Baseline> baseline;  ///< without its runs, if it was one
  std::vector<std::string> notes;
  bool partial = false;  ///< parts of it were broken and left out
};

/// Loads the inputs, the ranks of all of them in parallel as far as memory allows. A rank is
/// freed when it is summarised. Throws Error when an input cannot be used at all.
std::vector<LoadedRuns> LoadRuns(const std::vector<RunInput>& inputs,
                                 const LoadRunsRequest& request);

/// True for a file that says it is a baseline or a history.
bool IsBaselineFile(const std::filesystem::path& path);

/// The leading steps that the runs of a baseline were made without; 0 for other files.
std::size_t WarmupOfBaseline(const std::filesystem::path& path);

/// Throw Error (kInput, kCorrupt) that names file and member.
gate::Baseline ReadBaseline(const std::filesystem::path& path, std::size_t history_runs = 1);
gate::NoiseFloors ReadNoise(const std::filesystem::path& path);
nlohmann::json ReadDocument(const std::filesystem::path& path);

/// Writes the document in place of what has the name, in one piece. Throws Error (kOutput).
void WriteDocument(const nlohmann::json& document, const std::filesystem::path& path);

}  // namespace mpa

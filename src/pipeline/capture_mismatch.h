// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mpa/capture/capture.h"
#include "mpa/capture/survey.h"
#include "mpa/gate/run_summary.h"
#include "mpa/model/rank_trace.h"
#include "mpa/pipeline/find_ranks.h"
#include "mpa/settings/differences.h"

namespace mpa {

/// A loaded capture, with its steps.
struct LoadedCapture {
  const RankInput& input;
  const RankTrace& trace;
};

/// How two captures were collected, side by side.
struct ComparedCollections {
  /// In what they are not alike, as the gate sees it, and in steps and size of the job; empty when
  /// they are.
  std::string mismatch;
  ComparedSettings settings;
};
ComparedCollections CompareCollections(const LoadedCapture& base, const LoadedCapture& comparison);

/// The distinct values of a field over all ranks.
class FactSets {
 public:
  /// What is unknown is empty and left out.
  void Add(const std::string& field, const std::string& value);
  /// "Level0, Level1" where ranks differ.
  gate::Facts Joined() const;

 private:
  std::map<std::string, std::set<std::string>> values_;
};

/// How the captures of a run were collected, as far as both sides of a comparison should agree.
gate::Facts CollectionFacts(const std::vector<RankFacts>& ranks);

/// The settings of all ranks as one list, without those that differ by nature.
RecordedSettings SettingsToCompare(const std::vector<RankFacts>& ranks);

/// What a run is read from: the captures of its ranks, or a baseline file.
struct RunSource {
  std::filesystem::path path;
  std::vector<FoundRank> ranks;  ///< empty: `path` is the file itself
};

/// True when both are the same files, or files with the same names within and the same content:
/// links and copies do not count as runs of their own. Contents are read only where names and sizes
/// agree.
bool IsSameCapture(const RunSource& a, const RunSource& b);

}  // namespace mpa

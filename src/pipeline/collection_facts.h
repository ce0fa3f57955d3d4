// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "mpa/capture/survey.h"
#include "mpa/gate/run_summary.h"

namespace mpa {

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

}  // namespace mpa

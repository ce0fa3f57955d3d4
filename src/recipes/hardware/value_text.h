// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mpa/recipe/rank_spread.h"
#include "part.h"

/// What screens and drawings share: values with a unit that fits, and the counters of all ranks.
namespace mpa::recipes::hardware {

/// The unit in which values of at most `largest` are shown, and how many of the counter's are one.
struct ValueUnit {
  std::string name;
  double size = 1;
  int decimals = 1;
};
ValueUnit UnitOf(const CounterName& counter, double largest);

/// "94.1 GB/s".
std::string ValueText(const CounterName& counter, double value);

/// A main counter on the ranks that have it.
struct CounterOfRanks {
  const Counter* first = nullptr;
  std::vector<std::pair<std::size_t, const Counter*>> counters;  ///< with the position of the rank
  std::vector<RankValue> means;
};

/// In the order in which the ranks have them.
std::vector<CounterOfRanks> MainCounters(const Ranks& ranks);

}  // namespace mpa::recipes::hardware

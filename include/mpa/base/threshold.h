// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

/// From where on something is said of a run, which its user may change.
namespace mpa {

/// A threshold as people and files call it.
struct Threshold {
  std::string_view name;
  double usual;
  double least, most;  ///< it may be set to a number between these
  std::string_view meaning;
};

/// The thresholds in force: the usual ones unless something else was said.
class Thresholds {
 public:
  double operator[](const Threshold& threshold) const {
    const auto said = std::ranges::find(said_, &threshold, &Said::first);
    return said == said_.end() ? threshold.usual : said->second;
  }
  void Set(const Threshold& threshold, double value) {
    std::erase_if(said_, [&](const Said& said) { return said.first == &threshold; });
    said_.emplace_back(&threshold, value);
  }

 private:
  using Said = std::pair<const Threshold*, double>;
  std::vector<Said> said_;  // few
};

}  // namespace mpa

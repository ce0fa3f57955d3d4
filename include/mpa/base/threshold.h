// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

/// Values from which on something is reported. Users may change them.
namespace mpa {

/// A threshold, with the name that people and files use.
struct Threshold {
  std::string_view name;
  double usual;
  double least, most;  ///< it may be set to a number between these
  std::string_view meaning;
};

/// The thresholds in force: the usual ones, or what they were set to.
class Thresholds {
 public:
  double operator[](const Threshold& threshold) const {
    const auto set = std::ranges::find(set_, &threshold, &Setting::first);
    return set == set_.end() ? threshold.usual : set->second;
  }
  void Set(const Threshold& threshold, double value) {
    std::erase_if(set_, [&](const Setting& set) { return set.first == &threshold; });
    set_.emplace_back(&threshold, value);
  }

 private:
  using Setting = std::pair<const Threshold*, double>;
  std::vector<Setting> set_;  // few
};

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "thresholds.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "mpa/base/text.h"

namespace mpa::head {

const std::vector<ThresholdName>& AllThresholds() {
  static const std::vector<ThresholdName> all = {
      {"segment_share", &Thresholds::segment_share},
      {"segment_step_share", &Thresholds::segment_step_share},
      {"exposed_step_share", &Thresholds::exposed_step_share},
      {"lookup_us", &Thresholds::lookup_us},
      {"calls_per_region", &Thresholds::calls_per_region},
      {"built_tensors", &Thresholds::built_tensors},
      {"built_us", &Thresholds::built_us},
      {"contiguous_us", &Thresholds::contiguous_us},
      {"outlier_ratio", &Thresholds::outlier_ratio},
  };
  return all;
}

std::string SetThresholds(std::string_view text, Thresholds& thresholds) {
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string_view item = Trim(text.substr(from, comma - from));
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view name = Trim(item.substr(0, equals));
    const auto& all = AllThresholds();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const ThresholdName& known) { return known.name == name; });
    if (found == all.end()) {
      std::vector<std::string_view> names;
      names.reserve(all.size());
      for (const ThresholdName& known : all) names.push_back(known.name);
      return fmt::format("unknown threshold '{}'; available: {}", name, fmt::join(names, ", "));
    }
    const std::string_view number = equals < item.size() ? Trim(item.substr(equals + 1)) : "";
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(value) ||
        value < 0) {
      return fmt::format("invalid value '{}' for {}; give a number of 0 or more", number, name);
    }
    thresholds.*found->value = value;
    from = comma + 1;
  }
  return "";
}

}  // namespace mpa::head

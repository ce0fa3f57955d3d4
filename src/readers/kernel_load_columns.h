// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "mpa/model/device_tables.h"

namespace mpa::readers {

/// A counter of captures. Chips on which one core does both have names without the core.
struct KernelCounter {
  std::string_view name, other_name;
  // Where it goes: one of these.
  RareColumn<TimeNs> Kernels::*time = nullptr;
  std::vector<std::int16_t> KernelLoads::*load = nullptr;  ///< how busy a unit was
  std::vector<TimeNs> KernelLoads::*load_time = nullptr;   ///< how long it worked
};

inline constexpr KernelCounter kKernelCounters[] = {
    {"aicore_time", "aic_total_time", &Kernels::aic_total},
    {"mac_time", "aic_mac_time", &Kernels::aic_mac},
    {"aic_mte2_time", "", &Kernels::aic_mte2},
    {"aiv_time", "aiv_total_time", &Kernels::aiv_total},
    {"aiv_vec_time", "", &Kernels::aiv_vec},
    {"aic_mac_ratio", "mac_ratio", nullptr, &KernelLoads::aic_mac},
    {"aic_scalar_ratio", "scalar_ratio", nullptr, &KernelLoads::aic_scalar},
    {"aic_mte1_ratio", "mte1_ratio", nullptr, &KernelLoads::aic_mte1},
    {"aic_mte2_ratio", "mte2_ratio", nullptr, &KernelLoads::aic_mte2},
    {"aic_fixpipe_ratio", "fixpipe_ratio", nullptr, &KernelLoads::aic_fixpipe},
    {"aiv_vec_ratio", "vec_ratio", nullptr, &KernelLoads::aiv_vec},
    {"aiv_scalar_ratio", "", nullptr, &KernelLoads::aiv_scalar},
    {"aiv_mte2_ratio", "", nullptr, &KernelLoads::aiv_mte2},
    {"aiv_mte3_ratio", "mte3_ratio", nullptr, &KernelLoads::aiv_mte3},
    {"aic_fixpipe_time", "", nullptr, nullptr, &KernelLoads::aic_fixpipe_time},
    {"aiv_mte2_time", "", nullptr, nullptr, &KernelLoads::aiv_mte2_time},
    {"aiv_mte3_time", "", nullptr, nullptr, &KernelLoads::aiv_mte3_time},
};

/// The column of a counter, among those of times or of shares; null everywhere: nowhere.
struct CounterColumns {
  std::vector<TimeNs>* times = nullptr;
  std::vector<std::int16_t>* loads = nullptr;
};

/// Looks in `kernels` and, unless that is null, in their `kernel_loads`.
inline CounterColumns CounterColumnsOf(std::string_view name, Kernels& kernels,
                                       KernelLoads* kernel_loads) {
  for (const KernelCounter& counter : kKernelCounters) {
    if (name.empty() || (name != counter.name && name != counter.other_name)) continue;
    if (counter.time != nullptr) return {.times = &(kernels.*counter.time).Stored()};
    if (kernel_loads == nullptr) return {};
    if (counter.load != nullptr) return {.loads = &(kernel_loads->*counter.load)};
    return {.times = &(kernel_loads->*counter.load_time)};
  }
  return {};
}

/// True for the title of a counter in a table of kernels; those of other columns have a blank or no
/// underscore.
inline bool IsCounterTitle(std::string_view title) {
  title = title.substr(0, title.find('('));  // "cube_utilization( %)"
  return title.find('_') != std::string_view::npos && title.find(' ') == std::string_view::npos &&
         title != "Device_id";
}

/// True for a counter that only KernelLoads::counters holds: it is neither in a column of its own
/// nor a time or the cycles of a unit.
inline bool IsOtherCounter(std::string_view name) {
  return !name.ends_with("_time") && !name.ends_with("_cycles") &&
         std::ranges::none_of(kKernelCounters, [&](const auto& known) {
           return name == known.name || name == known.other_name;
         });
}

/// Sets a counter of a kernel; `names` are few, and in the order in which they occur.
inline void SetCounter(StringId name, double value, std::vector<StringId>& names,
                       std::vector<double>& counters) {
  const auto place = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  if (place == names.size()) names.push_back(name);
  if (place >= counters.size()) {
    counters.reserve(names.size());
    counters.resize(place + 1, std::numeric_limits<double>::quiet_NaN());
  }
  counters[place] = value;
}

/// A recorded share in thousandths; -1 where it is none.
inline std::int16_t Thousandths(double share) {
  constexpr double kMax = 30;  // above 1 are only errors of measurement
  return share >= 0 && share <= kMax ? static_cast<std::int16_t>(std::lround(share * 1000)) : -1;
}

/// A recorded number of blocks; -1 where it is none.
inline std::int32_t BlockCount(std::optional<std::int64_t> number) {
  constexpr std::int64_t kMax = 1 << 30;
  return number && *number >= 0 && *number <= kMax ? static_cast<std::int32_t>(*number) : -1;
}

}  // namespace mpa::readers

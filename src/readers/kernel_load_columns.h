// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "mpa/model/kernel_tables.h"

namespace mpa::readers {

/// A counter of captures that says how busy a unit was. Chips on which one core does both have
/// names without the core.
struct LoadCounter {
  std::string_view name, other_name;
  std::int16_t KernelLoads::Row::*cell;
  std::vector<std::int16_t> KernelLoads::*column;

  bool IsCalled(std::string_view text) const {
    return text == name || (text == other_name && !text.empty());
  }
};

inline constexpr std::array<LoadCounter, 9> kLoadCounters = {{
    {"aic_mac_ratio", "mac_ratio", &KernelLoads::Row::aic_mac, &KernelLoads::aic_mac},
    {"aic_scalar_ratio", "scalar_ratio", &KernelLoads::Row::aic_scalar, &KernelLoads::aic_scalar},
    {"aic_mte1_ratio", "mte1_ratio", &KernelLoads::Row::aic_mte1, &KernelLoads::aic_mte1},
    {"aic_mte2_ratio", "mte2_ratio", &KernelLoads::Row::aic_mte2, &KernelLoads::aic_mte2},
    {"aic_fixpipe_ratio", "fixpipe_ratio", &KernelLoads::Row::aic_fixpipe,
     &KernelLoads::aic_fixpipe},
    {"aiv_vec_ratio", "vec_ratio", &KernelLoads::Row::aiv_vec, &KernelLoads::aiv_vec},
    {"aiv_scalar_ratio", "", &KernelLoads::Row::aiv_scalar, &KernelLoads::aiv_scalar},
    {"aiv_mte2_ratio", "", &KernelLoads::Row::aiv_mte2, &KernelLoads::aiv_mte2},
    {"aiv_mte3_ratio", "mte3_ratio", &KernelLoads::Row::aiv_mte3, &KernelLoads::aiv_mte3},
}};

/// A counter of captures that says how long a unit worked.
struct LoadTime {
  std::string_view name;
  TimeNs KernelLoads::Row::*cell;
  std::vector<TimeNs> KernelLoads::*column;
};

inline constexpr std::array<LoadTime, 3> kLoadTimes = {{
    {"aic_fixpipe_time", &KernelLoads::Row::aic_fixpipe_time, &KernelLoads::aic_fixpipe_time},
    {"aiv_mte2_time", &KernelLoads::Row::aiv_mte2_time, &KernelLoads::aiv_mte2_time},
    {"aiv_mte3_time", &KernelLoads::Row::aiv_mte3_time, &KernelLoads::aiv_mte3_time},
}};

/// A recorded share in thousandths; -1 where it is none.
inline std::int16_t Thousandths(double share) {
  constexpr double kMost = 30;  // above 1 are only errors of measurement
  return share >= 0 && share <= kMost ? static_cast<std::int16_t>(std::lround(share * 1000)) : -1;
}

/// A recorded number of blocks; -1 where it is none.
inline std::int32_t BlockCount(std::optional<std::int64_t> number) {
  constexpr std::int64_t kMost = 1 << 30;
  return number && *number >= 0 && *number <= kMost ? static_cast<std::int32_t>(*number) : -1;
}

}  // namespace mpa::readers

// SPDX-License-Identifier: Apache-2.0
// How kernels use the units of their cores.
#include "mpa/measure/unit_loads.h"

#include <algorithm>

namespace mpa {
namespace {

// A unit that is busy for a larger part of the time bounds the kernel, as the Python tool has it.
constexpr std::int16_t kBusy = 800;

}  // namespace

UnitLoads LoadsOf(const KernelLoads& loads, std::size_t row) {
  return {.vec = loads.aiv_vec[row],
          .mac = loads.aic_mac[row],
          .scalar = std::max(loads.aic_scalar[row], loads.aiv_scalar[row]),
          .mte1 = loads.aic_mte1[row],
          .mte2 = std::max(loads.aic_mte2[row], loads.aiv_mte2[row]),
          .mte3 = loads.aiv_mte3[row],
          .fixpipe = loads.aic_fixpipe[row]};
}

std::int16_t BusiestLoad(const UnitLoads& loads) {
  return std::max(
      {loads.vec, loads.mac, loads.scalar, loads.mte1, loads.mte2, loads.mte3, loads.fixpipe});
}

bool IsUnbound(const UnitLoads& loads) {
  const std::int16_t most = BusiestLoad(loads);
  return most > 0 && most <= kBusy;
}

std::string_view BusiestUnit(const UnitLoads& loads) {
  const std::int16_t most = BusiestLoad(loads);
  if (most <= 0) return "";
  if (loads.mac == most) return "cube";
  if (loads.vec == most) return "vector";
  return loads.scalar == most &&
                 std::max({loads.mte1, loads.mte2, loads.mte3, loads.fixpipe}) < most
             ? "scalar"
             : "memory";
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#include "module_profile.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace mpa::calibrate {

ModuleProfile Combine(ModuleProfile rows) {
  const auto place = [](const ModuleOp& row) { return std::tie(row.parent, row.module, row.op); };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const ModuleOp& a, const ModuleOp& b) { return place(a) < place(b); });
  ModuleProfile combined;
  for (ModuleOp& row : rows) {
    if (combined.empty() || place(combined.back()) != place(row)) {
      combined.push_back(std::move(row));
      continue;
    }
    ModuleOp& sum = combined.back();
    sum.kernels += ", " + row.kernels;
    sum.total += row.total;
    sum.count += row.count;
  }
  return combined;
}

ModuleProfile ProfileOf(const std::vector<ModuleStatisticRow>& rows) {
  ModuleProfile profile;
  for (const ModuleStatisticRow& row : rows) {
    profile.push_back({row.parent, row.module, row.op, row.kernels, row.total, row.count});
  }
  return Combine(std::move(profile));
}

}  // namespace mpa::calibrate

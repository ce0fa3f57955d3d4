// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/raw/session.h"

namespace mpa::raw {

/// The kernels of one type on one kind of core of a device: a row of op_statistic.csv. Times in ns.
struct KernelSum {
  std::int64_t device = 0;
  StringId op_type{}, core{};
  std::int64_t count = 0;
  double total = 0, shortest = 0, longest = 0;
  double average = 0;  ///< whole where all durations are whole, rounded down
};

/// By device, the longest total first. Kernels without a type and pieces of collectives are left
/// out.
std::vector<KernelSum> SumKernels(const Session& session);

}  // namespace mpa::raw

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer_columns.h"
#include "mpa/diagnosis/part/kernel_rows.h"

/// The columns of the sheets of kernels that make little use of their cores.
namespace mpa {

struct KernelOfRank : WithRank {
  const KernelRow* kernel = nullptr;
};

struct ClockOfRank : WithRank {
  const ClockRow* clock = nullptr;
  double rated = 0;
};

const RowsOfSheet<KernelOfRank>& BlockDimColumns();
const RowsOfSheet<KernelOfRank>& NoBoundColumns();
const RowsOfSheet<ClockOfRank>& ClockColumns();

}  // namespace mpa

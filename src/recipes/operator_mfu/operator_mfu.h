// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/mfu/kernel_mfu.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// A kernel with its utilisation, in texts that outlive the rank.
struct OperatorMfuRow {
  std::string op;  ///< host operator that launched the kernel; empty when it is not known
  std::string kernel;
  TimeNs start = 0, dur = 0;
  KernelMfu mfu;
  std::string counted;  ///< what the operations are of: the recorded call, or the kernel's type
  std::string input_shapes, output_shapes;  ///< without quotes

  /// Why the utilisation is unknown; empty when it is known.
  std::string_view Reason() const;
};

/// The kernels that do matrix work, or run in a range with recorded operations: first those of the
/// ranges, then the others, both in order of their operators and starts.
std::vector<OperatorMfuRow> OperatorMfuRows(const RankTrace& trace, const RankMfu& mfu);

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace_builder.h"

namespace mpa::readers {

/// An operator of the host with the numbers that arrows of torch_npu's plug-in may have; -1: not
/// recorded.
struct NumberedOperator {
  EventPlace place;
  std::int64_t record = -1;    ///< "Record function id"
  std::int64_t external = -1;  ///< "External id"
};

/// The arrows of torch_npu's plug-in, made to begin where the operators begin whose numbers they
/// have: the plug-in lets them begin when the kernel does. Arrows without an operator are left out.
std::vector<FlowPoint> ArrowsFromOperators(const std::vector<FlowPoint>& arrows,
                                           const std::vector<NumberedOperator>& operators);

/// The type of operator that the name of a kernel holds: "MatMulV2" of
/// aclnnMatmul_MatMulCommon_MatMulV2 and of MatMulV2_<hash>_1; other names as they are.
std::string_view OperatorTypeIn(std::string_view kernel);

/// Gives the kernels the types in their names. Counts what the trace does not say: the operators
/// of work, and collectives of which it has the operators only. To be called when the work is
/// linked.
void FinishNpuTrace(std::string_view file_name, bool links_wanted, RankTrace& trace);

}  // namespace mpa::readers

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/measure/nesting.h"
#include "mpa/measure/op_tree.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// Operations that the program counted itself, with the arguments of the call at hand.
struct RecordedFlops {
  std::int64_t count = 0;
  std::string name;  ///< of the call: "aten::conv2d", "npu_fusion_attention"
};

/// Reads the label of a range of the domain mfu_flops, "<operations>-<name>". Empty for any other
/// text, and for no operations at all.
std::optional<RecordedFlops> ParseRecordedFlops(std::string_view label);

struct FlopsRanges {
  std::vector<RecordedFlops> ranges;
  std::vector<std::int64_t> of_op;  ///< for each of AllOpWork::ops its range, -1: none
};

/// The ranges in which operations were counted. An operator belongs to the innermost range in which
/// it begins, both ends included, on its own threads.
FlopsRanges FindFlopsRanges(const RankTrace& trace, const ThreadGroups& groups,
                            const AllOpWork& work);

}  // namespace mpa

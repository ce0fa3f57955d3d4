// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/job/operations.h"
#include "mpa/diagnosis/part/part.h"

namespace mpa {

/// A rank of two steps of 10 ms, 7 and 8, that begin at 1 ms of its clock. In each a matmul of 4 ms
/// begins with the step, a layout is converted in 1 ms (3 ms in the second step) behind it, and the
/// host reads a scalar from 6 ms of the step on, for 2 ms.
inline RankDiagnosis MadeRank() {
  constexpr TimeNs kMs = 1'000'000;
  RankDiagnosis part;
  part.source = "text";
  part.capture = "/job/rank_ascend_pt";
  part.names = {"", "MatMulV2", "TransData", "aclrtSynchronizeStream", "aten::item", "4,4"};
  part.kinds = {{1, 5}, {2, 5}};
  for (std::int32_t number = 0; number < 2; ++number) {
    const TimeNs begin = kMs + number * 10 * kMs;
    StepPart& step = part.steps.emplace_back();
    step.id = 7 + number;
    step.begin = begin;
    step.end = begin + 10 * kMs;
    step.categories.assign(kTimeCategories, 0);
    const TimeNs convert = number == 0 ? kMs : 3 * kMs;
    step.categories[static_cast<std::size_t>(TimeCategory::kMatmul)] = 4 * kMs;
    step.categories[static_cast<std::size_t>(TimeCategory::kFormat)] = convert;
    step.categories[static_cast<std::size_t>(TimeCategory::kScalarSync)] = 6 * kMs - convert;
    part.graph.nodes.push_back({.start = begin,
                                .dur = 4 * kMs,
                                .kind = NodeKind::kKernel,
                                .category = TimeCategory::kMatmul,
                                .step = number,
                                .row = 0});
    part.graph.nodes.push_back({.start = begin + 4 * kMs,
                                .dur = convert,
                                .kind = NodeKind::kKernel,
                                .category = TimeCategory::kFormat,
                                .step = number,
                                .row = 1});
    part.blocked.push_back({0, TimeCategory::kScalarSync, 3, 4, number, begin + 6 * kMs, 2 * kMs});
  }
  return part;
}

}  // namespace mpa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "diagnosis/part_builder.h"

namespace mpa {

/// In each step the host waits for a kernel of 10 ms and issues one of 1 ms within 10 us. With
/// `stream`, that one waits for the first one as well, so the host's wait costs nothing.
inline RankDiagnosis WaitingHost(TimeCategory category, bool stream, bool fp32 = false) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Host(TimeCategory::kDispatchOp, 10 * kUs);
    const std::uint32_t asked = builder.Last();
    builder.Kernel("MatMulV3", 10 * kMs);
    const std::uint32_t kernel = builder.Last();
    builder.Host(TimeCategory::kDispatchOp, 10 * kUs);
    const auto blocked = static_cast<std::uint32_t>(builder.Part().graph.edges.size() - 1);
    builder.Part().graph.edges.push_back({builder.Last(), asked, WaitsFor::kStart, 0});
    builder.Part().blocked.push_back({blocked, category, builder.NameOf("aclrtSynchronizeStream"),
                                      builder.NameOf("aten::waits"), step, builder.Now(),
                                      10 * kMs});
    builder.Kernel("Add", kMs, TimeCategory::kVector);
    if (stream) builder.Part().graph.edges.push_back({builder.Last(), kernel, WaitsFor::kEnd, 0});
  }
  builder.Kind("MatMulV3").multiplies_fp32 = fp32;
  return builder.Build();
}

}  // namespace mpa

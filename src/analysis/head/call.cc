// SPDX-License-Identifier: Apache-2.0
#include "call.h"

namespace mpa::head {

std::string_view NameOf(CallKind kind) {
  constexpr std::string_view kNames[] = {"A1", "A2", "A3", "A4", "A5", "A6"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view NameOf(Engine engine) {
  constexpr std::string_view kNames[] = {"GE_STATIC", "GE_DYNAMIC", "GE",
                                         "ACLGRAPH",  "EAGER_FX",   "UNKNOWN"};
  return kNames[static_cast<std::size_t>(engine)];
}

std::string_view NameOf(Phase phase) { return phase == Phase::kSteady ? "steady" : "compile"; }

std::string_view NameOf(KernelSource source) {
  constexpr std::string_view kNames[] = {"", "launch", "iteration", "model_fifo", "time"};
  return kNames[static_cast<std::size_t>(source)];
}

std::string_view NameOf(Flag flag) {
  constexpr std::string_view kNames[kFlags] = {
      "NO_ENTRY",    "T1_FROM_REGION", "NO_PY_ANCHOR", "T3_FROM_CANN", "T3_FROM_ASSEMBLE", "NO_RUN",
      "GAP_CLIPPED", "CLOCK_SKEW",     "DEVICE_BOUND", "PARTIAL_HEAD", "PARTIAL_TAIL"};
  std::size_t bit = 0;
  while ((static_cast<unsigned>(flag) >> bit) != 1) ++bit;
  return kNames[bit];
}

std::string FlagText(const Call& call) {
  std::string text;
  for (int bit = 0; bit < kFlags; ++bit) {
    const auto flag = static_cast<Flag>(1u << bit);
    if (!call.Has(flag)) continue;
    if (!text.empty()) text += '|';
    text += NameOf(flag);
  }
  return text;
}

}  // namespace mpa::head

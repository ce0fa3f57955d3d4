// SPDX-License-Identifier: Apache-2.0
#include "call.h"

namespace mpa::head {
namespace {

std::size_t PositionOf(Flag flag) {
  std::size_t bit = 0;
  while ((static_cast<unsigned>(flag) >> bit) != 1) ++bit;
  return bit;
}

}  // namespace

std::string_view NameOf(CallKind kind) {
  constexpr std::string_view kNames[] = {"compiled_call",   "cached_call",  "run_alone",
                                         "execution_alone", "replay_alone", "runtime_alone"};
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
      "NO_PYTORCH_EVENT", "TORCHAIR_FROM_REGION", "NO_PYTHON_EVENT", "GE_FROM_CANN",
      "GE_FROM_ASSEMBLE", "NO_CPP_EVENT",         "GAP_CLIPPED",     "CLOCK_SKEW",
      "DEVICE_WAS_BUSY",  "CUT_AT_BEGIN",         "CUT_AT_END"};
  return kNames[PositionOf(flag)];
}

std::string_view MeaningOf(Flag flag) {
  constexpr std::string_view kMeanings[kFlags] = {
      "no event of PyTorch, its time is in the platform's",
      "TorchAir begins where the compiled region does, it has no event of its own",
      "no event of TorchAir's Python, its time is in the platform's",
      "GE begins with its first call of CANN, a little late",
      "GE begins where the outputs are bound, early",
      "no event of TorchAir's C++, its time is in the Python's",
      "a long wait before the call is left out",
      "the clocks of host and device disagree, the first kernel is not known",
      "the device was busy, so the host did not delay the first kernel",
      "cut by the begin of the capture, in no sum",
      "cut by the end of the capture, in no sum"};
  return kMeanings[PositionOf(flag)];
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

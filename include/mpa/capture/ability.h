// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/capture/survey.h"

/// What an analysis can do with a capture, and what the analyses have in common when they say so.
namespace mpa {

enum class Ability { kCanRun, kRunsWithLess, kCannotRun };

/// Something that an analysis misses in a capture.
struct Lack {
  std::string reason;   ///< what is missing and what stays unknown without it
  std::string setting;  ///< of the profiler, or what else would bring it

  friend bool operator==(const Lack&, const Lack&) = default;
};

/// What an analysis can do with the capture of one rank.
struct Verdict {
  Ability ability = Ability::kCanRun;
  std::vector<Lack> lacks;

  friend bool operator==(const Verdict&, const Verdict&) = default;
  bool CannotRun() const { return ability == Ability::kCannotRun; }
  /// It runs with less if `lack`.
  void AddLack(bool lack, const char* reason, const char* setting);
  /// It may run with less where only the events, too many to look at, would say whether the capture
  /// has `what`.
  void AddUnknown(Recorded state, const char* what);
};

inline constexpr const char* kCopyAgain = "copy the capture again, or parse it again";

Verdict CannotRun(std::string reason, std::string setting);
/// Why nothing can be read at all, if so; the same for every analysis.
Verdict JudgeReadable(const RankFacts& facts);
/// Of what looks at the operators of the host.
Verdict JudgeHost(const RankFacts& facts);
/// Of what needs compute kernels of an NPU with these details, which the capture has beside the
/// trace. `of_gpus` is why it does not look at GPUs.
Verdict JudgeNpuKernels(const RankFacts& facts, const char* of_gpus, const char* details);
/// The same of what sums NPU kernels up by their types.
Verdict JudgeKernelTypes(const RankFacts& facts, const char* of_gpus);
/// The setting that records device activity.
const char* DeviceSetting(const RankFacts& facts);

}  // namespace mpa

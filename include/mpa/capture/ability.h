// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mpa/capture/survey.h"

/// What an analysis can do with a capture, and the checks that several analyses share.
namespace mpa {

/// kMayRun: it depends on what only the events tell.
enum class Ability { kCanRun, kRunsWithLess, kMayRun, kCannotRun };

/// Something that a capture lacks for an analysis.
struct Lack {
  std::string reason;   ///< what is missing and what stays unknown without it
  std::string setting;  ///< the profiler setting, or another step, that would provide it

  friend bool operator==(const Lack&, const Lack&) = default;
};

/// What an analysis can do with the capture of one rank.
struct Verdict {
  Ability ability = Ability::kCanRun;
  std::vector<Lack> lacks{};
  bool is_apart =
      false;  ///< it is about files of another kind, which nobody misses in this capture

  friend bool operator==(const Verdict&, const Verdict&) = default;
  bool CannotRun() const { return ability == Ability::kCannotRun; }
  // The first refusal counts; what follows it is ignored.
  /// The analysis cannot run if `lack` is set.
  Verdict& Refuse(bool lack, std::string reason, std::string setting);
  /// The same where the analysis is about files of another kind.
  Verdict& LeaveApart(bool lack, std::string reason, std::string setting);
  /// It cannot run on traces of torch.profiler; `what` follows their name: "have no mstx marks".
  Verdict& RefuseKineto(const RankFacts& facts, std::string_view what);
  /// Refuses captures without the memory of operators.
  Verdict& RefuseWithoutMemory(const RankFacts& facts);
  /// The analysis runs, but with fewer results if `lack` is set.
  Verdict& AddLack(bool lack, std::string reason, std::string setting);
};

inline constexpr const char* kCollectByTorchNpu =
    "collect with torch_npu.profiler instead of torch.profiler";
inline constexpr const char* kCopyAgain = "copy the capture again, or parse it again";

Verdict CannotRun(std::string reason, std::string setting);
/// The reason why nothing can be read at all, if there is one; the same for every analysis.
Verdict JudgeReadable(const RankFacts& facts);
/// The verdict for analyses of host operators.
Verdict JudgeHost(const RankFacts& facts);
/// The verdict for analyses of modules of the model.
Verdict JudgeModules(const RankFacts& facts);
/// The verdict for analyses that need compute kernels of an NPU with these details, which the
/// capture has next to the trace. `of_gpus` is the reason why the analysis does not support GPUs.
Verdict JudgeNpuKernels(const RankFacts& facts, const char* of_gpus, const char* details);
/// The verdict for analyses that sum NPU kernels by type.
Verdict JudgeKernelTypes(const RankFacts& facts, const char* of_gpus);
/// Takes settings out of the advice that the capture was made with, or that its device does not
/// have.
void LeaveOutSettingsMade(const RankFacts& facts, Verdict& verdict);
/// What to say where no communication was recorded; only a run on one device has none.
const char* NoCommunication(const RankFacts& facts);
/// The setting that records device activity.
const char* DeviceSetting(const RankFacts& facts);

}  // namespace mpa

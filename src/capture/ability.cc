// SPDX-License-Identifier: Apache-2.0
#include "mpa/capture/ability.h"

#include <fmt/format.h>

#include <utility>

namespace mpa {

void Verdict::AddLack(bool lack, const char* reason, const char* setting) {
  if (!lack) return;
  ability = Ability::kRunsWithLess;
  lacks.push_back({reason, setting});
}

void Verdict::AddUnknown(Recorded state, const char* what) {
  if (CannotRun() || state != Recorded::kUnknown) return;
  ability = Ability::kRunsWithLess;
  lacks.push_back(
      {fmt::format("the trace is too large to find out quickly whether it has {}", what), ""});
}

Verdict CannotRun(std::string reason, std::string setting) {
  return {Ability::kCannotRun, {{std::move(reason), std::move(setting)}}};
}

Verdict JudgeReadable(const RankFacts& facts) {
  if (facts.problem.empty()) return {};
  return CannotRun(facts.problem, facts.kind == CaptureKind::kNpuDb ? kCopyAgain : "");
}

const char* DeviceSetting(const RankFacts& facts) {
  return facts.kind == CaptureKind::kGpu
             ? "activities with ProfilerActivity.CUDA"
             : "activities with ProfilerActivity.NPU, profiler_level=Level1";
}

Verdict JudgeHost(const RankFacts& facts) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.CannotRun()) return verdict;
  if (facts.recorded.host_ops == Recorded::kNo) {
    return facts.framework == "MindSpore"
               ? CannotRun("MindSpore captures have no host operators", "")
               : CannotRun("no host operators were recorded",
                           "activities with ProfilerActivity.CPU");
  }
  verdict.AddUnknown(facts.recorded.host_ops, "host operators");
  verdict.AddLack(facts.complete == Recorded::kNo,
                  "the data breaks off: the end of the run is missing", kCopyAgain);
  return verdict;
}

Verdict JudgeNpuKernels(const RankFacts& facts, const char* of_gpus, const char* details) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.CannotRun()) return verdict;
  if (facts.kind == CaptureKind::kGpu) return CannotRun(of_gpus, "");
  if (facts.kind == CaptureKind::kNpuText && facts.single_file) {
    return CannotRun(
        fmt::format("only the trace was given: kernels with their {} are in the files beside it",
                    details),
        "give the directory of the capture");
  }
  if (facts.recorded.kernels == Recorded::kNo) {
    return CannotRun("no compute kernels", facts.kind == CaptureKind::kNpuText
                                               ? "kernel_details.csv kept beside the trace"
                                               : "activities with ProfilerActivity.NPU");
  }
  return verdict;
}

Verdict JudgeKernelTypes(const RankFacts& facts, const char* of_gpus) {
  Verdict verdict = JudgeNpuKernels(facts, of_gpus, "types");
  if (verdict.CannotRun()) return verdict;
  verdict.AddLack(facts.recorded.kernel_types == Recorded::kNo,
                  "kernels have no types: they are summed as N/A", "profiler_level=Level1");
  return verdict;
}

}  // namespace mpa

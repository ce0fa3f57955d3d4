// SPDX-License-Identifier: Apache-2.0
#include "mpa/capture/ability.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "mpa/base/text.h"

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

const char* NoCommunication(const RankFacts& facts) {
  return facts.world_size.value_or(1) > 1
             ? "no communication was recorded, though the job has several ranks"
             : "no communication was recorded; a run on one device has none";
}

Verdict CannotRunOnKineto(const RankFacts& facts, std::string_view what) {
  if (facts.kind == CaptureKind::kNpuKineto)
    return CannotRun(fmt::format("traces of torch.profiler {}", what), kCollectByTorchNpu);
  return CannotRun(fmt::format("captures of GPUs {}", what), "");
}

const char* DeviceSetting(const RankFacts& facts) {
  if (facts.kind == CaptureKind::kNpuKineto) return "activities with ProfilerActivity.PrivateUse1";
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

Verdict JudgeModules(const RankFacts& facts) {
  Verdict verdict = JudgeHost(facts);
  if (verdict.CannotRun()) return verdict;
  if (facts.recorded.mstx == Recorded::kNo && facts.recorded.stacks == Recorded::kNo) {
    return CannotRun("the capture contains no modules",
                     "mstx=True with ranges of the domain Module in the model, or "
                     "with_modules=True");
  }
  return verdict;
}

Verdict JudgeNpuKernels(const RankFacts& facts, const char* of_gpus, const char* details) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.CannotRun()) return verdict;
  if (facts.kind == CaptureKind::kGpu) return CannotRun(of_gpus, "");
  if (facts.kind == CaptureKind::kNpuKineto && std::string_view(details).ends_with("shapes")) {
    return CannotRun("traces of torch.profiler have no shapes of kernels", kCollectByTorchNpu);
  }
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

void LeaveOutSettingsMade(const RankFacts& facts, Verdict& verdict) {
  std::vector<std::string_view> made;
  const auto add_if = [&](bool is_made, std::string_view setting) {
    if (is_made) made.push_back(setting);
  };
  const ProfilerInfo settings = facts.settings.value_or(ProfilerInfo());
  add_if(IsKineto(facts.kind) || IsOneOf(settings.level, {"Level1", "Level2"}),
         "profiler_level=Level1");
  add_if(settings.with_stack || settings.with_modules, "with_stack=True or with_modules=True");
  add_if(settings.with_modules, "with_modules=True");
  add_if(settings.profile_memory, "profile_memory=True");
  for (Lack& lack : verdict.lacks) {
    for (const std::string_view setting : made) {
      const std::size_t at = lack.setting.find(setting);
      if (at == std::string::npos) continue;
      lack.setting.erase(at, setting.size());
      // What joined it to the rest.
      for (const std::string_view joint : {", and ", ", or ", " or ", " and ", " with ", ", "}) {
        if (lack.setting.starts_with(joint)) lack.setting.erase(0, joint.size());
        if (lack.setting.ends_with(joint)) lack.setting.resize(lack.setting.size() - joint.size());
      }
    }
  }
}

Verdict JudgeKernelTypes(const RankFacts& facts, const char* of_gpus) {
  Verdict verdict = JudgeNpuKernels(facts, of_gpus, "types");
  if (verdict.CannotRun()) return verdict;
  verdict.AddLack(facts.recorded.kernel_types == Recorded::kNo,
                  "kernels have no types: they are summed as N/A", "profiler_level=Level1");
  return verdict;
}

}  // namespace mpa

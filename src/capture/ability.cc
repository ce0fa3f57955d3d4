// SPDX-License-Identifier: Apache-2.0
#include "mpa/capture/ability.h"

#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/capture/monitor.h"
#include "server_files.h"

namespace mpa {

Verdict& Verdict::Refuse(bool lack, std::string reason, std::string setting) {
  if (!lack || CannotRun()) return *this;
  ability = Ability::kCannotRun;
  lacks = {{std::move(reason), std::move(setting)}};
  return *this;
}

Verdict& Verdict::LeaveApart(bool lack, std::string reason, std::string setting) {
  is_apart = lack && !CannotRun();
  return Refuse(is_apart, std::move(reason), std::move(setting));
}

Verdict& Verdict::RefuseKineto(const RankFacts& facts, std::string_view what) {
  const bool is_npu = facts.kind == CaptureKind::kNpuKineto;
  return Refuse(IsKineto(facts.kind),
                is_npu ? Say("traces of torch.profiler {}", Translated(what))
                       : Say("captures of GPUs {}", Translated(what)),
                is_npu ? kCollectByTorchNpu : "");
}

Verdict& Verdict::RefuseWithoutMemory(const RankFacts& facts) {
  return Refuse(facts.kind == CaptureKind::kNpuText && facts.single_file,
                "only the trace was given: allocations are in operator_memory.csv beside it",
                "give the directory of the capture")
      .Refuse(facts.recorded.op_memory == Recorded::kNo, "no memory of operators was recorded",
              "profile_memory=True");
}

Verdict& Verdict::AddLack(bool lack, std::string reason, std::string setting) {
  if (!lack || CannotRun()) return *this;
  ability = Ability::kRunsWithLess;
  lacks.push_back({std::move(reason), std::move(setting)});
  return *this;
}

Verdict CannotRun(std::string reason, std::string setting) {
  return {Ability::kCannotRun, {{std::move(reason), std::move(setting)}}};
}

Verdict JudgeReadable(const RankFacts& facts) {
  if (facts.kind == CaptureKind::kServer) return CannotRun(kServerProblem, "");
  if (facts.problem.empty() && facts.kind == CaptureKind::kSnapshot) {
    return CannotRun("a memory snapshot alone has neither operators nor kernels",
                     "give the capture of the profiler");
  }
  if (facts.problem.empty()) return {};
  return CannotRun(facts.problem, facts.kind == CaptureKind::kNpuDb ? kCopyAgain : "");
}

const char* NoCommunication(const RankFacts& facts) {
  return facts.world_size.value_or(1) > 1
             ? "no communication was recorded, though the job has several ranks"
             : "no communication was recorded; a run on one device has none";
}

const char* DeviceSetting(const RankFacts& facts) {
  if (facts.kind == CaptureKind::kNpuKineto) return "activities with ProfilerActivity.PrivateUse1";
  return facts.kind == CaptureKind::kGpu
             ? "activities with ProfilerActivity.CUDA"
             : "activities with ProfilerActivity.NPU, profiler_level=Level1";
}

Verdict JudgeHost(const RankFacts& facts) {
  const bool no_ops = facts.recorded.host_ops == Recorded::kNo;
  return JudgeReadable(facts)
      .Refuse(no_ops && facts.framework == "MindSpore", "MindSpore captures have no host operators",
              "")
      .Refuse(no_ops, "no host operators were recorded", "activities with ProfilerActivity.CPU")
      .AddLack(facts.complete == Recorded::kNo,
               "the data breaks off: the end of the run is missing", kCopyAgain);
}

Verdict JudgeModules(const RankFacts& facts) {
  constexpr const char* kSetting =
      "mstx=True with ranges of the domain Module in the model, or with_modules=True";
  const bool none = facts.recorded.mstx == Recorded::kNo && facts.recorded.stacks == Recorded::kNo;
  // Calls of modules may be among the operators of a database.
  const bool perhaps = facts.kind == CaptureKind::kNpuDb;
  return JudgeHost(facts)
      .Refuse(none && !perhaps, "the capture contains no modules", kSetting)
      .AddLack(none, "no ranges of modules and no stacks: only calls of modules count", kSetting);
}

Verdict JudgeNpuKernels(const RankFacts& facts, const char* of_gpus, const char* details) {
  const bool is_text = facts.kind == CaptureKind::kNpuText;
  return JudgeReadable(facts)
      .Refuse(facts.kind == CaptureKind::kGpu, of_gpus, "")
      .Refuse(
          facts.kind == CaptureKind::kNpuKineto && std::string_view(details).ends_with("shapes"),
          "torch.profiler traces have no kernel shapes", kCollectByTorchNpu)
      .Refuse(is_text && facts.single_file,
              Say("only the trace was given: kernels with their {} are in the files beside it",
                  Translated(details)),
              "give the directory of the capture")
      .Refuse(facts.recorded.kernels == Recorded::kNo, "no compute kernels",
              is_text ? "keep kernel_details.csv beside the trace"
                      : "activities with ProfilerActivity.NPU");
}

bool IsOfMonitor(const std::filesystem::path& database) {
  return database.filename().string().starts_with("msmonitor");
}

void LeaveOutSettingsMade(const RankFacts& facts, Verdict& verdict) {
  if (IsOfMonitor(facts.path)) {
    for (Lack& lack : verdict.lacks) {
      if (lack.setting.find('=') != std::string::npos) lack.setting.clear();
      if (lack.setting.find("ProfilerActivity") != std::string::npos) lack.setting.clear();
    }
    return;
  }
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
        if (lack.setting.ends_with(joint)) lack.setting.erase(lack.setting.size() - joint.size());
      }
    }
  }
}

Verdict JudgeKernelTypes(const RankFacts& facts, const char* of_gpus) {
  if (facts.kernel_sums && facts.recorded.kernels == Recorded::kNo) {
    return JudgeReadable(facts).AddLack(
        true, "no kernel_details.csv: only the kernel sums of op_statistic.csv are known",
        "give the directory of the capture");
  }
  return JudgeNpuKernels(facts, of_gpus, "types")
      .AddLack(facts.recorded.kernel_types == Recorded::kNo,
               "kernels have no types: they are summed as N/A", "profiler_level=Level1");
}

}  // namespace mpa
